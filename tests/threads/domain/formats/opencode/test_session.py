"""opencode's export: turns, parts, what names a session."""

import io
import json
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.readings import told
from tests.threads.support.transcripts import lines
from threads.domain import formats
from threads.domain.message import Message, Usage
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
from threads.domain.transcript import Event, Parent, Relation

from .sessions import PNG, SAID, TOKENS, export, info, read, read_one, text, tool


def parts_of(*parts: dict[str, Any], role: str = "assistant") -> tuple[Part, ...]:
    [message] = read((info(role, "1"), list(parts)))
    found: tuple[Part, ...] = message.parts
    return found


def test_a_turn_is_the_assistant_s_message_and_the_tool_s_behind_it() -> None:
    parts = [
        {"type": "step-start"},
        {"type": "reasoning", "text": "Hm.", "time": {"start": 1772359200000}},
        text("Looking."),
        tool("1", output="One.", attachments=[{"mime": "image/png", "url": PNG}, {}]),
        tool("2", "error", error="No."),
        tool("3", "error", error="Stop.", metadata={"output": "So far."}),
        tool("4", "running"),
        {"type": "step-finish", "time": {"start": 1772359200000}},
        {"type": "patch", "hash": "h"},
    ]
    answer = info("assistant", "2", 1772359200000, modelID="m", tokens=TOKENS)
    found = read_one(export([(info("user", "1"), [text("Hi")]), (answer, parts)]))
    [asked, start, said, tools, finish, patch] = found.items

    assert (found.title, found.external_id, found.model) == ("A lamp", "ses_1", "m")
    assert isinstance(asked, Message) and asked.source_id == "msg_1"
    assert isinstance(said, Message) and isinstance(tools, Message)
    assert [
        event.type for event in (start, finish, patch) if isinstance(event, Event)
    ] == [
        "step-start",
        "step-finish",
        "patch",
    ]
    assert said.parts == (
        Thinking("Hm."),
        Text("Looking."),
        *(ToolCall(id_, "look", {"at": id_}) for id_ in "1234"),
    )
    assert said.usage == Usage(input_tokens=8, output_tokens=4, cached_tokens=2)
    assert tools.parts == (
        ToolResult("1", (Text("One."), Image("image/png", data=b"PNG")), "look"),
        ToolResult("2", (Text("No."),), "look", True),
        ToolResult("3", (Text("So far."),), "look", True),
    )
    assert (tools.role, tools.usage, tools.model) == ("tool", None, None)


def test_what_a_tool_brought_is_read_whatever_its_state_is_called() -> None:
    said = [tool("1", "stopped", output="So far."), tool("2", "stopped")]
    [_, tools] = read((info("assistant", "2"), said))
    assert tools.parts == (ToolResult("1", (Text("So far."),), "look"),)


def test_reasoning_is_counted_where_the_total_says_so() -> None:
    [message] = read(
        (info("assistant", "1", tokens={**TOKENS, "total": 15}), [text("Hi")])
    )

    assert message.usage == Usage(input_tokens=8, output_tokens=7, cached_tokens=2)


def test_reasoning_keeps_its_provider_s_signature() -> None:
    def reasoning(words: str, **metadata: Any) -> dict[str, Any]:
        return {"type": "reasoning", "text": words, "metadata": metadata}

    assert parts_of(
        reasoning("One.", anthropic={"signature": "s"}),
        reasoning("Two.", google={"thoughtSignature": "t"}),
        reasoning("", anthropic={"redactedData": "r"}),
        reasoning("Four.", openai={"reasoningEncryptedContent": "e"}),
    ) == (
        Thinking("One.", "s"),
        Thinking("Two.", "t"),
        Thinking("", data="r"),
        Thinking("Four."),
        Thinking("", data="e"),
    )


def test_a_user_s_parts() -> None:
    items = read(
        (
            info("user", "1"),
            [
                text("Look."),
                text("The file reads …", synthetic=True),
                text("Not for the model.", ignored=True),
                {"type": "file", "mime": "text/plain", "url": "file:///a.txt"},
                {"type": "file", "mime": "image/png", "url": PNG},
                {
                    "type": "file",
                    "mime": "application/pdf",
                    "url": "file:///a",
                    "filename": "a",
                },
                {"type": "file", "mime": ["image/png"]},
                {
                    "type": "subtask",
                    "prompt": "Dig.",
                    "agent": "explore",
                    "id": "prt_1",
                },
                {"type": "agent", "name": "explore"},
            ],
        )
    )

    assert items[0].parts == (
        Text("Look."),
        Text("The file reads …"),
        Image("image/png", data=b"PNG"),
        File("application/pdf", "a", url="file:///a"),
        Opaque("subtask", {"type": "subtask", "prompt": "Dig.", "agent": "explore"}),
    )
    assert told(items[1:]) == ["text", "file", "file", "agent"]


def test_a_turn_without_content_is_an_event() -> None:
    failed = info("assistant", "2", error={"name": "APIError"})
    cut = info("assistant", "3", error={"name": "MessageAbortedError"})
    items = read(
        (info("user", "1"), [text("Hi")]),
        (failed, [{"type": "step-start"}]),
        (cut, [text("Hal")]),
        (info("assistant", "4"), []),
        (info("robot", "5"), []),
    )

    assert told(items) == [
        "user: Hi",
        "step-start",
        "assistant/error",
        "assistant: Hal",
        "assistant/empty",
        "robot",
    ]
    assert items[3].partial


@pytest.mark.parametrize(
    ("model", "provider", "strategy"),
    [
        ("claude-x", "anthropic", "anthropic"),
        ("gemini-x", "zen", "gemini"),
        ("claude-x", "google", "gemini"),
        ("m", "zen", "openai"),
        ("m", "google", "gemini"),
    ],
)
def test_the_strategy_is_the_provider_s(
    model: str, provider: str, strategy: str
) -> None:
    turn = (info("assistant", "1", modelID=model), [text("Hi")])

    assert read_one(export([turn], model={"providerID": provider})).strategy == strategy


def test_a_title_that_nobody_gave_is_the_first_words() -> None:
    assert (
        read_one(export(SAID, title="New session - 2026-01-01T00:00:00Z")).title
        == "One"
    )


def test_exports_come_one_a_line_too_and_a_sub_agent_s_names_its_parent() -> None:
    raw = lines(export(SAID), export(SAID, id="ses_2", parentID="ses_1"), export([]))
    first, second = formats.read(io.BytesIO(raw))

    assert first.parent is None
    assert second.parent == Parent(external_id="ses_1", relation=Relation.SUBAGENT)


def test_what_is_no_message_in_an_export_is_an_event() -> None:
    raw = (
        json.dumps(export(SAID))
        .encode()
        .replace(b'"messages": [', b'"messages": [{oops}, 3, ')
    )
    [found] = formats.read(io.BytesIO(raw), "opencode")

    assert told(list(found.items))[:3] == ["unreadable", "unreadable", "user: One"]
    assert [warning.code for warning in found.warnings] == ["json_invalid"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (json.dumps(export([])).encode(), "holds no messages"),
        (json.dumps({"info": {"id": "ses_1"}}).encode(), "holds no messages"),
        (b'{"info": {"id": "ses_1"}, "messages": [{oops', "ends before it is complete"),
    ],
)
def test_an_export_without_messages_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(Invalid, match=words):
        formats.read(io.BytesIO(data))
