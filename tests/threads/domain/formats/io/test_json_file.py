"""Files looked into by places: objects, elements, and pieces that are held in memory."""

import io
import json

import pytest

from threads.domain.formats.io import json_file, source
from threads.domain.formats.io.source import BROKEN, ByteSpan
from threads.domain.transcript import Warning


def test_an_object_that_spans_lines_is_one_row() -> None:
    raw = json.dumps({"a": [1], "b": 2}, indent=1).encode()

    assert json_file.objects(io.BytesIO(raw), []) == [ByteSpan(0, len(raw))]


def test_an_element_that_is_no_json_is_broken_with_a_warning() -> None:
    warnings: list[Warning] = []
    file = io.BytesIO(b"[1, tru, 3]")
    found = list(json_file.elements(file, 0, warnings))

    assert [row.value for row in found] == [1, BROKEN, 3]
    assert [warning.code for warning in warnings] == ["json_invalid"]
    assert json_file.known_value(file, found[1].span, []) is None
    assert json_file.get(file, {}, "a") is None


def test_a_piece_is_read_at_the_places_of_its_file() -> None:
    file = io.BytesIO(b'[{"a": [1, {"b": 2}]}, {"c": 3}]')
    near = json_file.in_memory(file, ByteSpan(1, 21))

    [child] = source.children(near, 1)
    assert (child.key, source.read_span(near, child.span)) == ("a", [1, {"b": 2}])
    assert near.seek(0) == 0
    assert near.read(3) == b'{"a'


def test_a_piece_too_large_to_hold_is_read_in_its_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(source, "MAX_PIECE", 3)
    file = io.BytesIO(b'["long"]')

    assert json_file.in_memory(file, ByteSpan(1, 7)) is file


@pytest.mark.parametrize(
    ("data", "behind"),
    [
        (b'{"a": 1}{"b": 2}', 8),
        (b'\xef\xbb\xbf{\n "a": 1\n}\n\n{\n "b": 2\n}', 16),
        (b"[1][2]", 3),
        (b'{"a": 1}\n{"b": 2}\n', None),  # JSON Lines
        (b'{"a": "}{"}\n', None),
        (b'{"a": "}{"', None),
        (b'{"a": tru, "b": "}{" ', None),
        (b"[" * 300 + b"}{", None),
        (b"Text with }{ in it", None),
        (b'{"a": 1}', None),
    ],
)
def test_a_document_behind_the_first_is_found(data: bytes, behind: int | None) -> None:
    assert json_file.second_document(io.BytesIO(data)) == behind


def test_brackets_that_meet_where_two_chunks_do_are_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(source, "CHUNK", 8)
    assert json_file.second_document(io.BytesIO(b'{"a": 1}{"b": 2}')) == 8
