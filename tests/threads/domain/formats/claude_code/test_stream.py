"""What `claude --output-format stream-json` prints: the same records, one after another."""

import io
import json
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.readings import events
from tests.threads.support.transcripts import call, lines, result, text
from threads.domain import formats
from threads.domain.message import Message
from threads.domain.transcript import Compaction, Parent, Relation, Transcript

from .sessions import shape

RUN = "9d1f2f6e-0000-4000-8000-000000000002"


def line(type_: str, number: int, **members: Any) -> dict[str, Any]:
    return {
        "type": type_,
        "session_id": RUN,
        "uuid": f"n{number}",
        "parent_tool_use_id": None,
        **members,
    }


def said(number: int, block: Any, turn: str, **members: Any) -> dict[str, Any]:
    message = {
        "type": "message",
        "role": "assistant",
        "id": turn,
        "model": "claude-test",
        "content": [block],
        "usage": {"input_tokens": 5, "output_tokens": number},
    }
    return line("assistant", number, message=message, **members)


def heard(number: int, content: Any, **members: Any) -> dict[str, Any]:
    return line("user", number, message={"role": "user", "content": content}, **members)


INIT = line("system", 0, subtype="init", model="claude-test", cwd="/", tools=["Bash"])
INSIDE = {"parent_tool_use_id": "c1"}
WHOLE = [
    INIT,
    said(1, text("I look."), "m1"),
    said(2, call("c1"), "m1"),
    {"type": "stream_event", "session_id": RUN, "event": {"type": "message_start"}},
    heard(3, [text("Look closely.")], **INSIDE),
    said(4, text("There."), "m2", **INSIDE),
    heard(5, result("c1")),
    said(6, text("Found."), "m3"),
    line("result", 7, subtype="success", result="Found.", total_cost_usd=0.1),
]


def read(*records: Any) -> list[Transcript]:
    return formats.read(io.BytesIO(lines(*records)), name="run.jsonl")


def test_a_run_is_a_session_and_its_sub_agents_are_others() -> None:
    thread, agent = read(*WHOLE)

    assert shape(thread) == [
        "assistant: I look., c1",
        "user: result c1",
        "assistant: Found.",
    ]
    assert events(thread) == [
        "system/init",
        "stream_event/message_start",
        "result/success",
    ]
    assert (thread.format, thread.external_id) == ("claude_code_stream", RUN)
    assert (thread.model, thread.title) == (
        "claude-test",
        "Claude Code session 9d1f2f6e",
    )
    assert shape(agent) == ["user: Look closely.", "assistant: There."]
    assert agent.external_id == f"{RUN}/agent-c1"
    assert agent.parent == Parent(
        external_id=RUN, relation=Relation.SUBAGENT, call_id="c1"
    )


def test_usage_is_taken_once_a_message() -> None:
    thread, _ = read(*WHOLE)
    messages = [item for item in thread.items if isinstance(item, Message)]

    assert [m.usage.output_tokens for m in messages if m.usage] == [2, 6]


@pytest.mark.parametrize(
    ("summary", "about"),
    [
        ("All before.", {"preserved_segment": {"anchor_uuid": "n9"}}),
        ("This session is being continued from a previous conversation.", {}),
    ],
)
def test_a_compaction_of_a_run_is_one(summary: str, about: dict[str, Any]) -> None:
    thread, _ = read(
        *WHOLE,
        line("system", 8, subtype="compact_boundary", compact_metadata=about),
        heard(9, summary, isSynthetic=True),
        heard(10, "A reminder.", isSynthetic=True),
        heard(11, "Go on."),
    )
    [compaction] = [item for item in thread.items if isinstance(item, Compaction)]

    assert compaction.replaces == (0, 1, 2)
    assert compaction.messages[0].text == summary
    assert shape(thread)[3:] == ["user: A reminder.", "user: Go on."]


@pytest.mark.parametrize("first", [INIT, WHOLE[1]])
def test_a_run_is_known_by_its_beginning(first: Any) -> None:
    [likeliest, *_] = formats.detect(json.dumps(first).encode() + b"\n")

    assert likeliest.format == "claude_code_stream"


def test_lines_of_others_are_no_run() -> None:
    other = {"session_id": RUN, "type": "system", "subtype": "status"}
    found = formats.detect(lines(other, {"type": "system", "subtype": "init"}))

    assert "claude_code_stream" not in {candidate.format for candidate in found}


def test_a_run_without_messages_is_refused() -> None:
    with pytest.raises(
        Invalid, match="stream-json output of Claude Code, but it holds no"
    ):
        read(INIT)
