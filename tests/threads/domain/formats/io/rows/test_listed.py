"""Lists of the records that a tool writes on lines, as the records that they are."""

import io
import json
from typing import Any

import pytest

from tests.threads.support import readings
from tests.threads.support.specimens import SPECIMENS
from threads.domain import formats
from threads.domain.formats.io import source, windows
from threads.domain.formats.io.rows import listed
from threads.domain.formats.sample import HEAD

from .test_spread import OF_LINES, records

OF_LISTS = {"ai_sdk, for models", "preferences", "openai, a line each"}
"""Specimens on lines that are read from a list just as well."""


def is_listed(data: bytes) -> bool:
    return formats.is_list_of_records(data[:HEAD])


def rows(data: bytes) -> bytes:
    return b"".join(listed.lines(io.BytesIO(data)))


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("name", sorted({*OF_LINES} - OF_LISTS))
def test_a_list_of_the_lines_of_any_format_is_read_as_these_lines(
    name: str, indent: int | None
) -> None:
    plain = json.loads(json.dumps(records(name)))
    data = json.dumps(plain, indent=indent).encode()
    assert is_listed(data)
    assert [json.loads(line) for line in rows(data).splitlines()] == plain
    read = [readings.told(one) for one in readings.read(rows(data))]
    assert read == [readings.told(one) for one in readings.read(SPECIMENS[name])]


@pytest.mark.parametrize("name", sorted(SPECIMENS))
def test_what_is_a_transcript_as_it_is_stays_as_it_is(name: str) -> None:
    assert not is_listed(SPECIMENS[name])
    if name in OF_LISTS:
        assert not is_listed(json.dumps(records(name)).encode())


def test_lists_of_anything_else_are_left_alone() -> None:
    for other in (b"[]", b"[1, 2]", b'[{"a": 1}]', b"[", b"", b"[[{}]]"):
        assert not is_listed(other)


SAID: list[Any] = [{"role": "user", "content": "a\n]"}, {"deep": [[], {"b": "},{"}]}]
WHOLE = b'{"role": "user", "content": "a\\n]"}\n{"deep": [[], {"b": "},{"}]}\n'


def test_elements_are_the_same_wherever_a_piece_of_the_file_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for mark in (b"", b"\xef\xbb\xbf", b"\r\n "):
        data = mark + json.dumps(SAID).encode() + b"\n"
        for size in range(1, 40):
            monkeypatch.setattr(source, "CHUNK", size)
            monkeypatch.setattr(windows, "WINDOW", size)
            assert rows(data).rstrip() == WHOLE.rstrip()


def test_a_list_that_breaks_off_loses_nothing() -> None:
    whole = json.dumps(SAID).encode()
    for end in range(1, len(whole)):
        made = rows(whole[:end]).replace(b"\n", b"")
        left = whole[1:end].replace(b"}, {", b"}{", 1)
        assert made.removeprefix(b"[").rstrip(b", ") == left.rstrip(b", "), end
    warned: list[Any] = []
    cut = io.BytesIO(rows(whole[:-20]))
    values = [value for _, value in source.records(cut, warned)]
    assert values == [SAID[0], source.BROKEN]


def test_what_is_behind_the_list_becomes_a_line_too() -> None:
    data = json.dumps(SAID).encode() + b'\n{"role": "user",\n"content": "b"}'
    assert rows(data) == WHOLE + b'{"role": "user",\t"content": "b"}'
