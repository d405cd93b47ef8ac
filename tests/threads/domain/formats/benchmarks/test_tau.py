"""tau-bench and tau2: a conversation a simulation, what became of it as events."""

import io
import json
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.folders import folder
from tests.threads.support.readings import events, messages, read
from tests.threads.support.transcripts import lines
from threads.domain.formats.benchmarks import tau
from threads.domain.message import Usage
from threads.domain.part import Text, ToolCall, ToolResult

POLICY = {"role": "system", "content": "Be kind."}
ASKED = {"role": "user", "content": "My lamp is broken."}


# tau-bench


def run(task: int, *found: Any) -> dict[str, Any]:
    return {"task_id": task, "reward": 1.0, "info": {}, "traj": list(found), "trial": 2}


def test_each_simulation_is_a_conversation_with_its_reward() -> None:
    call = {
        "id": "c",
        "type": "function",
        "function": {"name": "find", "arguments": "{}"},
    }
    answer = {"role": "assistant", "content": None, "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "c", "name": "find", "content": "a lamp"}
    first, second = read([run(0, POLICY, ASKED, answer, result), run(1, ASKED)])

    assert (first.format, first.title) == (
        "tau_bench",
        "Task 0, trial 2: My lamp is broken.",
    )
    assert messages(first)[2].parts == (ToolCall("c", "find", {}),)
    assert messages(first)[3].parts == (ToolResult("c", (Text("a lamp"),), "find"),)
    assert events(first) == ["task_id", "reward", "info", "trial"]
    assert second.title.startswith("Task 1, ")


def test_results_come_as_lines_too_and_empty_ones_are_left_out() -> None:
    found = read(
        lines(run(0, ASKED), run(1), {"task_id": 2, "reward": 0}, run(3, ASKED))
    )

    assert [one.title[:6] for one in found] == ["Task 0", "Task 3"]


def test_a_result_that_breaks_off_is_read_as_far_as_it_goes() -> None:
    raw = json.dumps([run(0, ASKED), run(1, ASKED, 7)]).encode()
    first, second = read(raw[:-13])
    list(second.items)

    assert [warning.code for warning in first.warnings] == ["json_truncated"]
    assert len(messages(second)) == 1


def test_a_result_without_messages_is_refused() -> None:
    with pytest.raises(Invalid, match="a tau-bench result"):
        tau.TAU_BENCH.read(io.BytesIO(json.dumps([run(0)]).encode()), "")


# tau2


def simulation(id_: str, *found: Any, **more: Any) -> dict[str, Any]:
    told = {
        "id": id_,
        "task_id": "t1",
        "start_time": "",
        "termination_reason": "user_stop",
    }
    return {**told, "trial": 0, "messages": list(found), **more}


INFO = {"agent_info": {"llm": "m-1"}}
BOTH = [
    {**ASKED, "timestamp": "2026-03-01T10:00:00"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "c1",
                "name": "find",
                "arguments": {"a": 1},
                "requestor": "assistant",
            }
        ],
        "usage": {"prompt_tokens": 5, "completion_tokens": 3},
        "raw_data": {"id": "r-1", "model": "m-2"},
    },
    {"role": "tool", "id": "c1", "content": "a lamp", "requestor": "assistant"},
    {
        "role": "user",
        "tool_calls": [
            {"id": "c2", "name": "press", "arguments": {}, "requestor": "user"}
        ],
    },
    {
        "role": "tool",
        "tool_messages": [
            {"role": "tool", "id": "c2", "content": "on", "requestor": "user"},
            {"role": "tool", "id": "c3", "content": None, "error": True},
        ],
    },
    {"role": "narrator", "content": "Meanwhile."},
]


def test_both_the_agent_and_the_user_call_tools() -> None:
    first, second = read(
        {
            "info": INFO,
            "tasks": [],
            "simulations": [simulation("s1", *BOTH), simulation("s2", ASKED)],
        }
    )
    _, answer, found, pressed, several = messages(first)

    assert (first.format, first.external_id, first.model) == ("tau2", "s1", "m-1")
    assert first.title == "Task t1, trial 0: My lamp is broken."
    assert answer.parts == (ToolCall("c1", "find", {"a": 1}),)
    assert (answer.model, answer.source_id) == ("m-2", "r-1")
    assert answer.usage == Usage(input_tokens=5, output_tokens=3)
    assert found.parts == (ToolResult("c1", (Text("a lamp"),)),)
    assert (pressed.role, pressed.parts) == ("user", (ToolCall("c2", "press", {}),))
    assert several.parts == (
        ToolResult("c2", (Text("on"),)),
        ToolResult("c3", (), None, True),
    )
    assert events(first)[:3] == ["info", "tasks", "narrator"]
    assert "termination_reason" in events(first)
    assert "info" not in events(second)


def test_a_simulation_may_stand_alone() -> None:
    [found] = read(simulation("s1", ASKED, reward_info={"reward": 1}))

    assert (found.external_id, "reward_info" in events(found)) == ("s1", True)


def test_a_voice_s_ticks_are_events() -> None:
    with pytest.raises(Invalid, match="a tau2 result"):
        read({"info": INFO, "tasks": [], "simulations": [simulation("s1", ticks=[])]})
    with pytest.raises(Invalid, match="a tau2 result"):
        tau.read(io.BytesIO(b"[]"), "")


def test_the_simulations_of_a_folder_come_together() -> None:
    told = {"info": INFO, "tasks": []}
    [gathered] = tau.gather(
        folder(
            {
                "run/results.json": told,
                "run/simulations/s1.json": simulation("s1", ASKED),
                "run/simulations/s2.json": simulation("s2", ASKED),
                "run/simulations/s3.json": simulation("s3"),
                "other/results.json": {"info": 1},
                "other/simulations/x.json": {},
            }
        )
    )
    first, second = gathered.transcripts

    assert (first.member, first.model) == ("run/simulations/s1.json", "m-1")
    assert events(first)[0] == "results"
    assert (second.external_id, events(second)[0]) == ("s2", "id")
    assert gathered.members == {
        "run/results.json",
        "run/simulations/s1.json",
        "run/simulations/s2.json",
        "run/simulations/s3.json",
    }
