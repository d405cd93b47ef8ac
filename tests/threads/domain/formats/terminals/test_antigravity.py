"""Antigravity's steps: requests, plans, and what tools did."""

from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.readings import events, messages, parts, read
from tests.threads.support.transcripts import lines
from threads.domain.message import Role
from threads.domain.part import Text, Thinking, ToolCall, ToolResult


def step(number: int, source: str, type_: str, **members: Any) -> dict[str, Any]:
    return {
        "step_index": number,
        "source": source,
        "type": type_,
        "status": "DONE",
        "created_at": "2026-06-26T21:16:16Z",
        **members,
    }


def test_tools_answer_the_calls_of_the_plan_in_their_order() -> None:
    calls = [{"name": "list_dir", "args": {"p": '"/"'}}, {"name": "view", "id": "v"}]
    data = lines(
        step(
            0,
            "USER_EXPLICIT",
            "USER_INPUT",
            content="<USER_REQUEST>\nList.\n</USER_REQUEST>",
        ),
        step(1, "SYSTEM", "CONVERSATION_HISTORY"),
        step(
            2,
            "MODEL",
            "PLANNER_RESPONSE",
            thinking="Hm.",
            content="So:",
            tool_calls=calls,
        ),
        step(3, "MODEL", "LIST_DIRECTORY", content="a.txt"),
        step(4, "MODEL", "VIEW_FILE", content="1: hi", status="ERROR"),
        step(5, "MODEL", "RUN_COMMAND", content="Done."),
        step(6, "SYSTEM", "SYSTEM_MESSAGE", content="Indexed."),
        step(7, "MODEL", "PLANNER_RESPONSE"),
    )

    [found] = read(data)

    assert (found.format, found.title, found.strategy) == (
        "antigravity",
        "List.",
        "gemini",
    )
    assert parts(found)[1:5] == [
        (
            Thinking("Hm."),
            Text("So:"),
            ToolCall("call_1", "list_dir", {"p": '"/"'}),
            ToolCall("v", "view", {}),
        ),
        (ToolResult("call_1", (Text("a.txt"),)),),
        (ToolResult("v", (Text("1: hi"),), None, True),),
        (ToolResult("call_0", (Text("Done."),)),),
    ]
    assert [message.role for message in messages(found)][-1] is Role.USER
    assert events(found) == ["CONVERSATION_HISTORY", "PLANNER_RESPONSE"]


def test_a_step_that_is_broken_is_a_warning() -> None:
    said = step(0, "USER_EXPLICIT", "USER_INPUT", content="Hi.")

    [found] = read(lines(said, step(1, "MODEL", "PLANNER_RESPONSE", tool_calls=[7])))

    assert events(found) == ["unreadable"]
    assert [warning.line for warning in found.warnings] == [2]


def test_steps_that_say_nothing_are_refused() -> None:
    with pytest.raises(Invalid, match="an Antigravity transcript"):
        read(lines(step(0, "SYSTEM", "CONVERSATION_HISTORY")))
