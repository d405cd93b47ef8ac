"""OpenHands' evaluations and trajectories: an answer of the model once."""

import json

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.readings import compactions, events, messages, parts
from tests.threads.support.transcripts import lines
from threads.domain import formats
from threads.domain.part import Image, Opaque, Text, ToolCall, ToolResult

from .events import PROMPT, action, calls, read, seen, told

# Evaluations


ASKED = {"content": "Mend the lamp.", "action": "message"}
RAN = {
    "command": "ls",
    "thought": "I look.",
    "action": "run",
    "is_confirmed": "confirmed",
}
SEEN = {"content": "lamp.py", "command_id": 1, "observation": "run"}
DONE = {"outputs": {}, "thought": "", "action": "finish"}


def test_an_evaluation_is_a_conversation_a_line() -> None:
    first, second = read(
        lines(
            {
                "instance_id": "lamp-1",
                "instruction": "x",
                "history": [ASKED, RAN, SEEN, DONE],
            },
            {
                "instruction": "x",
                "history": [[ASKED, {"observation": "null"}], [RAN, SEEN]],
            },
            {"instruction": "x"},
        )
    )

    assert (first.title, second.title) == ("lamp-1", "Mend the lamp.")
    assert parts(first) == [
        (Text("Mend the lamp."),),
        (Text("I look."), ToolCall("call-1", "run", {"command": "ls"})),
        (ToolResult("call-1", (Text("lamp.py"),), "run"),),
        (ToolCall("call-2", "finish", {"outputs": {}}),),
    ]
    assert events(first) == ["instance_id", "instruction"]
    assert parts(second)[1:] == parts(first)[1:3]
    assert events(second) == ["observation/null", "instruction"]


# Trajectories


def test_actions_of_one_answer_are_one_message() -> None:
    reply = {"role": "assistant", "content": "I look.", "tool_calls": calls("c1", "c2")}
    answer = {
        "id": "r-1",
        "model": "m-1",
        "choices": [{"message": reply}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 3},
    }
    [found] = read(
        [
            action(0, "system", content="Be brief.", tools=[]),
            action(
                1,
                "message",
                "user",
                content="Mend.",
                image_urls=["https://example.org/a.png", 7],
            ),
            {**action(2, "run", command="ls"), **told("bash", "c1", **answer)},
            {**seen(3, 2), **told("bash", "c1", **answer)},
            {**action(4, "run", command="pwd"), **told("bash", "c2", **answer)},
            {**seen(5, 4, "error"), **told("bash", "c2", **answer)},
            action(
                6,
                "message",
                content="Done.",
                images_urls=["data:image/png;base64,UE5H", "data:x"],
            ),
            action(7, "message", content=""),
            action(8, "change_agent_state", "environment"),
            seen(9, 8, "agent_state_changed"),
            seen(10, -1, "delegate"),
        ]
    )

    assert parts(found) == [
        (Text("Be brief."),),
        (Text("Mend."), Image("image/*", url="https://example.org/a.png")),
        (Text("I look."), ToolCall("c1", "bash", {}), ToolCall("c2", "bash", {})),
        (ToolResult("c1", (Text("a"),), "bash"),),
        (ToolResult("c2", (Text("a"),), "bash", True),),
        (
            Text("Done."),
            Image("image/png", data=b"PNG"),
            Opaque("image_url", {"type": "image_url", "url": "data:x"}),
        ),
    ]
    answered = messages(found)[2]
    assert (answered.model, answered.source_id, answered.usage is not None) == (
        "m-1",
        "r-1",
        True,
    )
    assert answered.created_at is not None
    assert events(found) == [
        "action/run",
        "action/message",
        "action/change_agent_state",
        "observation/agent_state_changed",
        "observation/delegate",
    ]


def test_an_action_without_the_model_s_answer_is_a_call_named_by_its_number() -> None:
    [found] = read(
        [
            action(1, "message", "user", content="Mend."),
            action(2, "run", command="ls"),
            seen(3, 2, extras={"image_urls": ["https://example.org/a.png"]}),
            {
                **action(4, "run", command="ls"),
                **told("bash", "c1", id="r-1", choices=[]),
            },
            {"source": "user"},
            7,
        ]
    )

    assert parts(found)[1:] == [
        (ToolCall("event-2", "run", {"command": "ls"}),),
        (
            ToolResult(
                "event-2",
                (Text("a"), Image("image/*", url="https://example.org/a.png")),
                "run",
            ),
        ),
        (ToolCall("c1", "bash", {"command": "ls"}),),
    ]
    assert events(found) == ["event", "unreadable"]


def test_what_a_condenser_forgot_is_a_compaction() -> None:
    [found] = read(
        [
            action(1, "message", "user", content="Mend."),
            action(2, "run", command="ls"),
            seen(3, 2),
            action(4, "condensation", forgotten_event_ids=[2, 3], summary="Looked."),
            action(5, "run", command="pwd"),
            action(
                6,
                "condensation",
                forgotten_events_start_id=1,
                forgotten_events_end_id=5,
                summary="All.",
            ),
            action(7, "condensation", forgotten_event_ids=[1]),
        ]
    )
    first, second = compactions(found)

    assert (first.replaces, first.messages[0].text) == ((1, 2), "Looked.")
    assert second.replaces == (0, 1, 2, 3)
    assert events(found) == ["action/condensation"]


# Each generation


def test_a_file_without_messages_is_refused() -> None:
    with pytest.raises(Invalid, match="an OpenHands conversation"):
        read(b"[]")
    with pytest.raises(Invalid, match="an OpenHands conversation"):
        read(lines({"instruction": "x", "history": []}))


def test_each_generation_is_known() -> None:
    for data in (
        lines({"instance_id": "1", "history": []}, {}),
        lines(PROMPT, PROMPT),
        json.dumps([action(1, "message")]).encode(),
    ):
        assert formats.detect(data)[0].format == "openhands"
