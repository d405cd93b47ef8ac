"""Rollouts that are written: by what Codex's own reader asks for, line by line."""

import io
import json
import re
import uuid
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.threads.support.rollouts import SESSION, as_file, rollout
from tests.threads.support.spoken import conversations
from tests.threads.support.strategies import messages as any_messages
from threads.domain import formats
from threads.domain.formats.codex.writing import WRITER, file_name
from threads.domain.formats.format import Heading
from threads.domain.message import Message, Role
from threads.domain.part import (
    File,
    Image,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

TEXT = {"text": str}
BLOCKS = {"input_text": TEXT, "output_text": TEXT, "input_image": {"image_url": str}}
"""The blocks of messages and outputs that Codex reads; any other loses it the line."""
ITEMS = {
    "message": {"role": str, "content": list},
    "reasoning": {"summary": list, "encrypted_content": str},
    "function_call": {"call_id": str, "name": str, "arguments": str},
    "function_call_output": {"call_id": str, "output": (str, list)},
    "custom_tool_call": {"call_id": str, "name": str, "input": str},
    "custom_tool_call_output": {"call_id": str, "output": (str, list)},
    "tool_search_call": {"call_id": str, "execution": str, "arguments": object},
    "tool_search_output": {"execution": str, "status": str, "tools": list},
    "image_generation_call": {"status": str, "result": str},
    "compaction": {"encrypted_content": str},
    "web_search_call": {},
}
"""What Codex's `ResponseItem` requires, by its type."""
EVENTS = {
    "user_message": {"message": str},
    "agent_message": {"message": str},
    "agent_reasoning": TEXT,
    "task_started": {"turn_id": str},
    "task_complete": {"turn_id": str},
}
"""What the events that are written require."""
META = {"id": str, "timestamp": str, "cwd": str, "originator": str, "cli_version": str}
TURN = {"cwd": str, "approval_policy": str, "sandbox_policy": dict, "model": str}
LISTED_WITHIN = 210
"""Lines at the top among which Codex looks for a user's message, to list a session."""


def message(role: Role, *parts: Part, **members: Any) -> Message:
    return Message(role=role, parts=parts, **members)


def write(*found: Message, **heading: Any) -> bytes:
    return b"".join(WRITER.write(found, Heading(**heading)))


def written(*found: Message, **heading: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in write(*found, **heading).splitlines()]


def payloads(records: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [record["payload"] for record in records if record["type"] == kind]


def read_back(raw: bytes) -> list[Message]:
    [transcript] = formats.read(io.BytesIO(raw), "codex")
    found = [item for item in transcript.items if isinstance(item, Message)]
    assert transcript.warnings == []
    return found


def holds(payload: dict[str, Any], required: dict[str, Any]) -> None:
    for name, kind in required.items():
        assert isinstance(payload[name], kind), (name, payload)


def check(record: dict[str, Any]) -> None:
    """One line, as Codex reads it."""
    payload = record["payload"]
    datetime.fromisoformat(record["timestamp"])
    match record["type"]:
        case "session_meta":
            holds(payload, META)
            uuid.UUID(payload["id"])
        case "turn_context":
            holds(payload, TURN | {"summary": str})
        case "event_msg":
            holds(payload, EVENTS[payload["type"]])
        case "response_item":
            holds(payload, ITEMS[payload["type"]])
            content = payload.get("content", payload.get("output"))
            for block in content if isinstance(content, list) else ():
                holds(block, BLOCKS[block["type"]])
        case other:
            raise AssertionError(other)


ASKED = message(Role.USER, Text("Why is it dark?"))
CALLED = message(
    Role.ASSISTANT,
    Text("Looking."),
    ToolCall("1", "look", {"at": "plug"}),
    ToolCall("2", "patch", "*** Begin"),
)
FIRST = message(Role.TOOL, ToolResult("1", (Text("Out."), Image("a/b", data=b"P"))))
SECOND = message(Role.TOOL, ToolResult("2", (Text("Done."),)))


@settings(deadline=None)
@given(st.lists(any_messages, max_size=6), st.none() | st.integers(0, 6))
def test_codex_reads_every_line_whatever_is_written(
    found: list[Message], first_changed: int | None
) -> None:
    records = written(*found, first_changed=first_changed)
    calls: dict[str, str] = {}

    for record in records:
        check(record)
    for item in payloads(records, "response_item"):
        if item["type"].endswith("_output"):
            kind = item["type"].removesuffix("_output").removesuffix("_call")
            assert calls.pop(item["call_id"]).removesuffix("_call") == kind
        elif "call_id" in item:
            calls[item["call_id"]] = item["type"]
    assert [r["type"] for r in records].count("session_meta") == 1
    assert records[0]["type"] == "session_meta"
    told = [r["payload"]["type"] for r in records if r["type"] == "event_msg"]
    assert told[-1] == "task_complete"
    assert "user_message" in told


@settings(deadline=None)
@given(conversations)
def test_what_is_written_comes_back(found: list[Message]) -> None:
    raw = write(*found)

    if any(one.role is not Role.SYSTEM for one in found):
        back = [(one.role, one.parts) for one in read_back(raw)]
        assert back == [(one.role, one.parts) for one in found]


def test_a_rollout_that_was_read_comes_back_with_its_models() -> None:
    found = read_back(as_file(*rollout()))
    raw = write(*found, model="gpt-test", external_id=SESSION, title="Lamp")
    again = read_back(raw)
    [transcript] = formats.read(io.BytesIO(raw))

    assert [(m.role, m.parts, m.model, m.created_at) for m in again[1:]] == [
        (m.role, m.parts, m.model, m.created_at) for m in found[1:]
    ]
    assert again[0].text == "Be a lamp."
    assert (transcript.title, transcript.model) == ("Why is it dark?", "gpt-test")
    assert transcript.parent is not None
    assert transcript.parent.external_id == SESSION


def test_every_export_has_an_id_of_its_own_and_the_name_codex_looks_for() -> None:
    one, two = Heading(external_id=SESSION), Heading(external_id="lamp")
    raw = b"".join(WRITER.write([ASKED], one))
    meta = json.loads(raw.splitlines()[0])["payload"]

    assert meta["id"] == meta["session_id"] == str(one.export_id) != SESSION
    assert one.export_id != two.export_id
    assert meta["forked_from_id"] == SESSION
    assert "forked_from_id" not in written(ASKED, external_id="lamp")[0]["payload"]
    assert WRITER.file_name is file_name
    pattern = r"rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-" + meta["id"] + r"\.jsonl"
    assert re.fullmatch(pattern, file_name(one))


def test_turns_are_told_as_codex_tells_them() -> None:
    records = written(
        ASKED, CALLED, FIRST, SECOND, message(Role.ASSISTANT, Text("So."))
    )
    kinds = [record["payload"].get("type") or record["type"] for record in records]

    assert kinds == [
        "session_meta",
        "task_started",
        "message",
        "user_message",
        "agent_message",
        "message",
        "function_call",
        "custom_tool_call",
        "function_call_output",
        "custom_tool_call_output",
        "agent_message",
        "message",
        "task_complete",
    ]
    assert records[-1]["payload"]["last_agent_message"] == "So."
    assert records[0]["payload"]["base_instructions"] is None


def test_answers_in_a_row_are_told_apart_by_turns() -> None:
    one = message(Role.ASSISTANT, Text("One."))
    silent = message(Role.ASSISTANT, Thinking("Hm."))
    raw = write(one, silent, one)

    assert [found.text for found in read_back(raw)] == ["One.", "One."]
    assert raw.count(b'"task_started"') == raw.count(b'"task_complete"') == 2


@pytest.mark.parametrize(
    "found", [[], [CALLED], [message(Role.USER, Image("image/png", data=b"P"))]]
)
def test_a_session_is_listed_whatever_it_begins_with(found: list[Message]) -> None:
    head = written(*found, title="A lamp")[:LISTED_WITHIN]
    told = [p for p in payloads(head, "event_msg") if p["type"] == "user_message"]

    assert [event["message"] for event in told] == ["A lamp"]
    assert "Conversation" in write().decode()


def test_a_turn_has_a_context_only_where_codex_gave_one() -> None:
    place = message(Role.USER, Text("<environment_context>\n<cwd>/lamp/a</cwd>"))
    ours = written(place, ASKED, model="gpt-test")
    others = written(ASKED, model="claude-test")
    silent = written(place, ASKED)

    [context] = payloads(ours, "turn_context")
    assert (context["cwd"], context["model"]) == ("/lamp/a", "gpt-test")
    assert ours[0]["payload"]["cwd"] == "/lamp/a"
    assert payloads(others, "turn_context") == payloads(silent, "turn_context") == []
    assert others[0]["payload"]["cwd"] == "/"
    told = [p for p in payloads(ours, "event_msg") if p["type"] == "user_message"]
    assert [event["message"] for event in told] == ["Why is it dark?"]


def test_the_system_s_words_at_the_top_are_the_base_instructions() -> None:
    system = message(Role.SYSTEM, Text("Be a lamp."))
    meta, *rest = written(system, system, ASKED)

    assert meta["payload"]["base_instructions"] == {"text": "Be a lamp."}
    assert payloads(rest, "response_item")[0]["role"] == "system"


def test_signatures_hold_before_the_first_change_and_for_their_own_provider() -> None:
    sealed = message(
        Role.ASSISTANT,
        Thinking("Hm.", data="c2VhbA=="),
        Thinking("Aloud."),
        Thinking("Signed.", signature="s"),
        Opaque("compaction", {"type": "compaction", "encrypted_content": "x"}),
        Text("So."),
    )

    def kinds(**heading: Any) -> list[str]:
        records = written(ASKED, sealed, sealed, **heading)
        return [item["type"] for item in payloads(records, "response_item")][1:]

    kept, left = ["reasoning", "compaction", "message"], ["message"]
    assert kinds() == kept * 2
    assert kinds(first_changed=2) == kept + left
    assert kinds(first_changed=0) == kinds(strategy="anthropic") == left * 2
    told = payloads(written(sealed), "event_msg")
    assert [e["text"] for e in told if e["type"] == "agent_reasoning"] == [
        "Hm.",
        "Aloud.",
        "Signed.",
    ]


def test_a_result_without_its_call_is_a_user_s_words_in_a_frame() -> None:
    records = written(ASKED, FIRST, CALLED, FIRST, FIRST)
    items = payloads(records, "response_item")
    framed = [item["content"] for item in items if item.get("role") == "user"][1:]

    assert len(framed) == 2
    assert framed[0][0]["text"] == '<tool_result call_id="1">\nOut.\n</tool_result>'
    assert framed[0][1]["type"] == "input_image"


def test_calls_without_ids_are_given_some_and_answered_in_their_order() -> None:
    records = written(
        message(Role.ASSISTANT, ToolCall("", "f", {}), ToolCall("", "g", None)),
        message(Role.USER, ToolResult("", (), "g"), ToolResult("", ()), Text("So?")),
        message(Role.TOOL, ToolResult("", (Text("Late."),))),
    )
    items = [item for item in payloads(records, "response_item") if "call_id" in item]

    assert [item["call_id"] for item in items] == [
        "call_made_1",
        "call_made_2",
        "call_made_2",
        "call_made_1",
    ]
    assert "Late." in json.dumps(records)


def test_a_search_of_tools_stays_one_where_its_answer_is_one() -> None:
    found = {"type": "tool_search_output", "status": "completed", "execution": "client"}
    tools = Opaque("tool_search_output", found | {"tools": [{"name": "lamp"}]})
    edited = Opaque("tool_search_output", found)
    other = Opaque("output", {"type": "output", "tools": []})
    searched = message(Role.ASSISTANT, ToolCall("1", "tool_search", {"query": "lamp"}))

    def items(*content: Any) -> list[dict[str, Any]]:
        answer = message(Role.TOOL, ToolResult("1", content))
        return payloads(written(searched, answer), "response_item")

    call, answer = items(tools)
    assert (call["type"], call["arguments"]) == ("tool_search_call", {"query": "lamp"})
    assert answer == {"call_id": "1"} | tools.data
    functions = ["function_call", "function_call_output"]
    for content in (edited, other, Text("None.")):
        assert [item["type"] for item in items(content)] == functions
    raw = write(searched, message(Role.TOOL, ToolResult("1", (tools,))))
    assert read_back(raw)[1].parts == (ToolResult("1", (tools,)),)


def test_what_codex_has_no_block_for_is_told_in_words() -> None:
    refusal = Opaque("refusal", {"type": "refusal", "refusal": "No."})
    search = Opaque("web_search_call", {"type": "web_search_call", "action": None})
    records = written(
        message(
            Role.USER,
            File("text/plain", "a.txt", data=b"Words."),
            File("application/pdf", url="https://example.org/a.pdf"),
            Opaque("search_result", {"type": "search_result"}),
        ),
        message(Role.ASSISTANT, refusal, search, ToolResult("9", ())),
    )
    asked, refused, searched, orphan = payloads(records, "response_item")

    assert [block["text"] for block in asked["content"]] == [
        "<file a.txt>\nWords.\n</file>",
        "<file https://example.org/a.pdf>\napplication/pdf, not in this file\n</file>",
    ]
    assert refused["content"] == [{"type": "output_text", "text": "No."}]
    assert searched["type"] == "web_search_call"
    assert orphan["role"] == "user"


def test_an_image_that_cannot_be_read_stays_one_where_it_has_an_address() -> None:
    data = {"type": "input_image", "image_url": "data:image/png;base64,***"}
    answer = message(Role.TOOL, ToolResult("1", (Opaque("input_image", data),)))
    called = message(Role.ASSISTANT, ToolCall("1", "look", {}))
    _, output = payloads(written(called, answer), "response_item")
    assert output["output"] == [data]


def test_times_are_the_messages_own() -> None:
    at = datetime(2026, 3, 1, 10, 0, 0, 5000, UTC)
    records = written(message(Role.USER, Text("Hi"), created_at=at), CALLED)

    assert {record["timestamp"] for record in records[1:]} == {
        "2026-03-01T10:00:00.005Z"
    }
