"""ATIF written: it validates and comes back as the same messages."""

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

from atif import Trajectory
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.threads.support.readings import messages
from tests.threads.support.strategies import json_values, moments, texts, usages, words
from threads.domain import formats
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

from .trajectories import gather, read_one


def message(role: Role, *parts: Part, **members: Any) -> Message:
    return Message(role=role, parts=parts, **members)


def written(*found: Message, **options: Any) -> Any:
    raw = b"".join(formats.write("atif", found, formats.Heading(**options)))
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
    pieces = formats.write(
        "atif_zip", found, formats.Heading(blob=lambda _sha256: b"STORED")
    )
    with zipfile.ZipFile(io.BytesIO(b"".join(pieces))) as archive:
        raw = archive.read("trajectory.json")
        files = {info: archive.read(info) for info in archive.namelist()}

    Trajectory.model_validate_json(raw)
    assert raw == b"".join(
        formats.write("atif", found, formats.Heading(blob=lambda _sha256: b"STORED"))
    )
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
    pieces = b"".join(formats.write("atif_zip", found, formats.Heading(title="T")))
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
