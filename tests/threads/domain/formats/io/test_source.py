"""The pieces of a file are found without reading it whole."""

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.strategies import json_values
from threads.domain.formats.io import source
from threads.domain.formats.io.source import BROKEN, ByteSpan
from threads.domain.transcript import Warning


def pieces(data: bytes) -> list[tuple[str | int, Any]]:
    file = io.BytesIO(data)
    return [(c.key, source.read_span(file, c.span)) for c in source.children(file)]


@settings(deadline=None)
@given(
    st.lists(json_values, max_size=4)
    | st.dictionaries(st.text("abc", max_size=2), json_values),
    st.sampled_from([None, 1]),
    st.integers(1, 9),
)
def test_the_children_are_the_document_s_own(
    value: Any, indent: int | None, chunk: int
) -> None:
    data = b" " + json.dumps(value, indent=indent).encode() + b"\n"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "CHUNK", chunk)
        found = pieces(data)

    whole = json.loads(data)
    assert found == list(whole.items() if isinstance(whole, dict) else enumerate(whole))


def test_a_byte_order_mark_is_passed_over() -> None:
    assert pieces(b'\xef\xbb\xbf{"a": [1]}') == [("a", [1])]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "json_truncated"),
        (b"3", "json_invalid"),
        (b"[1, 2", "json_truncated"),
        (b'["a', "json_truncated"),
        (b"[" * 300, "json_too_deep"),
    ],
)
def test_what_is_no_whole_container_is_refused(data: bytes, code: str) -> None:
    with pytest.raises(Invalid) as refusal:
        list(source.children(io.BytesIO(data)))

    assert refusal.value.code == code


def test_the_last_piece_of_a_cut_container_is_given() -> None:
    data = b'{"a": 1, "b": [{"c": 2}, {'
    found = source.children(io.BytesIO(data))

    assert [next(found), next(found)] == [
        ("a", ByteSpan(6, 7)),
        ("b", ByteSpan(14, len(data))),
    ]
    with pytest.raises(Invalid):
        next(found)


@pytest.mark.parametrize(
    ("data", "whole"),
    [
        (b'{"a": [1], "b": [2, [3]]', [("a", [1]), ("b", [2, [3]])]),
        (b'{"a": [1], "b": [2]  \n', [("a", [1]), ("b", [2])]),
        (b'[{"c": 1}, "two"', [(0, {"c": 1}), (1, "two")]),
        (b'[{"c": 1}, 12', [(0, {"c": 1})]),
        (b'{"a": 1, "b"', [("a", 1)]),
        (b'{"a": 1, "b":', [("a", 1)]),
    ],
)
def test_a_last_piece_that_is_whole_is_given_though_its_container_is_cut(
    data: bytes, whole: list[Any]
) -> None:
    file, found = io.BytesIO(data), []
    with pytest.raises(Invalid, match="ends before it is complete"):
        for key, span in source.children(file):
            found.append((key, source.read_span(file, span)))
    assert found == whole


def test_a_key_that_is_no_text_is_an_empty_one() -> None:
    assert pieces(b'{3: 1, "\\x": 2}') == [("", 1), ("", 2)]


def test_what_is_too_long_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MAX_PIECE", 10)
    monkeypatch.setattr(source, "CHUNK", 4)

    with pytest.raises(Invalid, match="longer than 10 bytes"):
        pieces(b'[["a", "b", "c"]]')
    with pytest.raises(Invalid, match="longer than 10 bytes"):
        pieces(b'["' + b"x" * 99 + b'"]')


def test_lines_have_numbers_and_places() -> None:
    data = b"\xef\xbb\xbf{}\r\n\n  \n[1]\n2"
    found = list(source.lines(io.BytesIO(data)))

    assert [
        (line.number, data[line.span.start : line.span.end].strip()) for line in found
    ] == [
        (1, b"\xef\xbb\xbf{}"),
        (4, b"[1]"),
        (5, b"2"),
    ]


def test_a_line_that_is_too_long_is_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(source, "MAX_PIECE", 10)
    monkeypatch.setattr(source, "CHUNK", 4)
    warnings: list[Warning] = []
    data = b"[1]\n" + b"x" * 99 + b"\n[2]\n" + b"y" * 99
    values = [value for _, value in source.records(io.BytesIO(data), warnings)]

    assert values == [[1], BROKEN, [2], BROKEN]
    assert [(warning.code, warning.line) for warning in warnings] == [
        ("line_too_long", 2),
        ("line_too_long", 4),
    ]


def test_pieces_near_one_another_are_read_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(source, "CHUNK", 8)
    data = b'[1]\n\x0c[2]\x0c\n"a long piece"\n[4]'
    window = source.Window(io.BytesIO(data))
    spans = [line.span for line in source.lines(io.BytesIO(data))]

    for read in (window.value, window.rough_value):
        assert [read(span) for span in spans] == [[1], [2], "a long piece", [4]]
        assert read(spans[0]) == [1]
    monkeypatch.setattr(source, "MAX_PIECE", 4)
    with pytest.raises(Invalid, match="longer than 4 bytes"):
        window.value(spans[2])
