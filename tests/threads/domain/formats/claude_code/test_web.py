"""Sessions of Claude Code on the web."""

from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.readings import events, messages, parts, read, told
from threads.domain.part import Text, Thinking, ToolCall, ToolResult


def line(type_: str, content: Any, **message: Any) -> dict[str, Any]:
    said = {"role": type_, "content": content, **message}
    return {"type": type_, "timestamp": "2026-03-02T10:00:00Z", "message": said}


def test_lines_of_one_answer_are_one_message() -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Look", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "Dark."}
    data = {
        "title": "Lamps",
        "loglines": [
            line("user", "Look."),
            line(
                "assistant",
                [{"type": "thinking", "thinking": "Hm."}],
                id="m1",
                model="c-1",
            ),
            line(
                "assistant",
                [call],
                id="m1",
                usage={"input_tokens": 5, "output_tokens": 1},
            ),
            line("user", [result]),
            {"type": "system", "subtype": "note"},
            {"type": "user"},
            line("assistant", [{"type": "text", "text": "It is dark."}]),
            line("assistant", [{"type": "text", "text": "Quite."}]),
        ],
    }

    [found] = read(data)

    assert (found.format, found.title, found.model) == (
        "claude_code_web",
        "Lamps",
        "c-1",
    )
    assert parts(found) == [
        (Text("Look."),),
        (Thinking("Hm."), ToolCall("t1", "Look", {})),
        (ToolResult("t1", (Text("Dark."),)),),
        (Text("It is dark."),),
        (Text("Quite."),),
    ]
    assert len(messages(found)[1].records) == 2
    assert events(found)[:2] == ["system", "user"]


def test_a_summary_stands_for_all_before_it() -> None:
    def summary(words: str) -> dict[str, Any]:
        return {**line("user", words), "isCompactSummary": True}

    said = [line("user", "One."), line("assistant", "Two."), summary("Counted.")]
    data = {"loglines": [summary("Before."), *said, summary("")]}

    [found] = read(data)

    assert told(found) == [
        "user: Before.",
        "user: One.",
        "assistant: Two.",
        "(0, 1, 2) is Counted.",
        "user",
    ]


def test_a_session_without_messages_is_refused() -> None:
    with pytest.raises(Invalid, match="Claude Code on the web"):
        read({"loglines": []}, "claude_code_web")
