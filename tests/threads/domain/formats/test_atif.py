"""ATIF: steps become messages, what belongs together is joined, exports validate."""

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from atif import Trajectory
from hypothesis import given, settings
from hypothesis import strategies as st

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.folders import folder
from tests.threads.readings import messages, read
from tests.threads.strategies import json_values, moments, texts, usages, words
from tests.threads.transcripts import lines
from threads.domain import formats
from threads.domain.formats import atif
from threads.domain.formats.folder import Gathered
from threads.domain.message import Message, Role, Usage
from threads.domain.part import (
    File,
    Image,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from threads.domain.transcript import Compaction, Event, Parent, Relation, Transcript

PICTURE = {
    "type": "image",
    "source": {"media_type": "image/png", "path": "images/a.png"},
}
SOUND = {"type": "audio", "source": {"media_type": "audio/wav", "path": "a.wav"}}


def trajectory(*steps: Any, **members: Any) -> dict[str, Any]:
    """A document whose steps are numbered."""
    numbered = [
        {"step_id": number, **step} if isinstance(step, dict) else step
        for number, step in enumerate(steps, 1)
    ]
    agent = {"name": "robot", "version": "1", "model_name": "m"}
    return {"schema_version": "ATIF-v1.8", "agent": agent, "steps": numbered} | members


def user(words: Any, **members: Any) -> dict[str, Any]:
    return {"source": "user", "message": words, **members}


def agent(words: Any, **members: Any) -> dict[str, Any]:
    return {"source": "agent", "message": words, **members}


def call(id_: str, **members: Any) -> dict[str, Any]:
    return {
        "tool_call_id": id_,
        "function_name": "look",
        "arguments": {"at": id_},
        **members,
    }


def seen(*results: Any) -> dict[str, Any]:
    return {"results": list(results)}


ASKED = user("Look.")
LOOKED = agent(
    "Looking.",
    reasoning_content="Hm.",
    tool_calls=[call("1"), call("2")],
    observation=seen(
        {"source_call_id": "2", "content": "Two."},
        {"source_call_id": "1", "content": [{"type": "text", "text": "One."}, PICTURE]},
    ),
    metrics={"prompt_tokens": 9, "completion_tokens": 4, "cached_tokens": 3},
    timestamp="2026-03-01T10:00:00Z",
    model_name="m-2",
)


def read_one(data: Any) -> tuple[Transcript, list[Any]]:
    [found] = read(data)
    assert found.format == "atif"
    return found, list(found.items)


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


# Folders


def gather(files: Mapping[str, Any]) -> list[Gathered]:
    assert atif.FORMAT.gather is not None
    return atif.FORMAT.gather(folder(files))


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


# Written


def message(role: Role, *parts: Part, **members: Any) -> Message:
    return Message(role=role, parts=parts, **members)


def written(*found: Message, **options: Any) -> Any:
    raw = b"".join(formats.write("atif", found, **options))
    Trajectory.model_validate_json(raw)
    return json.loads(raw)


def test_a_result_without_a_call_stays_a_result() -> None:
    found = [message(Role.TOOL, ToolResult("", (Text("Lost."),)))]
    _, again = read_one(b"".join(formats.write("atif", found)))

    assert [(m.role, m.parts) for m in again] == [(m.role, m.parts) for m in found]


def test_results_stand_in_the_step_of_their_call() -> None:
    usage = Usage(input_tokens=9, output_tokens=4, cached_tokens=3)
    body = written(
        message(Role.SYSTEM, Text("Be brief.")),
        message(Role.USER, Text("Look."), Opaque("x", {})),
        message(
            Role.ASSISTANT,
            Thinking("Hm."),
            ToolCall("1", "look", {"at": 1}),
            ToolCall("2", "look", "raw"),
            usage=usage,
            model="m-2",
        ),
        message(Role.TOOL, ToolResult("2", (Text("Two."),))),
        message(Role.USER, ToolResult("1", (), "look", True), Text("Go on.")),
        message(Role.TOOL, ToolResult("1", (Text("Late."),)), ToolResult("", ())),
        title="A lamp",
        model="m",
        external_id="s",
    )

    assert (body["session_id"], body["agent"]["model_name"]) == ("s", "m")
    assert body["extra"] == {"title": "A lamp"}
    assert [step["source"] for step in body["steps"]] == [
        "system",
        "user",
        "agent",
        "user",
        "agent",
    ]
    assert body["steps"][1]["message"] == "Look."
    assert body["steps"][2]["reasoning_content"] == "Hm."
    assert body["steps"][2]["tool_calls"][1] == {
        "tool_call_id": "2",
        "function_name": "look",
        "arguments": {},
        "extra": {"contextstudio": {"arguments": "raw"}},
    }
    assert body["steps"][2]["observation"]["results"] == [
        {"source_call_id": "2", "content": "Two."},
        {
            "source_call_id": "1",
            "content": "",
            "extra": {
                "contextstudio": {"message": 1, "is_error": True, "name": "look"}
            },
        },
    ]
    assert body["steps"][4]["observation"]["results"][0]["content"] == "Late."
    assert body["final_metrics"] == {
        "total_prompt_tokens": 9,
        "total_completion_tokens": 4,
        "total_cached_tokens": 3,
        "total_steps": 5,
    }


def test_calls_without_ids_are_given_some_and_answered_in_their_order() -> None:
    body = written(
        message(Role.ASSISTANT, ToolCall("", "f", {}), ToolCall("", "g", None)),
        message(Role.TOOL, ToolResult("", (Text("One."),)), ToolResult("", ())),
    )
    [step] = body["steps"]

    ids = [call["tool_call_id"] for call in step["tool_calls"]]
    assert ids == ["call_1_0", "call_1_1"]
    assert [
        result["source_call_id"] for result in step["observation"]["results"]
    ] == ids


def test_the_archive_holds_the_files_that_the_trajectory_points_at(
    tmp_path: Path,
) -> None:
    name = f"images/{hashlib.sha256(b'PNG').hexdigest()}.png"
    found = [
        message(Role.USER, Image("image/png", data=b"PNG"), Text("Look.")),
        message(
            Role.USER,
            Image("image/png", sha256="ab"),
            Image("image/svg+xml", data=b"S"),
        ),
        message(Role.USER, Image("image/png", url="https://example.org/a.png")),
    ]
    pieces = formats.write("atif_zip", found, blob=lambda _sha256: b"STORED")
    with zipfile.ZipFile(io.BytesIO(b"".join(pieces))) as archive:
        raw = archive.read("trajectory.json")
        files = {info: archive.read(info) for info in archive.namelist()}

    Trajectory.model_validate_json(raw)
    assert raw == b"".join(formats.write("atif", found, blob=lambda _sha256: b"STORED"))
    assert {n: data for n, data in files.items() if n.endswith(".png")} == {
        name: b"PNG",
        "images/ab.png": b"STORED",
    }
    [gathered] = gather(files)
    assert gathered.members == files.keys()
    assert [m.parts for m in messages(gathered.transcripts[0])] == [
        (Image("image/png", data=b"PNG"), Text("Look.")),
        (Image("image/png", data=b"STORED"),),
        (Image("image/png", url="https://example.org/a.png"),),
    ]


some_text = texts.filter(bool)
spoken = st.builds(Text, some_text)
elsewhere = words.map("https://example.org/{}".format)
media = st.one_of(
    st.builds(Image, st.just("image/png"), data=st.binary(min_size=1, max_size=9)),
    st.builds(Image, st.just("image/webp"), url=elsewhere),
    st.builds(File, st.just("audio/wav"), data=st.binary(min_size=1, max_size=9)),
)
thoughts = st.builds(Thinking, some_text, st.none() | words) | st.builds(
    Thinking, st.just(""), data=words
)
results = st.builds(
    lambda content, name, is_error: ToolResult("", tuple(content), name, is_error),
    st.lists(spoken | media, max_size=3),
    st.none() | words,
    st.booleans(),
)


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """Messages, with calls of ids of their own, that are answered later or never."""
    found: list[Message] = []
    waiting: list[str] = []
    for number in range(draw(st.integers(1, 6))):
        role = draw(st.sampled_from(Role))
        said: list[Part] = draw(st.lists(spoken | media, max_size=3))
        members = {
            "name": draw(st.none() | words),
            "created_at": draw(st.none() | moments),
        }
        if role is Role.TOOL and not waiting:
            continue
        if role is Role.TOOL:
            some = draw(st.integers(1, len(waiting)))
            ids, waiting = waiting[:some], waiting[some:]
            answers = [
                ToolResult(id_, r.content, r.name, r.is_error)
                for id_ in ids
                for r in [draw(results)]
            ]
            found.append(message(role, *answers))
            continue
        if role is Role.ASSISTANT:
            arguments = draw(st.lists(json_values, max_size=3))
            calls = [
                ToolCall(f"c{number}-{n}", draw(words), value)
                for n, value in enumerate(arguments)
            ]
            waiting += [call.id for call in calls]
            said = [*draw(st.lists(thoughts, max_size=2)), *said, *calls]
            usage = draw(st.none() | usages.filter(lambda counts: counts != Usage()))
            members |= {"model": draw(st.none() | words), "usage": usage}
        found.append(message(role, *said, partial=draw(st.booleans()), **members))
    return found


@settings(deadline=None)
@given(conversations())
def test_an_export_validates_and_imports_as_the_same_messages(
    found: list[Message],
) -> None:
    pieces = b"".join(formats.write("atif_zip", found, title="T"))
    with zipfile.ZipFile(io.BytesIO(pieces)) as archive:
        files = {info: archive.read(info) for info in archive.namelist()}
    # Lone surrogates are JSON, but no text that the package takes.
    Trajectory.model_validate_json(files["trajectory.json"].replace(b"\\ud", b"\\u0"))
    if not found:
        return
    [gathered] = gather(files)
    [again] = gathered.transcripts

    assert [
        (m.role, m.parts, m.name, m.model, m.created_at, m.usage, m.partial)
        for m in messages(again)
    ] == [
        (m.role, m.parts, m.name, m.model, m.created_at, m.usage, m.partial)
        for m in found
    ]
