"""Grok's history of a session, alone and with what is noted of it beside."""

from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.folders import folder
from tests.threads.support.readings import events, messages, read, texts
from tests.threads.support.transcripts import lines
from threads.domain.formats.terminals import grok
from threads.domain.message import Role
from threads.domain.part import Image, Opaque, Text, Thinking, ToolCall, ToolResult

SYSTEM = {"type": "system", "content": "You mend lamps."}
ASKED = {
    "type": "user",
    "content": [
        {"type": "image", "url": "https://lamps.test/1.png"},
        {"type": "text", "text": "Which lamp?"},
    ],
    "prompt_index": 0,
}
CALL = {"id": "c1", "name": "look", "arguments": '{"lamp": 1}'}


def reasoning(words: str = "I look.", **members: Any) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": words}] if words else []
    return {"type": "reasoning", "summary": summary, **members}


def answer(content: str = "", **members: Any) -> dict[str, Any]:
    return {"type": "assistant", "content": content, "model_id": "g-1", **members}


def test_reasoning_and_searches_are_part_of_the_answer_after_them() -> None:
    search = {"type": "backend_tool_call", "kind": {"tool_type": "web_search"}}
    data = lines(
        SYSTEM,
        {
            "type": "user",
            "content": "<user_info>\nOS\n</user_info>",
            "synthetic_reason": "e",
        },
        ASKED,
        reasoning(encrypted_content="seal"),
        search,
        answer("Looking.", tool_calls=[CALL]),
        {"type": "tool_result", "tool_call_id": "c1", "content": "It glows."},
        {"type": "user", "content": []},
        {"type": "note"},
    )

    [found] = read(data)

    assert (found.format, found.title, found.model) == ("grok", "Which lamp?", "g-1")
    assert [message.parts for message in messages(found)][2:] == [
        (Image("image/*", url="https://lamps.test/1.png"), Text("Which lamp?")),
        (
            Thinking("I look.", None, "seal"),
            Opaque("backend_tool_call", search),
            Text("Looking."),
            ToolCall("c1", "look", {"lamp": 1}),
        ),
        (ToolResult("c1", (Text("It glows."),)),),
    ]
    assert len(messages(found)[3].records) == 3
    assert events(found) == ["user", "note"]


def test_an_answer_that_never_came_is_partial() -> None:
    [found] = read(
        lines(SYSTEM, ASKED, answer("One."), reasoning(), ASKED, reasoning(""))
    )

    kept = messages(found)[3]
    assert (kept.role, kept.partial, kept.parts) == (
        Role.ASSISTANT,
        True,
        (Thinking("I look."),),
    )
    assert events(found) == ["reasoning"]


def test_a_broken_call_is_a_warning() -> None:
    [found] = read(
        lines(SYSTEM, ASKED, answer(tool_calls=[{"id": "c1"}]), answer("Yes."))
    )

    assert texts(found) == ["You mend lamps.", "Which lamp?", "Yes."]
    assert [warning.line for warning in found.warnings] == [3]


def test_lines_of_speakers_alone_are_known_too() -> None:
    [found] = read(lines(SYSTEM, {"type": "assistant", "content": "Yes."}))

    assert found.format == "grok"


def test_what_is_noted_beside_names_the_session() -> None:
    summary = {
        "info": {"id": "s-1"},
        "generated_title": "Lamps",
        "current_model_id": "g-2",
    }
    beside = folder(
        {
            "a/chat_history.jsonl": lines(SYSTEM, ASKED),
            "a/summary.json": summary,
            "b/chat_history.jsonl": lines(SYSTEM, ASKED),
            "c/chat_history.jsonl": lines({"type": "note"}),
            "c/summary.json": {},
            "my_chat_history.jsonl": b"",
        }
    )

    [found] = grok.gather(beside)

    [made] = found.transcripts
    assert (made.title, made.external_id, made.model) == ("Lamps", "s-1", "g-2")
    assert made.member == "a/chat_history.jsonl"
    assert found.members == {"a/chat_history.jsonl", "a/summary.json"}
    assert events(made) == ["sidecar"]


def test_a_history_without_messages_is_refused() -> None:
    with pytest.raises(Invalid, match="a Grok session"):
        read(lines({"type": "note", "content": ""}), "grok")
