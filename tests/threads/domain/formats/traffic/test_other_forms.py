"""Recorded calls in forms that are nearly one that is read."""

import base64
import json
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support import readings
from tests.threads.support.recordings import entry, har
from threads.domain.message import Usage
from threads.domain.part import Image, Thinking, ToolCall, ToolResult

ASKED, TOLD = "Where does the ferry land?", "At the old pier."
SAID = [f"user: {ASKED}", "request", f"assistant: {TOLD}"]
COMPLETIONS = "https://api.example.org/v1/completions"
OLLAMA = "http://localhost:11434/api"
CONVERSE = (
    "https://bedrock-runtime.us-east-1.amazonaws.com/model/maker.m-1%3A0/converse"
)


def lines(*rows: dict[str, Any]) -> str:
    return "\n".join(map(json.dumps, rows))


def usage(given: int, said: int, cached: int = 0) -> Usage:
    return Usage(input_tokens=given, output_tokens=said, cached_tokens=cached)


@pytest.mark.parametrize("is_stream", [False, True])
def test_a_text_completion_is_a_question_and_its_answer(is_stream: bool) -> None:
    counted = {"usage": {"prompt_tokens": 5, "completion_tokens": 4}, "model": "m-1"}
    pieces = [{"choices": [{"text": one}]} for one in ("At the ", "old pier.")]
    streamed = "".join(f"data: {json.dumps(one)}\n\n" for one in (*pieces, counted))
    whole = {**counted, "choices": [{"text": TOLD, "index": 0}]}
    response = streamed + "data: [DONE]\n\n" if is_stream else whole
    [found] = readings.read(har(entry(COMPLETIONS, {"prompt": ASKED}, response)))
    assert (readings.told(found), found.model) == (SAID, "m-1")
    assert readings.messages(found)[-1].usage == usage(5, 4)


def test_a_prompt_in_tokens_is_no_conversation() -> None:
    numbers = entry(COMPLETIONS, {"prompt": [1, 2]}, {"choices": [{"text": TOLD}]})
    with pytest.raises(Invalid):
        readings.read(har(numbers))


def test_a_chat_with_ollama_is_read_in_pieces_and_at_once() -> None:
    call = {"function": {"name": "tide", "arguments": {"at": "noon"}}}
    messages = [
        {"role": "user", "content": ASKED, "images": ["aGk="]},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "High.", "tool_name": "tide"},
    ]
    ended = {"done": True, "prompt_eval_count": 7, "eval_count": 3, "model": "m-1"}
    streamed = lines(
        {"message": {"role": "assistant", "thinking": "Hm."}, "done": False},
        {"message": {"role": "assistant", "content": "At the "}, "done": False},
        {"message": {"role": "assistant", "content": "old pier."}, **ended},
    )
    whole = {"message": {"role": "assistant", "content": TOLD, "tool_calls": [call]}}
    body = {"model": "m-1", "messages": messages}
    for response in (streamed, {**whole, **ended}):
        [found] = readings.read(har(entry(f"{OLLAMA}/chat", body, response)))
        asked, called, answered, told = readings.messages(found)
        assert isinstance(asked.parts[1], Image)
        assert called.parts == (ToolCall("call_1", "tide", {"at": "noon"}),)
        assert isinstance(answered.parts[0], ToolResult)
        assert answered.parts[0].call_id == "call_1"
        assert (told.text, told.usage, found.model) == (TOLD, usage(7, 3), "m-1")
        last = (Thinking("Hm."), ToolCall("call_2", "tide", {"at": "noon"}))
        assert any(part in last for part in told.parts)


def test_ollama_s_completion_has_its_system_prompt() -> None:
    body = {"model": "m-1", "system": "Be brief.", "prompt": ASKED, "stream": True}
    pieces = lines(
        {"response": "At the ", "done": False}, {"response": "old pier.", "done": True}
    )
    [found] = readings.read(har(entry(f"{OLLAMA}/generate", body, pieces)))
    assert readings.told(found) == ["system: Be brief.", *SAID]


def test_a_call_of_bedrock_s_converse_is_read() -> None:
    body = {
        "system": [{"text": "Be brief."}],
        "messages": [{"role": "user", "content": [{"text": ASKED}]}],
    }
    message = {"role": "assistant", "content": [{"text": TOLD}]}
    counted = {"inputTokens": 5, "outputTokens": 4, "cacheReadInputTokens": 2}
    response = {"output": {"message": message}, "usage": counted}
    [found] = readings.read(har(entry(CONVERSE, body, response)))
    assert readings.told(found) == ["system: Be brief.", *SAID]
    assert (found.strategy, found.model) == ("anthropic", "maker.m-1:0")
    assert readings.messages(found)[-1].usage == usage(7, 4, 2)


@pytest.mark.parametrize(
    ("url", "body", "response"),
    [
        (f"{OLLAMA}/chat", {"messages": [{"role": "user"}]}, {"answer": TOLD}),
        (f"{OLLAMA}/generate", {"prompt": ASKED}, {"url": "x"}),
        (f"{OLLAMA}/generate", {"prompt": ""}, {"response": TOLD}),
        (CONVERSE, {"messages": []}, {"output": {}}),
    ],
)
def test_what_only_has_such_an_address_calls_no_model(
    url: str, body: Any, response: Any
) -> None:
    with pytest.raises(Invalid, match="no model is called"):
        readings.read(har(entry(url, body, response)))


def test_a_response_without_a_reply_is_named() -> None:
    body = {"messages": [{"role": "user", "content": [{"text": ASKED}]}]}
    for url, response in ((CONVERSE, {"message": "Denied."}), (f"{OLLAMA}/chat", "")):
        given = (
            body
            if url == CONVERSE
            else {"messages": [{"role": "user", "content": ASKED}]}
        )
        [found] = readings.read(har(entry(url, given, response)))
        assert readings.told(found) == SAID[:2]
        assert found.warnings[-1].code == "no_reply"


def test_a_packing_that_is_not_read_is_named() -> None:
    packed = base64.b64encode(b"\x8b\x02\x80\xff").decode()
    body = {"model": "m", "messages": [{"role": "user", "content": ASKED}]}
    made = entry("https://api.openai.com/v1/chat/completions", body, "")
    made["response"]["content"] = {"text": packed, "encoding": "base64"}
    for headers, named in (
        ([{"name": "Content-Encoding", "value": "br"}], "compressed with br,"),
        ([], "compressed with an unknown method,"),
    ):
        made["response"]["headers"] = headers
        [found] = readings.read(har(made))
        assert readings.told(found) == SAID[:2]
        assert named in found.warnings[-1].message
