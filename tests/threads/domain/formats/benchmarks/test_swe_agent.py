"""SWE-agent's and mini-swe-agent's runs: the history that was sent, all else as events."""

import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.readings import events, messages
from threads.domain import formats
from threads.domain.formats.benchmarks import swe_agent
from threads.domain.message import Usage
from threads.domain.part import Text, Thinking, ToolCall, ToolResult
from threads.domain.transcript import Transcript

SYSTEM = {"role": "system", "content": "Be brief.", "agent": "main"}
TASK = {"role": "user", "content": "Mend the lamp.", "agent": "main"}
STEP = {"action": "ls", "observation": "lamp.py", "response": "I look.\n```\nls\n```"}


def read(data: Any, name: str = "lamp-1.traj") -> Transcript:
    [found] = formats.read(io.BytesIO(json.dumps(data).encode()), name=name)
    return found


def test_actions_that_are_text_stay_text_and_demonstrations_are_named() -> None:
    demo = {"role": "user", "content": "An example.", "is_demo": True}
    said = {"role": "assistant", "content": "I look.", "thought": "t", "action": "ls"}
    data = {
        "environment": "main",
        "trajectory": [STEP],
        "history": [SYSTEM, demo, TASK, said],
        "info": {"exit_status": "submitted"},
    }
    found = read(data)

    assert (found.format, found.title) == ("swe_agent", "lamp-1")
    assert [(m.role, m.name, m.text) for m in messages(found)] == [
        ("system", None, "Be brief."),
        ("user", "demonstration", "An example."),
        ("user", None, "Mend the lamp."),
        ("assistant", None, "I look."),
    ]
    assert events(found) == ["environment", "trajectory", "info"]


def test_a_demonstration_that_is_a_history_alone_is_read() -> None:
    found = read({"history": [SYSTEM, TASK]})

    assert (found.format, len(messages(found))) == ("swe_agent", 2)


def test_calls_and_results_are_linked_by_the_tool_s_own_list_of_ids() -> None:
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "bash", "arguments": "{}"},
    }
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    answer = {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [call],
        "thinking_blocks": [thought],
    }
    result = {
        "role": "tool",
        "content": [{"type": "text", "text": "lamp.py"}],
        "tool_call_ids": ["c1"],
    }
    config = json.dumps({"agent": {"model": {"name": "m-1"}}})
    found = read(
        {"history": [TASK, answer, result], "trajectory": [], "replay_config": config}
    )
    _, said, shown = messages(found)

    assert found.model == "m-1"
    assert said.parts == (
        Thinking("Hm.", "s"),
        Text("I look."),
        ToolCall("c1", "bash", {}),
    )
    assert shown.parts == (ToolResult("c1", (Text("lamp.py"),)),)


def test_a_file_without_a_history_is_read_from_its_steps() -> None:
    found = read(
        {"trajectory": [STEP, {**STEP, "observation": ""}], "replay_config": "{"}
    )

    assert [m.role for m in messages(found)] == ["assistant", "user", "assistant"]
    assert (found.model, events(found)) == ("", ["replay_config"])


def test_what_is_no_message_of_a_history_is_an_event_and_a_warning() -> None:
    found = read({"trajectory": [], "history": [TASK, 7, {"role": "cat"}]})

    assert events(found) == ["trajectory", "unreadable", "unreadable"]
    assert len(found.warnings) == 2


def test_a_run_without_messages_is_refused() -> None:
    with pytest.raises(Invalid, match="a SWE-agent trajectory"):
        read({"trajectory": [], "history": []})
    with pytest.raises(Invalid, match="ends before it is complete"):
        swe_agent.SWE_AGENT.read(io.BytesIO(b'{"history": ['), "")


EXTRA = {
    "timestamp": 1_772_359_200.5,
    "response": {
        "id": "r-1",
        "model": "m-2",
        "usage": {"prompt_tokens": 5, "completion_tokens": 3},
    },
}


def test_version_2_of_mini_swe_agent_ends_with_an_event() -> None:
    answer = {"role": "assistant", "content": "I look.", "extra": EXTRA}
    done = {"role": "exit", "content": "Done.", "extra": {"timestamp": 1_772_359_201.0}}
    item = {"object": "response", "output": []}
    data = {
        "info": {"config": {"model": {"model_name": "m-1"}}},
        "messages": [SYSTEM, TASK, answer, item, done],
        "trajectory_format": "mini-swe-agent-1.1",
    }
    found = read(data, "lamp.traj.json")
    *_, said = messages(found)

    assert (found.format, found.title, found.model) == ("mini_swe_agent", "lamp", "m-1")
    assert (said.model, said.source_id) == ("m-2", "r-1")
    assert said.usage == Usage(input_tokens=5, output_tokens=3)
    assert said.created_at == datetime(2026, 3, 1, 10, 0, 0, 500_000, tzinfo=UTC)
    assert events(found) == ["info", "response", "exit", "trajectory_format"]


def test_version_1_of_mini_swe_agent_is_known_by_its_notes_or_is_a_plain_list() -> None:
    notes = {"exit_status": "Submitted", "submission": "", "model_stats": {}}

    assert read({"info": notes, "messages": [TASK]}, "").title == "Mend the lamp."
    assert read([SYSTEM, TASK]).format == "openai"


def test_a_run_of_mini_swe_agent_without_messages_is_refused() -> None:
    with pytest.raises(Invalid, match="a mini-swe-agent trajectory"):
        swe_agent.MINI.read(io.BytesIO(b'{"messages": []}'), "")
