"""Inspect's logs: samples as conversations, from one document and from an unpacked archive."""

import json
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.folders import folder
from tests.threads.support.readings import messages, read
from threads.domain.formats.benchmarks import inspect_eval, inspect_sample
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
from threads.domain.transcript import Event, Transcript

EVAL = {"eval_id": "e1", "task": "brew", "model": "lab/m-1"}
CALL = {"id": "k1", "function": "boil", "arguments": {"c": 90}, "type": "function"}
MESSAGES: list[dict[str, Any]] = [
    {"id": "u1", "role": "user", "content": "attachment://a1"},
    {
        "id": "r1",
        "role": "assistant",
        "content": "",
        "tool_calls": [CALL],
        "model": "m-1",
    },
    {"role": "tool", "content": "Hot.", "tool_call_id": "k1", "function": "boil"},
    {"id": "r2", "role": "assistant", "content": "Ready."},
]


def reply(id_: str, **usage: int) -> dict[str, Any]:
    return {"choices": [{"message": {"id": id_, "role": "assistant"}}], "usage": usage}


USED = {"input_tokens": 2, "output_tokens": 5, "total_tokens": 17}
EVENTS: list[dict[str, Any]] = [
    {"event": "sample_init", "timestamp": "2026-02-03T04:05:06Z"},
    {
        "event": "model",
        "timestamp": "2026-02-03T04:05:07Z",
        "completed": "2026-02-03T04:05:09Z",
        "output": reply("r1", input_tokens_cache_read=10, **USED),
    },
    {"event": "tool", "id": "k1", "timestamp": "2026-02-03T04:05:10Z"},
    {"event": "score"},
]


def sample(number: int = 1, **members: Any) -> dict[str, Any]:
    return {
        "id": number,
        "epoch": 1,
        "input": "attachment://a1",
        "target": "tea",
        "messages": MESSAGES,
        "output": reply("r2", **USED),
        "scores": {"right": {"value": "C"}},
        "store": {},
        "uuid": f"s{number}",
        "events": EVENTS,
        "error": None,
        "attachments": {"a1": "Brew tea."},
        **members,
    }


def log(*samples: Any, **members: Any) -> dict[str, Any]:
    head = {"version": 2, "status": "success", "eval": EVAL}
    return {**head, "samples": list(samples), **members}


def story(transcript: Transcript) -> list[str]:
    return [
        item.source_id or item.role if isinstance(item, Message) else item.type
        for item in transcript.items
        if isinstance(item, Message | Event)
    ]


def parts(content: Any, role: str = "assistant", **members: Any) -> tuple[Part, ...]:
    said = {"role": role, "content": content, **members}
    return inspect_sample.read_message(said, lambda _: None).parts


def test_a_sample_is_a_conversation() -> None:
    [transcript] = read(log(sample()))
    user, call, result, answer = messages(transcript)

    assert (transcript.format, transcript.title) == ("inspect", "brew 1, epoch 1")
    assert (transcript.external_id, transcript.model) == ("s1", "lab/m-1")
    assert user.parts == (Text("Brew tea."),)
    assert call.parts == (ToolCall("k1", "boil", {"c": 90}),)
    assert result.parts == (ToolResult("k1", (Text("Hot."),), "boil"),)
    assert (result.role, call.model) == (Role.TOOL, "m-1")
    assert (answer.text, transcript.warnings) == ("Ready.", [])


def test_events_tell_of_usage_and_time_and_stand_in_their_order() -> None:
    [transcript] = read(log(sample()))
    user, call, result, answer = messages(transcript)

    assert story(transcript) == [
        *("run/success", "input", "u1", "sample_init", "model", "r1", "tool", "tool"),
        *("r2", "score", "target", "output", "scores"),
    ]
    assert call.usage == Usage(input_tokens=12, output_tokens=5, cached_tokens=10)
    assert answer.usage == Usage(input_tokens=12, output_tokens=5)
    assert user.usage is inspect_sample.read_usage(None) is None
    assert call.created_at is not None and call.created_at.second == 9
    assert result.created_at is not None and result.created_at.second == 10


def test_a_sample_that_did_not_begin_is_its_input() -> None:
    said = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi"},
    ]
    first, second = read(
        log(
            sample(messages=[], events=[], uuid=None),
            sample(2, messages=None, input=said, uuid=None),
            sample(3, messages=[], input=""),
            sample(4, messages=[], input=[3]),
        )
    )

    assert [m.text for m in messages(first)] == ["Brew tea."]
    assert [m.role for m in messages(second)] == ["system", "user"]
    assert second.external_id == "e1/2/1"


def test_a_message_that_cannot_be_read_is_a_warning() -> None:
    [transcript] = read(log(sample(messages=[*MESSAGES, {"role": "ghost"}])))

    assert len(messages(transcript)) == 4
    [warning] = transcript.warnings
    assert "A message's role must be one of" in warning.message


def test_one_sample_by_itself_is_read_too() -> None:
    [transcript] = read(sample(uuid=None, id="tea"))

    assert (transcript.title, transcript.external_id) == ("sample tea, epoch 1", None)
    assert (transcript.model, len(messages(transcript))) == ("", 4)


def test_a_log_without_samples_is_refused() -> None:
    with pytest.raises(Invalid, match="holds no messages"):
        read({"version": 2, "status": "error", "eval": EVAL})


def archive(**heads: Any) -> dict[str, bytes]:
    files: dict[str, Any] = {
        "run/samples/10_epoch_1.json": sample(10),
        "run/samples/9_epoch_1.json": sample(9),
        "run/samples/8_epoch_1.json": sample(8, messages=[], input=""),
        "run/summaries.json": [],
        "run/_journal/summaries/1.json": [],
        "run/notes.json": [],
        **{f"run/{name}.json": value for name, value in heads.items()},
    }
    return {name: json.dumps(value).encode() for name, value in files.items()}


def test_an_archive_gives_its_samples_in_their_order() -> None:
    head = {"version": 2, "status": "error", "eval": EVAL}
    files = archive(header=head, **{"_journal/start": {"version": 2, "eval": EVAL}})
    [gathered] = inspect_eval.gather(folder(files))
    first, second = gathered.transcripts

    assert [first.external_id, second.external_id] == ["s9", "s10"]
    assert first.member == "run/samples/9_epoch_1.json"
    assert gathered.members == files.keys() - {"run/notes.json"}
    run = next(iter(first.items))
    assert isinstance(run, Event)
    assert run.type == "run/error"
    assert run.record.startswith("run/header.json#bytes:")


def test_a_run_that_has_not_ended_has_only_begun() -> None:
    files = archive(**{"_journal/start": {"version": 2, "eval": EVAL}})
    [gathered] = inspect_eval.gather(folder(files))

    assert story(gathered.transcripts[0])[0] == "run/started"


def test_other_folders_are_left_alone() -> None:
    assert inspect_eval.gather(folder({"header.json": b"[]"})) == []
    assert (
        inspect_eval.gather(folder({"my-header.json": b'{"version": 1, "eval": {}}'}))
        == []
    )
    empty = {"header.json": json.dumps({"version": 2, "eval": {}}).encode()}
    assert inspect_eval.gather(folder(empty)) == []


PIXEL = "data:image/png;base64,aGk="
BLOCKS: list[tuple[dict[str, Any], tuple[Part, ...]]] = [
    ({"type": "text", "text": ""}, ()),
    (
        {
            "type": "reasoning",
            "reasoning": "Hm.",
            "signature": "seal",
            "redacted": False,
        },
        (Thinking("Hm.", "seal"),),
    ),
    (
        {"type": "reasoning", "reasoning": "xyz", "summary": "Hm.", "redacted": True},
        (Thinking("Hm.", data="xyz"),),
    ),
    ({"type": "image", "image": PIXEL}, (Image("image/png", data=b"hi"),)),
    (
        {"type": "image", "image": "https://a.example/b.png"},
        (Image("image/*", url="https://a.example/b.png"),),
    ),
    (
        {"type": "image", "image": "data:broken"},
        (Opaque("image", {"type": "image", "image": "data:broken"}),),
    ),
    (
        {"type": "audio", "audio": "a.mp3", "format": "mp3"},
        (File("audio/mp3", url="a.mp3"),),
    ),
    (
        {"type": "document", "document": PIXEL, "filename": "a.png"},
        (File("image/png", "a.png", data=b"hi"),),
    ),
    (
        {"type": "document", "document": "a.pdf", "mime_type": "application/pdf"},
        (File("application/pdf", url="a.pdf"),),
    ),
    (
        {
            "type": "tool_use",
            "id": "w",
            "name": "search",
            "arguments": "{}",
            "result": "r",
        },
        (ToolCall("w", "search", {}), ToolResult("w", (Text("r"),), "search")),
    ),
    (
        {"type": "tool_use", "id": "w", "name": "", "arguments": "x", "error": "e"},
        (ToolCall("w", "", "x"), ToolResult("w", (Text("e"),), None, True)),
    ),
    ({"type": "data", "data": {}}, (Opaque("data", {"type": "data", "data": {}}),)),
]


@pytest.mark.parametrize(("block", "found"), BLOCKS)
def test_every_block_is_read(block: dict[str, Any], found: tuple[Part, ...]) -> None:
    assert parts([block]) == found


def test_text_stands_as_it_is_and_old_reasoning_before_it() -> None:
    assert parts(["Hi"], reasoning="Hm.") == (Thinking("Hm."), Text("Hi"))
    assert parts("tc://gone", "user") == (Text("tc://gone"),)


def test_a_tool_s_error_is_in_its_result_once() -> None:
    error = {"type": "timeout", "message": "Too slow."}

    assert parts("", "tool", tool_call_id="k", error=error) == (
        ToolResult("k", (Text("Too slow."),), None, True),
    )
    assert parts("Half.", "tool", tool_call_id="k", error=error) == (
        ToolResult("k", (Text("Too slow."), Text("Half.")), None, True),
    )
    assert parts("Error: Too slow.", "tool", tool_call_id="k", error=error) == (
        ToolResult("k", (Text("Error: Too slow."),), None, True),
    )


def test_attachments_are_found_in_all_that_is_nested() -> None:
    value = {"a": ["attachment://1", {"b": "tc://1"}], "c": 3}

    assert inspect_sample.resolve(value, {"1": "long"}.get) == {
        "a": ["long", {"b": "long"}],
        "c": 3,
    }
