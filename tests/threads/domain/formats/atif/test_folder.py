"""ATIF in folders: continuations joined, sub-agents and pictures in files of their own."""

from tests.threads.support.readings import messages, texts
from threads.domain.message import Message
from threads.domain.part import File, Image, ToolResult
from threads.domain.transcript import Compaction, Event, Parent, Relation

from .trajectories import (
    ASKED,
    LOOKED,
    PICTURE,
    SOUND,
    agent,
    call,
    gather,
    seen,
    trajectory,
    user,
)


def test_a_continuation_is_joined_and_its_copied_steps_are_a_compaction() -> None:
    first = trajectory(
        user("Task."),
        agent("One."),
        session_id="s",
        continued_trajectory_ref="next.json",
    )
    copied = [
        user("Task.", is_copied_context=True),
        user("So far.", is_copied_context=True),
    ]
    second = trajectory(*copied, agent("Two."), session_id="s")
    last = [
        user("Shorter.", is_copied_context=True),
        user("Also.", is_copied_context=True),
    ]
    third = trajectory(*last, session_id="s", extra=None)
    [gathered] = gather(
        {"a/first.json": first, "a/next.json": second, "a/next.cont-1.json": third}
    )
    [found] = gathered.transcripts
    items = list(found.items)

    assert (found.external_id, found.member, found.parent) == (
        "s",
        "a/first.json",
        None,
    )
    assert gathered.members == {"a/first.json", "a/next.json", "a/next.cont-1.json"}
    assert [
        item.text if isinstance(item, Message) else type(item).__name__
        for item in items
    ] == [
        "Task.",
        "One.",
        "Event",
        "Event",
        "Compaction",
        "Two.",
        "Event",
        "Event",
        "Compaction",
    ]
    compactions = [item for item in items if isinstance(item, Compaction)]
    assert [(c.replaces, [m.text for m in c.messages]) for c in compactions] == [
        ((1,), ["So far."]),
        ((0, 1, 2), ["Shorter.", "Also."]),
    ]
    assert items[2].type == "copied/user"
    assert items[2].record.startswith("a/next.json#bytes:")
    assert compactions[0].record == items[3].record
    assert items[5].records[0].startswith("a/next.json#bytes:")


def test_copied_steps_that_hide_nothing_are_messages() -> None:
    first = trajectory(user("Task."))
    second = trajectory(
        user("Task.", is_copied_context=True),
        user("More.", is_copied_context=True),
        "broken",
    )
    [gathered] = gather({"t.json": first, "t.cont-1.json": second})
    [found] = gathered.transcripts
    items = list(found.items)

    assert [type(item) for item in items] == [Message, Event, Message, Event]
    assert (items[2].text, found.external_id) == ("More.", None)
    assert [warning.code for warning in found.warnings] == ["invalid"]


def test_files_that_continue_each_other_in_a_circle_are_one_conversation() -> None:
    first = trajectory(user("One."), continued_trajectory_ref="b.json")
    second = trajectory(user("Two."), continued_trajectory_ref="a.json")

    [gathered] = gather({"a.json": first, "b.json": second})

    [found] = gathered.transcripts
    assert texts(found) == ["One.", "Two."]
    assert gathered.members == {"a.json", "b.json"}


def test_sub_agents_in_files_of_their_own_are_found_by_path() -> None:
    refs = [{"trajectory_path": "sub.json"}, {"trajectory_path": "../elsewhere.json"}]
    calling = agent(
        "",
        tool_calls=[call("1")],
        observation=seen({"source_call_id": "1", "subagent_trajectory_ref": refs}),
    )
    embedded = trajectory(user("Deep."), trajectory_id="in")
    sub = trajectory(user("Dig."), session_id="sub", subagent_trajectories=[embedded])
    files = {
        "a/main.json": trajectory(ASKED, calling, session_id="s"),
        "a/sub.json": sub,
    }
    [gathered] = gather({**files, "a/other.json": {"a": 1}, "a/note.txt": b"Hi"})
    main, dug, deep = gathered.transcripts

    assert gathered.members == {"a/main.json", "a/sub.json"}
    assert main.external_id == "s"
    assert dug.parent == Parent(
        external_id="s", relation=Relation.SUBAGENT, call_id="1"
    )
    assert (deep.external_id, deep.member) == ("sub/in", "a/sub.json")
    assert [m.text for m in messages(deep)] == ["Deep."]


def test_a_sub_agent_of_a_nameless_trajectory_is_found_without_a_parent() -> None:
    ref = {"subagent_trajectory_ref": {"trajectory_path": "sub.json"}}
    calling = agent("", observation=seen(ref))
    sub = trajectory(user("Dig."))
    [gathered] = gather({"main.json": trajectory(ASKED, calling), "sub.json": sub})

    assert [t.parent for t in gathered.transcripts] == [None, None]
    assert [type(i) for i in gathered.transcripts[0].items] == [Message, Event]


def test_pictures_are_taken_from_the_folder() -> None:
    data = trajectory(user([PICTURE, SOUND]), LOOKED)
    [gathered] = gather({"a/t.json": data, "a/images/a.png": b"PNG", "a.wav": b"no"})
    [found] = gathered.transcripts
    asked, _, answered = messages(found)

    assert gathered.members == {"a/t.json", "a/images/a.png"}
    assert asked.parts == (
        Image("image/png", data=b"PNG"),
        File("audio/wav", url="a.wav"),
    )
    assert isinstance(answered.parts[1], ToolResult)
    assert answered.parts[1].content[1] == Image("image/png", data=b"PNG")
    assert [warning.code for warning in found.warnings] == ["media_missing"]


def test_a_trajectory_that_continues_itself_is_read_once() -> None:
    [gathered] = gather(
        {"t.json": trajectory(ASKED, continued_trajectory_ref="t.json")}
    )

    assert len(messages(gathered.transcripts[0])) == 1


def test_continuations_that_lead_back_are_read_once() -> None:
    [gathered] = gather(
        {
            "t.json": trajectory(ASKED, continued_trajectory_ref="a.json"),
            "a.json": trajectory(ASKED, continued_trajectory_ref="b.json"),
            "b.json": trajectory(ASKED, continued_trajectory_ref="a.json"),
        }
    )

    assert len(messages(gathered.transcripts[0])) == 3
