"""ATIF: steps become messages, with what came back behind them."""

import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.readings import messages, read
from tests.threads.support.transcripts import lines
from threads.domain import formats
from threads.domain.message import Message, Role, Usage
from threads.domain.part import (
    File,
    Image,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from threads.domain.transcript import Event, Parent, Relation

from .trajectories import (
    ASKED,
    LOOKED,
    SOUND,
    agent,
    call,
    read_one,
    seen,
    trajectory,
    user,
)


def test_a_step_is_what_was_said_and_behind_it_what_came_back() -> None:
    found, [asked, looked, answered] = read_one(
        trajectory(ASKED, LOOKED, session_id="s")
    )

    assert (found.title, found.external_id, found.model) == ("Look.", "s", "m")
    assert asked == Message(
        role=Role.USER, parts=(Text("Look."),), records=asked.records
    )
    assert looked.parts == (
        Thinking("Hm."),
        Text("Looking."),
        ToolCall("1", "look", {"at": "1"}),
        ToolCall("2", "look", {"at": "2"}),
    )
    assert looked.usage == Usage(input_tokens=9, output_tokens=4, cached_tokens=3)
    assert looked.created_at == datetime(2026, 3, 1, 10, tzinfo=UTC)
    assert (looked.model, answered.role, answered.usage) == ("m-2", "tool", None)
    assert answered.parts == (
        ToolResult("2", (Text("Two."),)),
        ToolResult("1", (Text("One."), Image("image/png", url="images/a.png"))),
    )
    assert answered.records == looked.records


def test_results_without_a_call_are_read_by_the_agent_as_the_user_s() -> None:
    typed = agent("ls", observation=seen({"content": "a.txt"}, {"content": None}))
    started = {
        "source": "system",
        "message": "Up.",
        "observation": seen({"content": "ok"}),
    }
    alone = agent("", observation=seen({"content": "b.txt"}))
    _, items = read_one(trajectory(started, typed, alone))

    assert [(item.role, item.text) for item in items] == [
        ("system", "Up."),
        ("system", "ok"),
        ("assistant", "ls"),
        ("user", "a.txt"),
        ("user", "b.txt"),
    ]


def test_results_without_ids_answer_the_calls_in_their_order() -> None:
    unnamed = {"function_name": "look"}
    step = agent(
        "", tool_calls=[unnamed, unnamed], observation=seen({}, {"content": "b"})
    )
    mixed = agent(
        "",
        tool_calls=[call("x")],
        observation=seen(
            {"source_call_id": "x", "extra": {"is_error": True}}, {"content": "!"}
        ),
    )
    _, [called, answered, _, result, beside] = read_one(trajectory(step, mixed))

    assert [part.id for part in called.parts] == ["call_1_0", "call_1_1"]
    assert [part.call_id for part in answered.parts] == ["call_1_0", "call_1_1"]
    assert result.parts == (ToolResult("x", (), None, True),)
    assert (beside.role, beside.text) == ("user", "!")


def test_a_result_that_is_no_object_is_kept_as_it_stands() -> None:
    step = agent("", tool_calls=[call("x"), call("y")], observation=seen(["b"], None))
    _, [_, answered] = read_one(trajectory(step))

    kept = Opaque("result", ["b"])
    assert answered.parts == (ToolResult("x", (kept,)), ToolResult("y", ()))


def test_media_are_references_and_a_missing_one_is_told() -> None:
    elsewhere = {"media_type": "image/png", "path": "https://example.org/a.png"}
    other = {"type": "video", "source": {"path": ""}}
    parts = [SOUND, {"type": "image", "source": elsewhere}, other, {"type": "text"}]
    found, [message] = read_one(trajectory(user(parts)))

    assert message.parts == (
        File("audio/wav", url="a.wav"),
        Image("image/png", url="https://example.org/a.png"),
        Opaque("video", other),
    )
    assert [(w.code, w.message.split()[0]) for w in found.warnings] == [
        ("media_missing", "a.wav")
    ]


def test_a_broken_step_is_an_event_with_its_place() -> None:
    nameless = agent("", tool_calls=[{"tool_call_id": "1"}])
    sealed = agent("", extra={"contextstudio": {"thinking": [{}]}})
    wrong = [7, {"source": "robot"}, user(3), user([4]), nameless, sealed]
    found, items = read_one(trajectory(ASKED, *wrong))

    assert [item.type for item in items[1:]] == ["unreadable"] * 6
    assert [warning.message.split(":")[0] for warning in found.warnings] == [
        "At steps[1]",
        "At steps[2].source",
        "At steps[3].message",
        "At steps[4].message[0]",
        "At steps[5].tool_calls[0]",
        "At steps[6].extra",
    ]


def test_a_step_that_is_no_json_is_an_event() -> None:
    raw = (
        json.dumps(trajectory(ASKED, "here")).encode().replace(b'"here"', b"{oops: 1}")
    )
    [found] = formats.read(io.BytesIO(raw), "atif")

    assert [type(item) for item in found.items] == [Message, Event]
    assert found.warnings[0].message.startswith("At steps[1]:")


def test_sub_agents_that_are_embedded_are_conversations_of_their_own() -> None:
    inner = trajectory(user("Deeper."), trajectory_id="two")
    sub = trajectory(
        user("Dig."), trajectory_id="one", session_id="s", subagent_trajectories=[inner]
    )
    silent = trajectory(trajectory_id="three")
    ref = {
        "source_call_id": "1",
        "subagent_trajectory_ref": [{"trajectory_id": "one"}, 3],
    }
    calling = agent("", tool_calls=[call("1")], observation=seen(ref))
    found = read(
        trajectory(ASKED, calling, session_id="s", subagent_trajectories=[sub, silent])
    )
    main = Parent(external_id="s", relation=Relation.SUBAGENT, call_id="1")

    assert [(t.external_id, t.parent) for t in found] == [
        ("s", None),
        ("s/one", main),
        ("s/one/two", Parent(external_id="s/one", relation=Relation.SUBAGENT)),
    ]
    assert messages(found[1])[0].text == "Dig."


def test_sub_agents_of_a_nameless_trajectory_have_no_parent() -> None:
    sub = trajectory(user("Dig."), trajectory_id="one")
    found = read({**trajectory(ASKED, subagent_trajectories=[sub])})

    assert [(t.external_id, t.parent) for t in found] == [(None, None), (None, None)]


def test_a_continuation_alone_names_what_it_continues() -> None:
    copied = user("Summary.", is_copied_context=True)
    data = trajectory(copied, ASKED, session_id="s")
    [second] = read(data, name="run/trajectory.cont-2.json")
    marked = {**data, "agent": {"name": "r", "extra": {"continuation_index": 1}}}
    [first] = read(marked)

    assert second.external_id == "s/cont-2"
    assert second.parent == Parent(
        external_id="s/cont-1", relation=Relation.CONTINUATION
    )
    assert first.parent == Parent(external_id="s", relation=Relation.CONTINUATION)
    assert [m.text for m in messages(second)] == ["Summary.", "Look."]


def test_trajectories_come_as_a_list_or_a_line_each() -> None:
    two = [trajectory(user(word), session_id=word) for word in ("One", "Two")]

    assert [t.external_id for t in read(two)] == ["One", "Two"]
    assert [t.external_id for t in read(lines(*two))] == ["One", "Two"]


@pytest.mark.parametrize(
    "data",
    [
        trajectory(),
        {"schema_version": "ATIF-v1.8"},
        {"schema_version": "ATIF-v1.8", "subagent_trajectories": [{}]},
    ],
)
def test_a_trajectory_without_messages_is_refused(data: Any) -> None:
    with pytest.raises(Invalid) as refusal:
        read(data)

    assert refusal.value.code == "no_messages"


def test_a_cut_trajectory_is_refused_with_its_reason() -> None:
    with pytest.raises(Invalid, match="ends before it is complete"):
        read(b'{"schema_version": "ATIF-v1.8", "steps": [')
