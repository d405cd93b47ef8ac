"""Factory's Droid: sessions, and what its runs print."""

from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.readings import compactions, events, messages, read, told
from tests.threads.support.transcripts import lines
from threads.domain.message import Role, Usage
from threads.domain.part import Text, Thinking, ToolCall, ToolResult

START = {"type": "session_start", "id": "d-1", "title": "Lamps", "version": 2}


def said(id_: str, role: str, *content: Any) -> dict[str, Any]:
    return {
        "type": "message",
        "id": id_,
        "timestamp": "2026-03-02T10:00:00.000Z",
        "message": {"role": role, "content": list(content), "model": "m-1"},
    }


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def test_a_session_holds_messages_of_anthropics_blocks() -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Execute", "input": {"a": 1}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "Dark."}
    data = lines(
        START,
        said("m1", "user", text("Look.")),
        said("m2", "assistant", {"type": "reasoning", "text": "Hm."}, call),
        said("m3", "user", result),
        {"type": "todo_state", "todos": []},
        said("m4", "assistant"),
    )

    [found] = read(data)

    assert (found.format, found.title, found.external_id) == ("droid", "Lamps", "d-1")
    assert (found.model, found.strategy) == ("m-1", "anthropic")
    assert [message.parts for message in messages(found)] == [
        (Text("Look."),),
        (Thinking("Hm."), ToolCall("t1", "Execute", {"a": 1})),
        (ToolResult("t1", (Text("Dark."),)),),
    ]
    assert [message.source_id for message in messages(found)] == ["m1", "m2", "m3"]
    assert events(found) == ["session_start", "todo_state", "message"]


def test_a_compaction_stands_for_all_before_it() -> None:
    summary = {"type": "compaction_state", "summaryText": "Looked at lamps."}
    data = lines(
        START,
        said("m1", "user", text("Look.")),
        said("m2", "assistant", text("Dark.")),
        summary,
        said("m3", "user", text("And now?")),
        {"type": "compaction_state", "summary": {"title": "T", "body": "All of it."}},
        {"type": "compaction_state", "summary": {}},
    )

    [found] = read(data)

    first, second = compactions(found)
    assert (first.replaces, second.replaces) == ((0, 1), (0, 1, 2))
    assert first.messages[0].role is Role.USER
    assert [one.messages[0].text for one in (first, second)] == [
        "Looked at lamps.",
        "All of it.",
    ]
    assert events(found)[-1] == "compaction_state"


def test_a_session_without_its_first_line_is_known_by_its_states() -> None:
    data = lines({"type": "todo_state"}, said("m1", "user", text("Look.")))

    assert [found.format for found in read(data)] == ["droid"]


def test_an_unknown_speaker_is_a_warning() -> None:
    data = lines(
        START, said("m0", "robot", text("Beep.")), said("m1", "user", text("Hi"))
    )

    [found] = read(data)

    assert told(found)[1:] == ["unreadable", "user: Hi"]
    assert [warning.line for warning in found.warnings] == [2]


def line(type_: str, **members: Any) -> dict[str, Any]:
    return {"type": type_, "session_id": "r-1", "timestamp": 1767812640310, **members}


def test_the_output_of_a_run_is_read_line_by_line() -> None:
    data = lines(
        line("system", subtype="init", model="m-2"),
        line("message", role="user", text="List.", id="m1"),
        line("reasoning", text="I list."),
        line("reasoning"),
        line("tool_call", id="c1", toolName="Execute", parameters={"command": "ls"}),
        line("tool_result", id="c1", isError=True, value="none"),
        line("tool_call", toolCallId="c2", toolId="Read", parameters={}),
        line("tool_result", toolCallId="c2", value={"stdout": "a"}),
        line("message", role="assistant", text="Done.", id="m2"),
        line("completion", finalText="Done."),
        line("completion", finalText="All done.", usage={"input_tokens": 3}),
        line("error", message="Lost."),
    )

    [found] = read(data)

    assert (found.format, found.external_id) == ("droid_stream", "r-1")
    assert [message.parts for message in messages(found)] == [
        (Text("List."),),
        (Thinking("I list."),),
        (ToolCall("c1", "Execute", {"command": "ls"}),),
        (ToolResult("c1", (Text("none"),), "Execute", True),),
        (ToolCall("c2", "Read", {}),),
        (ToolResult("c2", (Text('{"stdout": "a"}'),), "Read"),),
        (Text("Done."),),
        (Text("All done."),),
    ]
    assert messages(found)[-1].usage == Usage(input_tokens=3)
    assert {message.model for message in messages(found)} == {None, "m-2"}
    assert events(found) == ["system", "reasoning", "completion", "error"]


def test_a_session_without_messages_is_refused_by_its_name() -> None:
    with pytest.raises(Invalid, match="a Factory Droid session"):
        read(lines(START, {"type": "todo_state"}))
