"""LangChain's messages, however they were dumped."""

import io
import json
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support import readings
from tests.threads.support.readings import messages, read
from tests.threads.support.transcripts import lines
from threads.domain import formats
from threads.domain.formats.traces import langchain
from threads.domain.message import Role, Usage
from threads.domain.part import Part, Text, Thinking, ToolCall, ToolResult
from threads.domain.transcript import Event

CALL = {"name": "boil", "args": {"c": 90}, "id": "k1", "type": "tool_call"}
SAID: list[tuple[str, dict[str, Any]]] = [
    ("system", {"content": "Be brief.", "additional_kwargs": {}}),
    ("human", {"content": "Make tea.", "name": "guest", "id": "h1"}),
    (
        "ai",
        {
            "content": "",
            "id": "run-1",
            "tool_calls": [CALL],
            "response_metadata": {"model_name": "m-1"},
            "usage_metadata": {
                "input_tokens": 12,
                "output_tokens": 5,
                "input_token_details": {"cache_read": 10},
            },
        },
    ),
    (
        "tool",
        {"content": "Hot.", "tool_call_id": "k1", "name": "boil", "status": "error"},
    ),
]
CLASSES = {"human": "HumanMessage", "ai": "AIMessageChunk"}


def in_data(type_: str, data: dict[str, Any]) -> dict[str, Any]:
    return {"type": type_, "data": data}


def flat(type_: str, data: dict[str, Any]) -> dict[str, Any]:
    return {"type": type_, **data}


def constructor(type_: str, data: dict[str, Any]) -> dict[str, Any]:
    name = CLASSES.get(type_, f"{type_.title()}Message")
    path = ["langchain", "schema", "messages", name]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": data}


def parts(type_: str = "ai", **data: Any) -> tuple[Part, ...]:
    message = langchain.read_message(flat(type_, {"content": "", **data}))
    assert message is not None
    return message.parts


@pytest.mark.parametrize("dump", [in_data, flat, constructor])
def test_each_dump_reads_the_same(dump: Any) -> None:
    [transcript] = read([dump(*one) for one in SAID])
    system, human, call, result = messages(transcript)

    assert (transcript.format, transcript.title) == ("langchain", "Make tea.")
    assert transcript.model == "m-1"
    assert (system.role, system.text) == (Role.SYSTEM, "Be brief.")
    assert (human.name, human.source_id) == ("guest", "h1")
    assert call.parts == (ToolCall("k1", "boil", {"c": 90}),)
    assert call.usage == Usage(input_tokens=12, output_tokens=5, cached_tokens=10)
    assert (call.model, call.source_id) == ("m-1", "run-1")
    assert result.parts == (ToolResult("k1", (Text("Hot."),), "boil", True),)
    assert (result.role, result.name) == (Role.TOOL, None)


CONTAINERS: list[tuple[int, Any]] = [
    (1, {"messages": [flat(*one) for one in SAID]}),
    (1, {"values": {"messages": [flat(*one) for one in SAID]}, "thread_id": "t1"}),
    (1, lines(*(flat(*one) for one in SAID))),
    (2, [[flat(*one) for one in SAID]] * 2),
    (2, lines(*[{"messages": [flat(*one) for one in SAID]}] * 2)),
    (2, [{"input": {"messages": [flat(*one) for one in SAID]}}, {"input": {}}] * 2),
]


@pytest.mark.parametrize(("count", "data"), CONTAINERS)
def test_messages_come_in_many_containers(count: int, data: Any) -> None:
    found = read(data)

    assert [len(messages(transcript)) for transcript in found] == [4] * count
    assert found[0].title == "Make tea."


def test_a_thread_of_langgraph_keeps_its_id() -> None:
    [transcript] = read({"values": {"messages": [flat(*SAID[0])]}, "thread_id": "t1"})

    assert (transcript.external_id, transcript.title) == (
        "t1",
        "LangChain conversation",
    )


def test_what_is_no_message_is_an_event() -> None:
    odd = [flat("remove", {"id": "h1"}), flat("chat", {"content": "x"}), {"a": 1}, 3]
    [transcript] = read([flat(*SAID[1]), *odd])

    assert [item.type for item in transcript.items if isinstance(item, Event)] == [
        "remove",
        "chat",
        "record",
        "record",
    ]


def test_a_dump_without_a_message_is_refused() -> None:
    with pytest.raises(Invalid, match="holds no messages"):
        langchain.read(
            io.BytesIO(b'[{"type": "remove", "id": "1"}, {"messages": []}]'), ""
        )


def test_roles_of_their_own_are_kept() -> None:
    chat = langchain.read_message(flat("chat", {"content": "Hi", "role": "assistant"}))
    further = {"__openai_role__": "developer"}
    system = langchain.read_message(
        flat("system", {"content": "Hi", "additional_kwargs": further})
    )

    assert chat is not None and chat.role is Role.ASSISTANT
    assert system is not None and system.role is Role.DEVELOPER
    assert langchain.read_message({"lc": 1, "id": 3}) is None


def test_calls_count_once_wherever_they_stand() -> None:
    block = {"type": "tool_use", "id": "k1", "name": "boil", "input": {"c": 90}}
    raw = {"id": "k2", "function": {"name": "pour", "arguments": "{}"}}
    legacy = {"function_call": {"name": "stir", "arguments": '{"n": 2}'}}
    broken = {"name": "cool", "args": "{c", "id": "k3", "error": "no JSON"}

    assert parts(content=[block], tool_calls=[CALL], invalid_tool_calls=[broken]) == (
        ToolCall("k1", "boil", {"c": 90}),
        ToolCall("k3", "cool", "{c"),
    )
    assert parts(additional_kwargs={"tool_calls": [raw]}) == (
        ToolCall("k2", "pour", {}),
    )
    assert parts(additional_kwargs=legacy) == (ToolCall("", "stir", {"n": 2}),)


def test_reasoning_is_read_beside_the_content_and_in_it() -> None:
    summary = {"summary": [{"type": "summary_text", "text": "Hm."}], "id": "rs"}
    block = {"type": "reasoning", "reasoning": "Hm.", "extras": {"signature": "seal"}}

    assert parts(additional_kwargs={"reasoning_content": "Hm."}) == (Thinking("Hm."),)
    assert parts(additional_kwargs={"reasoning": summary}) == (Thinking("Hm."),)
    assert parts(
        content=[block, "Tea."], additional_kwargs={"reasoning_content": "x"}
    ) == (
        Thinking("Hm.", "seal"),
        Text("Tea."),
    )


@pytest.mark.parametrize(
    "meta",
    [
        {"token_usage": {"prompt_tokens": 12, "completion_tokens": 5}},
        {"usage": {"input_tokens": 12, "output_tokens": 5}},
    ],
)
def test_usage_of_the_provider_counts_where_langchain_has_none(meta: Any) -> None:
    message = langchain.read_message(
        flat("ai", {"content": "x", "response_metadata": meta})
    )

    assert message is not None
    assert message.usage == Usage(input_tokens=12, output_tokens=5)


def test_a_type_that_others_have_too_is_a_weak_sign() -> None:
    [candidate] = formats.detect(b'[{"type": "system", "content": "Be brief."}]')

    assert (candidate.format, candidate.score) == ("langchain", 0.6)
    assert formats.detect(b'[{"type": "system", "text": "Be brief."}]') == []


def test_rows_of_a_chat_history_s_table_are_a_conversation_a_session() -> None:
    human, ai = (in_data(*SAID[1]), flat("ai", {"content": "Done."}))
    rows = [
        {"id": 1, "session_id": "a", "message": human},
        {"id": 2, "session_id": "b", "message": json.dumps(human)},
        {"id": 3, "session_id": "a", "message": ai, "created_at": "2026-01-10"},
        {"id": 4, "session_id": "b", "message": {"type": "note", "content": "x"}},
        {"id": 5, "session_id": "c", "message": "Not JSON."},
    ]
    for data in (rows, lines(*rows)):
        first, second = read(data)
        said = ["user: Make tea.", "assistant: Done.", "record"]
        assert readings.told(first) == said
        assert readings.told(second) == ["user: Make tea.", "note"]
        assert str(messages(first)[1].created_at) == "2026-01-10 00:00:00+00:00"
        assert [one.code for one in first.warnings] == ["several_sessions"]
