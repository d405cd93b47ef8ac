"""Many pieces at once are the same pieces as one by one."""

import io
import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.strategies import json_values, texts
from threads.domain.formats.io import json_text, source, windows
from threads.domain.formats.io.source import BROKEN

blanks = st.sampled_from([b"", b" ", b"\n", b"\r\n\t"])
pieces = st.one_of(
    json_values.map(lambda value: json.dumps(value).encode()),
    texts.map(lambda text: json.dumps({"role": "user", "content": text}).encode()),
    st.binary(max_size=12).map(lambda data: data.replace(b"\n", b"")),
    st.sampled_from(
        [
            b"",
            b"  ",
            b'{"a":1}\r',
            b"18446744073709551616123",
            b"[" * 300 + b"]" * 300,
            b'{"a":[1]},{"b":2}',
            b"1,2",
            json_text.BOM + b"{}",
        ]
    ),
)


def one_by_one(data: bytes) -> list[tuple[int, int, int, Any]]:
    return [
        (line.number, *line.span, source.read_line(line, []))
        for line in source.lines(io.BytesIO(data))
    ]


def at_once(data: bytes) -> list[tuple[int, int, int, Any]]:
    file, found = io.BytesIO(data), []
    for number, start, end, value in windows.records(file):
        if value is BROKEN or not json_text.is_exact(value):
            value = windows.read_again(file, number, source.ByteSpan(start, end), [])
        found.append((number, start, end, value))
    return found


@settings(deadline=None)
@given(st.lists(pieces, max_size=8), st.booleans(), st.sampled_from([40, 1 << 20]))
@example([b"", b"{}", b"x"], True, 40)
@example([b"18446744073709551616123", b"1", b""], True, 1 << 20)
@example([b"[" * 300 + b"]" * 300, b"1"], True, 1 << 20)
@example([b'{"a":"' + b"x" * 100 + b'"}', b"", b"1", b"2"], True, 40)
def test_lines_are_those_of_source(found: list[bytes], ends: bool, size: int) -> None:
    data = b"\n".join(found) + (b"\n" if ends else b"")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(windows, "WINDOW", size)
        assert repr(at_once(data)) == repr(one_by_one(data))


def test_a_line_that_is_too_long_is_broken_and_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(windows, "WINDOW", 16)
    monkeypatch.setattr(source, "MAX_PIECE", 32)
    data = b'1\n"' + b"x" * 60 + b'"\n2\n'
    assert list(windows.records(io.BytesIO(data))) == [
        (1, 0, 2, 1),
        (2, 2, 65, BROKEN),
        (3, 65, 67, 2),
    ]


def children(data: bytes, start: int) -> tuple[list[Any], str]:
    found: list[Any] = []
    try:
        found.extend(source.children(io.BytesIO(data), start))
    except Invalid as error:
        return found, error.code
    return found, ""


def elements(data: bytes, start: int) -> tuple[list[Any], str]:
    found: list[Any] = []
    try:
        for key, begin, end, held in windows.elements(io.BytesIO(data), start):
            assert held is None or held == data[begin:end]
            found.append((key, (begin, end)))
    except Invalid as error:
        return found, error.code
    return found, ""


@settings(deadline=None)
@given(
    st.lists(st.tuples(blanks, pieces, blanks), max_size=6),
    st.sampled_from([(b"[", b"]"), (b"{", b"}"), (b"[", b"")]),
    st.sampled_from([24, 1 << 20]),
    st.sampled_from([b"", b" \n", b'{"messages": ']),
)
@example([(b"", b'{"a":"]},"}', b""), (b"", b"", b"")], (b"[", b"]"), 24, b"")
@example([(b"", b'{"a":[{"b":"}"}]}', b" ")] * 3, (b"[", b"]"), 24, b" ")
@example([(b"", b'{"a":1]', b" ")] * 3, (b"[", b"]"), 24, b" ")
def test_elements_are_those_of_source(
    found: list[tuple[bytes, bytes, bytes]],
    brackets: tuple[bytes, bytes],
    size: int,
    head: bytes,
) -> None:
    opening, closing = brackets
    data = head + opening + b",".join(b"".join(one) for one in found) + closing
    start = len(head) if head.strip() else 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(windows, "WINDOW", size)
        assert elements(data, start) == children(data, start)
