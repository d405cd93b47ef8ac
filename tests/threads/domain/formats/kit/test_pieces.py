"""What whole conversations are read with."""

import io

import pytest

from threads.domain.formats.io import source
from threads.domain.formats.io.source import Span
from threads.domain.formats.kit import pieces


def test_a_piece_is_read_at_the_places_of_its_file() -> None:
    file = io.BytesIO(b'[{"a": [1, {"b": 2}]}, {"c": 3}]')
    near = pieces.near(file, Span(1, 21))

    [child] = source.children(near, 1)
    assert (child.key, source.read_span(near, child.span)) == ("a", [1, {"b": 2}])
    assert near.seek(0) == 0
    assert near.read(3) == b'{"a'


def test_a_piece_too_large_to_hold_is_read_in_its_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(source, "MAX_PIECE", 3)
    file = io.BytesIO(b'["long"]')

    assert pieces.near(file, Span(1, 7)) is file
