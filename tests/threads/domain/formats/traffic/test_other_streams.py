"""Streams in forms that are nearly one that is read: Ollama's, Cohere's, Bedrock's."""

import json
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support import readings
from tests.threads.support.streams import as_sse
from tests.threads.support.transcripts import lines
from threads.domain.message import Message, Usage
from threads.domain.part import Text, Thinking, ToolCall

CALL = ToolCall("t1", "look", {"at": 1})


def of_ollama(done: bool = False, **members: Any) -> dict[str, Any]:
    at = "2026-01-02T03:04:05.123456789Z"
    return {"model": "m-1", "created_at": at, **members, "done": done}


def chat_of_ollama(**said: Any) -> dict[str, Any]:
    return of_ollama(message={"role": "assistant", **said})


END = of_ollama(True, total_duration=9, prompt_eval_count=7, eval_count=4)


def of_cohere(kind: str, index: int = 0, **message: Any) -> dict[str, Any]:
    return {"type": kind, "index": index, "delta": {"message": message}}


def call_of_cohere(kind: str, **call: Any) -> dict[str, Any]:
    return of_cohere(f"tool-call-{kind}", 1, tool_calls=call)


COHERE = [
    {"id": "r-1", **of_cohere("message-start", role="assistant", content=[])},
    of_cohere("content-start", content={"type": "thinking", "thinking": "The "}),
    of_cohere("content-delta", content={"thinking": "pier."}),
    of_cohere("tool-plan-delta", tool_plan="I "),
    of_cohere("tool-plan-delta", tool_plan="look."),
    call_of_cohere("start", id="t1", function={"name": "look", "arguments": ""}),
    call_of_cohere("delta", function={"arguments": '{"at"'}),
    {
        **of_cohere(
            "tool-call-delta", 1, tool_calls=[{"function": {"arguments": ": 1}"}}]
        )
    },
    {"type": "tool-call-end", "index": 1},
    {
        "type": "message-end",
        "delta": {
            "finish_reason": "TOOL_CALL",
            "usage": {"tokens": {"input_tokens": 7, "output_tokens": 4}},
        },
    },
]


def of_bedrock(kind: str, index: int = 0, **held: Any) -> dict[str, Any]:
    return {kind: {**held, "contentBlockIndex": index}, "p": "abc"}


def piece_of_bedrock(index: int, **delta: Any) -> dict[str, Any]:
    return of_bedrock("contentBlockDelta", index, delta=delta)


BEDROCK = [
    {"messageStart": {"role": "assistant"}},
    piece_of_bedrock(0, reasoningContent={"text": "The "}),
    piece_of_bedrock(0, reasoningContent={"text": "pier."}),
    piece_of_bedrock(0, reasoningContent={"signature": "s"}),
    of_bedrock("contentBlockStop"),
    of_bedrock("contentBlockStart", 1, start={}),
    piece_of_bedrock(1, text="I "),
    piece_of_bedrock(1, text="look."),
    of_bedrock(
        "contentBlockStart", 2, start={"toolUse": {"toolUseId": "t1", "name": "look"}}
    ),
    piece_of_bedrock(2, toolUse={"input": '{"at"'}),
    piece_of_bedrock(2, toolUse={"input": ": 1}"}),
    {"messageStop": {"stopReason": "tool_use"}},
    {
        "metadata": {
            "usage": {"inputTokens": 5, "cacheReadInputTokens": 2, "outputTokens": 4}
        }
    },
]


def reply(data: Any) -> Message:
    [found] = readings.read(data)
    assert found.format == "event_stream" and not found.warnings
    [message] = readings.messages(found)
    assert readings.events(found) == [] and not message.partial
    return message


def test_chunks_of_ollama_s_chat_are_a_message() -> None:
    call = {"function": {"name": "look", "arguments": {"at": 1}}}
    chunks = [
        chat_of_ollama(content="", thinking="The "),
        chat_of_ollama(content="", thinking="pier."),
        chat_of_ollama(content="I "),
        chat_of_ollama(content="look."),
        chat_of_ollama(content="", tool_calls=[call]),
        chat_of_ollama(content="", tool_calls=[{"id": "t2", **call}]),
        END,
    ]
    said = reply(lines(*chunks))

    calls = (ToolCall("call_1", "look", {"at": 1}), ToolCall("t2", "look", {"at": 1}))
    assert said.parts == (Thinking("The pier."), Text("I look."), *calls)
    assert said.usage == Usage(input_tokens=7, output_tokens=4)
    assert said.model == "m-1" and said.created_at is not None


def test_replies_of_ollama_end_with_the_chunk_that_is_done() -> None:
    first = [of_ollama(response="At "), of_ollama(response="the pier."), END]
    [found] = readings.read(lines(*first, of_ollama(response="It is"), END))
    assert readings.texts(found) == ["At the pier.", "It is"]


def test_a_reply_of_ollama_s_without_its_end_is_partial() -> None:
    [found] = readings.read(lines(of_ollama(response="At "), of_ollama(response="the")))
    [message] = readings.messages(found)
    assert (message.text, message.partial) == ("At the", True)


@pytest.mark.parametrize("write", [lambda rows: lines(*rows), json.dumps])
def test_events_of_cohere_are_a_message(write: Any) -> None:
    data = write(COHERE)
    for one in (data if isinstance(data, bytes) else data.encode(), as_sse(*COHERE)):
        said = reply(one)
        assert said.parts == (Thinking("The pier."), Text("I look."), CALL)
        assert said.usage == Usage(input_tokens=7, output_tokens=4)
        assert said.source_id == "r-1"


def test_events_of_bedrock_are_a_message() -> None:
    within = [{"event": one} for one in BEDROCK]
    for data in (lines(*BEDROCK), json.dumps(BEDROCK).encode(), as_sse(*within)):
        said = reply(data)
        assert said.parts == (Thinking("The pier.", "s"), Text("I look."), CALL)
        assert said.usage == Usage(input_tokens=7, output_tokens=4, cached_tokens=2)


@pytest.mark.parametrize(
    "rows",
    [
        [of_ollama(True, prompt="Where?", response="At the pier.")],
        [of_ollama(False, message={"role": "user", "content": "Buy milk"})],
        [{"metadata": {"usage": {}}, "note": "a"}],
        [{"metadata": {"from": "a"}}],
        [{"type": "message-start", "id": "r-1"}],
        [{"type": "content-delta", "delta": "At"}],
    ],
)
def test_records_that_only_look_like_events_are_no_stream(rows: list[Any]) -> None:
    try:
        found = readings.read(lines(*rows, *rows))
    except Invalid as refused:
        assert refused.code == "format_unknown"
    else:
        assert {one.format for one in found} != {"event_stream"}
