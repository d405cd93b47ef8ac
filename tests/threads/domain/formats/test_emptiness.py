"""A message that a parser finds nothing in is empty only where its file says so."""

import io
from typing import Any

import pytest

from tests.threads.support import readings
from tests.threads.support.agent_specimens import lines
from tests.threads.support.specimens import SPECIMENS
from threads.domain.formats import emptiness
from threads.domain.formats.emptiness import says_something
from threads.domain.message import Message
from threads.domain.part import Opaque

RENAMED = {
    "ai_sdk": "text",
    "amp": "content",
    "claude_code": "content",
    "codex": "content",
    "copilot_cli": "content",
    "gemini": "parts",
    "openai": "content",
    "pi": "content",
    "sharegpt": "value",
}
"""Formats, each with the member that holds what is said."""


@pytest.mark.parametrize("name", RENAMED)
def test_a_format_that_renames_what_it_says_loses_nothing_silently(name: str) -> None:
    specimen = next(SPECIMENS[one] for one in SPECIMENS if one.startswith(name))
    changed = specimen.replace(f'"{RENAMED[name]}":'.encode(), b'"utterance":')
    changed = changed.replace(b"Look.", b"Look at it.").replace(
        b"Dark.", b"It is dark."
    )
    for found in readings.read(changed, name):
        for message in readings.messages(found):
            said = b"".join(_record(changed, record) for record in message.records)
            assert message.parts or (b"Look at" not in said and b"is dark" not in said)
        kept = [m for m in readings.messages(found) if any(map(_is_whole, m.parts))]
        codes = [warning.code for warning in found.warnings]
        assert codes.count("message_not_understood") >= len(kept)


def _record(data: bytes, record: str) -> bytes:
    start, _, end = record.removeprefix("bytes:").partition("-")
    return data[int(start) : int(end)]


def _is_whole(part: Any) -> bool:
    return isinstance(part, Opaque) and part.type == "message"


@pytest.mark.parametrize(
    "record",
    [
        {"content": None},
        {"content": "", "timestamp": "two words"},
        {"message": {"content": [{"type": "thinking", "thinking": ""}], "note": "a b"}},
        {"parts": [{"type": "step-start", "id": "x"}]},
        {"id": "one", "cwd": "/home"},
        7,
    ],
)
def test_some_records_say_nothing(record: Any) -> None:
    assert not says_something(record)


@pytest.mark.parametrize(
    "record",
    [{"utterance": "two words"}, {"parts": [{"type": "x", "words": "Hi"}]}, ["a b"]],
)
def test_others_do(record: Any) -> None:
    assert says_something(record)


def test_records_that_cannot_be_looked_into_are_left_alone() -> None:
    chat = lines([{"role": "user", "content": "Hi"}, {"role": "user", "content": ""}])
    [found] = readings.read(chat)
    assert readings.parts(found)[-1] == ()

    def judged(*records: str) -> Message:
        empty = Message(
            role=readings.messages(found)[0].role, parts=(), records=records
        )
        file = io.BytesIO(b'{"x": two words}')
        [made] = emptiness.ContentCheckedItems([empty], [], file)
        assert isinstance(made, Message)
        return made

    assert judged("row:a/1", "bytes:0-99999999", "bytes:0-16").parts == ()
