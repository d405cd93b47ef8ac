"""Events of a session of Claude's managed agents."""

from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.readings import events, messages, parts, read, told
from tests.threads.support.transcripts import lines
from threads.domain.message import Role, Usage
from threads.domain.part import Text, ToolCall, ToolResult


def event(kind: str, **members: Any) -> dict[str, Any]:
    id_ = f"sevt_{kind.partition('.')[2]}"
    return {"id": id_, "processed_at": "2026-07-06T16:26:34Z", "type": kind, **members}


def said(words: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": words}]


ASKED = event("user.message", content=said("Call date."))
BEGUN = event("span.model_request_start")
CALL = event("agent.tool_use", name="bash", input={"command": "date"})
COUNTS = {
    "input_tokens": 2,
    "output_tokens": 46,
    "cache_read_input_tokens": 7,
    "cache_creation_input_tokens": 1,
}
ENDED = event("span.model_request_end", model_usage=COUNTS)
GIVEN = event("agent.tool_result", content=said("Monday"), tool_use_id="sevt_tool_use")
TOLD = event("agent.message", content=said("It is Monday."))
SESSION = [
    event("session.status_running"),
    ASKED,
    BEGUN,
    event("agent.thinking"),
    event("agent.message", content=said("I look.")),
    CALL,
    ENDED,
    GIVEN,
    BEGUN,
    TOLD,
    event("session.status_idle"),
]


@pytest.mark.parametrize(
    "data",
    [
        {"data": SESSION, "next_page": None},
        SESSION,
        lines(*SESSION),
        lines(*({"role": "agent", "kind": "x", "raw": one} for one in SESSION)),
    ],
)
def test_what_a_request_brings_is_an_answer_with_its_tokens(data: Any) -> None:
    [found] = read(data)
    assert (found.format, found.strategy) == ("claude_managed", "anthropic")
    assert found.title == "Call date."
    asked, answer, result, last = messages(found)
    assert asked.role is Role.USER
    assert answer.parts == (
        Text("I look."),
        ToolCall("sevt_tool_use", "bash", {"command": "date"}),
    )
    assert answer.usage == Usage(input_tokens=10, output_tokens=46, cached_tokens=7)
    assert answer.created_at is not None and len(answer.records) == 2
    assert result.parts == (ToolResult("sevt_tool_use", (Text("Monday"),), "bash"),)
    assert (last.text, last.usage) == ("It is Monday.", None)
    assert events(found) == [
        "session.status_running",
        "span.model_request_start",
        "agent.thinking",
        "span.model_request_end",
        "span.model_request_start",
        "session.status_idle",
    ]


def test_calls_of_servers_and_of_the_program_are_answered_too() -> None:
    failed = {"is_error": True, "mcp_tool_use_id": "sevt_mcp_tool_use"}
    [found] = read(
        lines(
            ASKED,
            event("agent.mcp_tool_use", mcp_server_name="exa", name="find", input={}),
            event("user.tool_confirmation", result="deny"),
            event("agent.mcp_tool_result", content=said("Denied."), **failed),
            event("agent.custom_tool_use", name="weather", input={"at": "Prague"}),
            event(
                "user.custom_tool_result",
                content=said("Sunny."),
                custom_tool_use_id="sevt_custom_tool_use",
            ),
        )
    )
    assert parts(found)[1:] == [
        (ToolCall("sevt_mcp_tool_use", "mcp__exa__find", {}),),
        (
            ToolResult(
                "sevt_mcp_tool_use", (Text("Denied."),), "mcp__exa__find", is_error=True
            ),
        ),
        (ToolCall("sevt_custom_tool_use", "weather", {"at": "Prague"}),),
        (ToolResult("sevt_custom_tool_use", (Text("Sunny."),), "weather"),),
    ]


def test_what_is_to_come_out_is_asked_by_the_user() -> None:
    rubric = {"type": "text", "content": "It names the day."}
    [found] = read(
        lines(
            event("system.message", content=said("Be brief.")),
            event("user.define_outcome", description="Name the day.", rubric=rubric),
            event("user.define_outcome", description="Again."),
            TOLD,
        )
    )
    assert [(one.role.value, len(one.parts)) for one in messages(found)] == [
        ("system", 1),
        ("user", 2),
        ("user", 1),
        ("assistant", 1),
    ]


def test_an_event_that_cannot_be_read_is_kept_with_a_warning() -> None:
    nameless = event("agent.tool_use", input={})
    [found] = read(lines(ASKED, TOLD, nameless, 3, {"processed_at": 1}))
    assert told(found) == [
        "user: Call date.",
        "unreadable",
        "unreadable",
        "assistant: It is Monday.",
        "record",
    ]
    assert [one.line for one in found.warnings] == [3, 4]


def test_a_session_in_which_nobody_speaks_is_refused() -> None:
    with pytest.raises(Invalid, match="managed agents"):
        read(lines(BEGUN, ENDED), "claude_managed")
