"""Files whose first bytes don't show what they are."""

import io
import json
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from threads.domain import formats
from threads.domain.formats.io import json_file, skimming, source
from threads.domain.formats.io.skimming import skim_file
from threads.domain.formats.sample import HEAD, RECORDS, Sample
from threads.domain.message import Message

LONG = "You answer questions about ships. " * 3_000
SAID = [
    {"role": "user", "content": "Where does the night ferry land?"},
    {"role": "assistant", "content": "At the old pier."},
]
TOOLS = [
    {
        "type": "function",
        "function": {"name": f"tool_{n}", "description": "It does much. " * 80},
    }
    for n in range(100)
]
CONTENTS = [
    {"role": {"assistant": "model"}.get(one["role"], "user"), "parts": [{"text": "x"}]}
    for one in SAID
]


def file_of(value: Any) -> io.BytesIO:
    return io.BytesIO(json.dumps(value).encode())


def messages_of(file: io.BytesIO) -> tuple[str, list[Message]]:
    (transcript,) = formats.read(file)
    said = [one for one in transcript.items if isinstance(one, Message)]
    return transcript.format, said


@pytest.mark.parametrize(
    ("body", "format_", "count"),
    [
        ({"model": "gpt-4o", "tools": TOOLS, "messages": SAID}, "openai", 2),
        ({"system": LONG, "max_tokens": 9, "messages": SAID}, "anthropic", 3),
        (
            {"systemInstruction": {"parts": [{"text": LONG}]}, "contents": CONTENTS},
            "gemini",
            3,
        ),
    ],
    ids=["openai", "anthropic", "gemini"],
)
def test_a_request_is_known_whatever_stands_before_its_messages(
    body: dict[str, Any], format_: str, count: int
) -> None:
    file = file_of(body)
    assert not formats.detect(file.read(HEAD))
    name, said = messages_of(file)
    assert (name, len(said)) == (format_, count)


def test_members_longer_than_a_piece_are_looked_into() -> None:
    spans = [{"words": ["a" * 100] * 200} for _ in range(100)]
    trace = {"spans": spans, "note": "b" * (2 * skimming.WHOLE)}
    name, said = messages_of(file_of({"trace": trace, "messages": SAID}))
    assert (name, len(said)) == ("openai", 2)


def test_records_of_many_kinds_are_each_seen() -> None:
    rows = [{"type": "tick", "at": n} for n in range(200)]
    rows += [{"type": "note", "text": LONG}, {"role": "user", "content": "Hello"}]
    lines = "\n".join(map(json.dumps, rows)).encode()
    for data in (lines, json.dumps(rows).encode()):
        shown = Sample(skimming.skim_file(io.BytesIO(data))).rows
        assert [one.get("type") for one in shown] == ["tick", "tick", "note", None]
        assert shown[2]["text"] == LONG[: skimming.TEXT]


def test_no_more_than_so_many_records_are_left() -> None:
    rows = [{f"member {n}": n} for n in range(200)]
    assert len(json.loads(skimming.skim_file(file_of(rows)))) == skimming.ELEMENTS


def test_what_lies_too_deep_is_left_out() -> None:
    value: Any = "c" * (2 * skimming.WHOLE)
    for _ in range(skimming.DEEPEST + 1):
        value = [value]
    shown = json.loads(skimming.skim_file(file_of({"deep": value, "n": 1})))
    assert shown["n"] == 1
    assert "c" not in json.dumps(shown)


@pytest.mark.parametrize(
    "data", [b"", b"Just words.", b"\0\1\2" * 9, b'"' + b"d" * (2 << 20) + b'"', b"[1"]
)
def test_of_what_is_no_json_container_nothing_is_left(data: bytes) -> None:
    assert not skimming.skim_file(io.BytesIO(data)).strip(b"[]")


def test_a_file_that_is_too_long_is_not_looked_through(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(skimming, "MAX_BYTES", 1_000)
    assert skimming.skim_file(file_of({"tools": TOOLS, "messages": SAID})) == b""


def test_a_file_whose_head_shows_every_record_is_not_looked_through(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    skims: list[object] = []
    monkeypatch.setattr(formats, "skim_file", lambda file: skims.append(file) or b"")
    short = {"name": "boats", "files": [{"path": "a"}] * RECORDS}
    for data in (json.dumps(short).encode(), b'{"n": 1}\n{"n": 2}\n'):
        with pytest.raises(Invalid, match="not a transcript"):
            formats.read(io.BytesIO(data))
    assert not skims
    longer = {"files": [{"path": "a"}] * (RECORDS + 1)}
    lines = b'{"n": 1}\n' * (RECORDS + 1)
    rows = 2 * (json.dumps(longer).encode() + b"\n")
    for data in (
        json.dumps(longer).encode(),
        lines,
        rows,
        b'{"words": "%s"}' % (b"a" * HEAD),
    ):
        with pytest.raises(Invalid):
            formats.read(io.BytesIO(data))
    assert len(skims) == 4


def test_what_is_no_transcript_is_refused_as_before() -> None:
    with pytest.raises(Invalid, match="not a transcript that ContextStudio knows"):
        formats.read(file_of({"rows": ["e" * 100] * 2_000}))


def test_a_document_on_one_line_is_not_taken_for_a_long_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(source, "CHUNK", 64)
    rows = [{"n": one, "words": "x" * 40} for one in range(9)]
    for data in (rows, {"rows": rows}):
        file = io.BytesIO(json.dumps(data).encode() + b"\n\n")
        assert json_file.is_one_line(file)
        assert not json_file.is_lines(file, 2)
        assert skim_file(file)
    assert json_file.first_lines(io.BytesIO(json.dumps(rows).encode())) == []
    lines = io.BytesIO(b"\n".join(json.dumps(one).encode() for one in rows))
    assert not json_file.is_one_line(lines)
    long = io.BytesIO(json.dumps(rows).encode() + b"\n" + json.dumps(rows).encode())
    assert not json_file.is_one_line(long)
