"""Runs of LangSmith."""

from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support import readings
from tests.threads.support.agent_specimens import lines
from tests.threads.support.editor_specimens import RUN
from threads.domain.formats import detect
from threads.domain.message import Role, Usage
from threads.domain.part import Text, ToolCall, ToolResult

CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
ASKED = {"role": "user", "content": "Look."}
CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL]}


def run(
    number: int, kind: str, given: Any, gave: Any, **members: Any
) -> dict[str, Any]:
    """A run of one trace."""
    return {
        "id": f"run-{number}",
        "run_type": kind,
        "name": "look",
        "trace_id": "trace-1",
        "start_time": f"2026-03-02T10:00:0{number}",
        "inputs": given,
        "outputs": gave,
        **members,
    }


def test_a_tree_of_runs_is_the_conversation_of_its_model() -> None:
    [found] = readings.read([RUN])
    assert (found.format, found.external_id, found.model) == (
        "langsmith",
        "trace-1",
        "m-1",
    )
    asked, told = readings.messages(found)
    assert (asked.text, told.text) == ("Look.", "Dark.")
    assert told.usage == Usage(input_tokens=3, output_tokens=2)
    assert readings.events(found) == ["other/agent"]


def test_the_runs_of_one_thread_are_one_conversation() -> None:
    thread = {"extra": {"metadata": {"thread_id": "t-1"}}}
    first = run(1, "llm", {"messages": [ASKED]}, {"choices": [{"message": CALLED}]})
    tool = run(2, "tool", {"input": "{}"}, {"output": "Dark."})
    answer = {"role": "tool", "tool_call_id": "c1", "content": "Dark."}
    last = run(
        3,
        "llm",
        {"messages": [ASKED, CALLED, answer]},
        {"role": "assistant", "content": "It is dark."},
        total_tokens=9,
        prompt_tokens=7,
        completion_tokens=2,
    )
    [found] = readings.read(lines([one | thread for one in (first, tool, last)]))
    assert found.external_id == "t-1"
    messages = readings.messages(found)
    assert [message.role for message in messages] == [
        Role.USER,
        Role.ASSISTANT,
        Role.TOOL,
        Role.ASSISTANT,
    ]
    assert messages[1].parts == (ToolCall("c1", "look", {}),)
    assert messages[-1].usage == Usage(input_tokens=7, output_tokens=2)


def test_what_a_tool_gave_is_read_where_no_request_repeats_it() -> None:
    model = run(1, "llm", {"messages": [ASKED]}, {"choices": [{"message": CALLED}]})
    message = {"type": "tool", "tool_call_id": "c1", "content": "Dark."}
    for output in ("Dark.", message):
        tool = run(2, "tool", {"input": "{}"}, {"output": output})
        [found] = readings.read({"runs": [model, tool]})
        result = readings.messages(found)[-1].parts[0]
        assert isinstance(result, ToolResult)
        assert result.content == (Text("Dark."),)


@pytest.mark.parametrize(
    ("gave", "usage"),
    [
        (
            {
                "usage_metadata": {
                    "input_tokens": 5,
                    "output_tokens": 2,
                    "input_token_details": {"cache_read": 1},
                }
            },
            Usage(input_tokens=5, output_tokens=2, cached_tokens=1),
        ),
        (
            {"usage": {"prompt_tokens": 5, "completion_tokens": 2}},
            Usage(input_tokens=5, output_tokens=2),
        ),
    ],
)
def test_tokens_are_those_of_the_answer(gave: Any, usage: Usage) -> None:
    answer = {"role": "assistant", "content": "Dark.", **gave}
    [found] = readings.read([run(1, "llm", {"prompts": ["Look."]}, answer)])
    assert readings.texts(found) == ["Look.", "Dark."]
    assert readings.messages(found)[-1].usage == usage


def test_a_run_of_bare_words_is_read() -> None:
    [found] = readings.read([run(1, "llm", "Look.", "Dark.")])
    assert readings.texts(found) == ["Look.", "Dark."]


def test_a_run_longer_than_the_sample_is_known_by_its_type() -> None:
    long = {"run_type": "llm", "trace_id": "t", "inputs": {"messages": "x" * 70_000}}
    assert detect(readings.encoded(long)[:65536])[0].format == "langsmith"


def test_a_batch_of_the_sdk_s_is_refused_by_name() -> None:
    batch = {"post": [run(1, "llm", {}, {}, dotted_order="1")], "patch": []}
    with pytest.raises(Invalid, match="as LangSmith's SDK sends it"):
        readings.read(batch)
