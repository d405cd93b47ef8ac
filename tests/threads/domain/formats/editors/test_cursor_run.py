"""What a run of Cursor's command line prints, an event a line."""

from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.readings import messages, read, told
from tests.threads.support.transcripts import lines
from threads.domain.formats.editors import cursor_run
from threads.domain.message import Usage
from threads.domain.part import Part, Text, Thinking, ToolCall, ToolResult

SESSION = "c6b62c6f-7ead-4fd6-9922-e952131177ff"
INIT = {"type": "system", "subtype": "init", "model": "Auto", "session_id": SESSION}
ASKED = {
    "type": "user",
    "message": {"role": "user", "content": [{"type": "text", "text": "Count."}]},
    "session_id": SESSION,
}
SECONDS = 1_786_011_591


def words(text: str, **members: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    message = {"role": "assistant", "content": content}
    return {
        "type": "assistant",
        "message": message,
        "session_id": SESSION,
        **members,
    }


def piece(text: str) -> dict[str, Any]:
    return words(text, timestamp_ms=SECONDS * 1000)


def thought(text: str) -> dict[str, Any]:
    return {
        "type": "thinking",
        "subtype": "delta",
        "text": text,
        "session_id": SESSION,
        "timestamp_ms": SECONDS * 1000,
    }


def call(subtype: str, held: dict[str, Any], id_: str = "c1") -> dict[str, Any]:
    return {
        "type": "tool_call",
        "subtype": subtype,
        "call_id": id_,
        "tool_call": held,
        "session_id": SESSION,
    }


def test_thoughts_words_and_calls_are_an_answer_and_what_a_tool_gave_the_next() -> None:
    counts = {"inputTokens": 9, "outputTokens": 4, "cacheReadTokens": 3}
    args = {"path": "boats.txt"}
    given = {"success": {"content": "14", "totalLines": 1}}
    [found] = read(
        lines(
            INIT,
            ASKED,
            thought("I look "),
            thought("first."),
            {**thought(""), "subtype": "completed"},
            words("Let me see.", timestamp_ms=SECONDS * 1000, model_call_id="m"),
            call("started", {"readToolCall": {"args": args}}),
            call("completed", {"readToolCall": {"args": args, "result": given}}),
            words("There are 14."),
            {"type": "result", "subtype": "success", "usage": counts},
        )
    )
    assert (found.format, found.external_id) == ("cursor_run", SESSION)
    assert (found.title, found.model) == ("Count.", "Auto")
    asked, answer, result, last = messages(found)
    assert asked.text == "Count."
    assert answer.parts == (
        Thinking("I look first."),
        Text("Let me see."),
        ToolCall("c1", "read", args),
    )
    assert answer.created_at and answer.created_at.timestamp() == SECONDS
    assert len(answer.records) == 4
    content = (Text('{"content": "14", "totalLines": 1}'),)
    assert result.parts == (ToolResult("c1", content, "read"),)
    assert last.usage == Usage(input_tokens=9, output_tokens=4, cached_tokens=3)
    assert told(found)[:1] == ["system/init"]
    assert told(found)[-1] == "result/success"


def test_words_that_came_in_pieces_are_not_told_again_as_a_whole() -> None:
    args = {"command": "ls"}
    [found] = read(
        lines(
            INIT,
            piece("Let me "),
            piece("see."),
            words("Let me see.", timestamp_ms=SECONDS * 1000, model_call_id="m"),
            call("started", {"shellToolCall": {"args": args}}),
            call("completed", {"shellToolCall": {"args": args, "result": {}}}),
            piece("There are "),
            piece("14."),
            words("There are 14."),
            words("Really."),
            words(""),
        )
    )
    assert [one.parts for one in messages(found)] == [
        (Text("Let me see."), ToolCall("c1", "shell", args)),
        (ToolResult("c1", (), "shell"),),
        (Text("There are 14."), Text("Really.")),
    ]
    assert told(found).count("assistant") == 3


@pytest.mark.parametrize(
    ("held", "made", "result"),
    [
        (
            {"readToolCall": {"result": {"error": {"errorMessage": "No."}}}},
            ToolCall("c1", "read", {}),
            ToolResult("c1", (Text('{"errorMessage": "No."}'),), "read", is_error=True),
        ),
        (
            {"shellToolCall": {"args": {}, "result": {"success": "Done."}}},
            ToolCall("c1", "shell", {}),
            ToolResult("c1", (Text("Done."),), "shell"),
        ),
        (
            {"shellToolCall": {"result": {"exit_code": 0, "output": "ok"}}},
            ToolCall("c1", "shell", {}),
            ToolResult("c1", (Text('{"exit_code": 0, "output": "ok"}'),), "shell"),
        ),
        (
            {"function": {"name": "f", "arguments": '{"a": 1}'}, "result": "Done."},
            ToolCall("c1", "f", {"a": 1}),
            ToolResult("c1", (Text("Done."),), "f"),
        ),
        ({}, ToolCall("c1", "", {}), ToolResult("c1", ())),
    ],
)
def test_a_call_may_be_known_by_its_result_alone(
    held: dict[str, Any], made: Part, result: Part
) -> None:
    [found] = read(lines(INIT, call("completed", held)))
    assert [one.parts for one in messages(found)] == [(made,), (result,)]


def test_what_cannot_be_read_is_an_event_with_a_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    [found] = read(lines(INIT, piece("One."), words("")["message"], 3, {**ASKED}))
    assert told(found) == [
        "system/init",
        "unreadable",
        "assistant: One.",
        "event",
        "user: Count.",
    ]

    monkeypatch.setattr(cursor_run, "MAX_HELD_BYTES", 1)
    [found] = read(lines(INIT, piece("One."), piece("Two.")))
    assert [one.text for one in messages(found)] == ["One.", "Two."]


def test_a_run_that_says_nothing_is_refused() -> None:
    ended = {**thought(""), "subtype": "completed"}
    with pytest.raises(Invalid, match="the stream-json output of Cursor"):
        read(lines(INIT, ended))
