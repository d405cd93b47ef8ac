"""What a run of opencode prints, a part of the model's messages a line."""

from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.readings import events, messages, read, told
from tests.threads.support.transcripts import lines
from threads.domain.formats.opencode import run
from threads.domain.message import Role, Usage
from threads.domain.part import Text, Thinking, ToolCall, ToolResult

SESSION = "ses_494719016ffe85dkDMj0FPRbHK"
SECONDS = 1_767_036_000


def line(kind: str, message: str = "msg_1", /, **part: Any) -> dict[str, Any]:
    own = {"messageID": message} if message else {}
    return {
        "type": kind,
        "timestamp": SECONDS * 1000,
        "sessionID": SESSION,
        "part": {"id": "prt_1", "type": kind.replace("_", "-"), **own, **part},
    }


def call(message: str = "msg_1", **state: Any) -> dict[str, Any]:
    told = {"status": "completed", "input": {"of": "boats"}, "output": "14", **state}
    tool = {"type": "tool", "callID": "c1", "tool": "count", "state": told}
    return line("tool_use", message, **tool)


TOKENS = {"input": 5, "output": 2, "reasoning": 0, "cache": {"read": 3, "write": 0}}


def test_the_lines_of_a_message_are_one_and_its_results_the_next() -> None:
    [found] = read(
        lines(
            line("step_start"),
            line("reasoning", text="I count."),
            line("text", text="Let me see."),
            call(),
            line("step_finish", tokens=TOKENS),
            line("step_start", "msg_2"),
            line("text", "msg_2", text="There are 14."),
        )
    )
    assert (found.format, found.external_id) == ("opencode_run", SESSION)
    assert found.title == "opencode run ses_4947"
    answer, result, last = messages(found)
    assert answer.parts == (
        Thinking("I count."),
        Text("Let me see."),
        ToolCall("c1", "count", {"of": "boats"}),
    )
    assert answer.usage == Usage(input_tokens=8, output_tokens=2, cached_tokens=3)
    assert answer.created_at and answer.created_at.timestamp() == SECONDS
    assert len(answer.records) == 4
    assert result.role is Role.TOOL
    assert result.parts == (ToolResult("c1", (Text("14"),), "count"),)
    assert (last.text, last.source_id) == ("There are 14.", "msg_2")
    assert events(found) == ["step-start", "step-finish", "step-start"]


def test_a_call_of_version_2_is_named_apart_from_its_part() -> None:
    state = {"status": "completed", "input": {}, "output": "14"}
    printed = line("tool_use", partID="prt_1", id="c1", tool="count", state=state)
    printed["part"]["type"] = "tool"
    [found] = read(lines(printed))
    answer, result = messages(found)

    assert answer.parts == (ToolCall("c1", "count", {}),)
    assert result.parts == (ToolResult("c1", (Text("14"),), "count"),)


def test_lines_that_name_no_message_are_one_up_to_the_next_step() -> None:
    [found] = read(
        lines(
            line("step_start", ""),
            line("text", "", text="One."),
            line("text", "", text="Two."),
            line("step_start", ""),
            line("text", "", text="Three."),
        )
    )
    assert [(one.text, one.source_id) for one in messages(found)] == [
        ("One.\n\nTwo.", "message-1"),
        ("Three.", "message-2"),
    ]


def test_other_lines_are_events_in_their_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failed = {"type": "error", "sessionID": SESSION, "error": {"name": "APIError"}}
    [found] = read(
        lines(line("text", text="One."), failed, line("text", "msg_2", text="Two."))
        + b"{broken\n"
    )
    assert told(found) == ["assistant: One.", "error", "assistant: Two.", "unreadable"]
    assert [one.line for one in found.warnings] == [4]

    monkeypatch.setattr(run, "MAX_HELD_BYTES", 1)
    [found] = read(lines(line("text", text="One."), line("text", text="Two.")))
    assert [one.text for one in messages(found)] == ["One.", "Two."]


def test_each_session_is_one_of_its_own() -> None:
    other = {**line("text", text="Elsewhere."), "sessionID": "ses_2"}
    found = read(lines(line("text", text="Here."), other))
    assert [one.external_id for one in found] == [SESSION, "ses_2"]


def test_a_run_that_says_nothing_is_refused() -> None:
    with pytest.raises(Invalid, match="the JSON output of opencode run"):
        read(lines(line("step_start"), line("step_finish")))
