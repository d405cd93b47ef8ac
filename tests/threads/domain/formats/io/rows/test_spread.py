"""JSON Lines that went through a pretty printer, as the records that they are."""

import io
import json
from typing import Any

import pytest

from tests.threads.support import readings
from tests.threads.support.specimens import SPECIMENS
from threads.domain import formats
from threads.domain.formats.io import source
from threads.domain.formats.io.rows import spread
from threads.domain.formats.sample import HEAD


def printed(*records: Any, indent: int | str = 2, end: str = "\n") -> bytes:
    """What `jq .` writes of records."""
    made = "\n".join(json.dumps(one, indent=indent) for one in records) + "\n"
    return made.replace("\n", end).encode()


def is_spread(data: bytes) -> bool:
    return formats.is_pretty_printed(io.BytesIO(data), data[:HEAD])


def rows(data: bytes) -> bytes:
    return b"".join(spread.lines(io.BytesIO(data)))


def records(name: str) -> list[Any]:
    """The records of a specimen that is JSON Lines; of another, none."""
    try:
        found = [json.loads(line) for line in SPECIMENS[name].splitlines()]
    except ValueError:
        return []
    return found if len(found) > 1 else []


OF_LINES = [name for name in SPECIMENS if records(name)]


@pytest.mark.parametrize("name", OF_LINES)
def test_printed_lines_of_every_format_are_the_same_records(name: str) -> None:
    plain = json.loads(json.dumps(records(name)))
    data = printed(*plain)
    assert is_spread(data)
    assert [json.loads(line) for line in rows(data).splitlines()] == plain
    read = [readings.told(one) for one in readings.read(rows(data))]
    assert read == [readings.told(one) for one in readings.read(SPECIMENS[name])]


@pytest.mark.parametrize("name", OF_LINES)
def test_lines_as_they_are_written_are_left_as_they_are(name: str) -> None:
    assert not is_spread(SPECIMENS[name])


@pytest.mark.parametrize("name", sorted(SPECIMENS.keys() - set(OF_LINES)))
def test_a_document_is_never_taken_for_records(name: str) -> None:
    data = SPECIMENS[name]
    assert not is_spread(data)
    if data[:1] in (b"{", b"["):
        assert not is_spread(printed(json.loads(data)))


def test_documents_that_may_stand_on_lines_may_stand_behind_one_another() -> None:
    chats = [{"messages": [{"role": "user", "content": word}]} for word in ("a", "b")]
    assert is_spread(printed(*chats))
    read = readings.read(rows(printed(*chats)))
    assert [readings.texts(one) for one in read] == [["a"], ["b"]]


@pytest.mark.parametrize("name", ["zed", "amp", "contextstudio, exported"])
def test_documents_that_no_line_holds_are_left_to_who_reads_the_first(
    name: str,
) -> None:
    document = json.loads(SPECIMENS[name])
    assert not is_spread(printed(document, document))


SAID = [
    {"role": role, "content": f"{role}\n{{ }}\n["} for role in ("user", "assistant")
]


@pytest.mark.parametrize("indent", [0, 1, 4, "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf\n"])
def test_records_are_found_however_they_are_printed(
    indent: int | str, end: str, mark: bytes
) -> None:
    data = mark + printed(*SAID, indent=indent, end=end)
    assert is_spread(data)
    [read] = readings.read(rows(data))
    assert readings.texts(read) == [one["content"] for one in SAID]


def test_records_are_the_same_wherever_a_piece_of_the_file_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = printed(*SAID, {"list": [{}, []]}, *SAID, end="\r\n\n")
    whole = rows(data)
    for size in range(1, 40):
        monkeypatch.setattr(source, "CHUNK", size)
        assert rows(data) == whole
        assert is_spread(data)


def test_a_record_that_breaks_off_costs_no_other() -> None:
    first, second = printed(SAID[0]), printed(SAID[1])
    data = first + second[:-12] + b'"]}\n' + second + first[:20]
    warned: list[Any] = []
    values = [value for _, value in source.records(io.BytesIO(rows(data)), warned)]
    assert values == [SAID[0], source.BROKEN, SAID[1], source.BROKEN]
    assert [one.line for one in warned] == [2, 4]


def test_what_is_wrong_within_a_text_stays_wrong() -> None:
    data = b'{\n"role": "user", "content": "a\nb"\n}\n' + printed(*SAID)
    warned: list[Any] = []
    values = [value for _, value in source.records(io.BytesIO(rows(data)), warned)]
    assert values == [source.BROKEN, *SAID]


def test_a_first_record_that_is_too_long_to_be_read_is_not_looked_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = printed({"role": "user", "content": "a" * 9_000}, *SAID)
    monkeypatch.setattr(source, "CHUNK", 1_000)
    assert is_spread(data)
    monkeypatch.setattr(source, "MAX_PIECE", 5_000)
    assert not is_spread(data)
    listed = b'{"messages": [\n{"role": "user"},\n{}' + b", " * 9_000
    assert not is_spread(listed)


def test_lines_whose_first_is_broken_stay_lines() -> None:
    lines = b'{"role": "user", "cont\n' + b"".join(
        json.dumps(one).encode() + b"\n" for one in SAID
    )
    assert not is_spread(lines)
