"""Pieces of JSON too long to be held are read with their long texts cut."""

import io
import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from threads.domain.formats.io import json_text, long_text, source
from threads.domain.formats.io.source import ByteSpan
from threads.domain.transcript import Warning

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def cut(data: bytes, most: int = 1 << 30) -> bytes:
    found = long_text.cut(io.BytesIO(data), 0, len(data), most)
    assert found is not None
    return found


@given(VALUES, st.integers(1, 7), st.booleans())
def test_what_has_no_long_text_passes_unchanged_however_it_is_chunked(
    value: Any, chunk: int, escapes: bool
) -> None:
    data = json.dumps(value, ensure_ascii=escapes).encode("utf-8", "surrogatepass")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_text, "_CHUNK", chunk)
        assert cut(data) == data


@given(st.text(), st.integers(1, 9), st.integers(1, 40), st.booleans())
def test_a_long_text_keeps_a_beginning_that_cuts_no_character(
    text: str, chunk: int, head: int, escapes: bool
) -> None:
    text = text.encode("utf-16", "replace").decode("utf-16") + " long enough " * 5
    said = {"before": [1, "a"], "text": text, "after": {"b": None}}
    data = json.dumps(said, ensure_ascii=escapes).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_text, "_CHUNK", chunk)
        patch.setattr(long_text, "HEAD", head)
        patch.setattr(long_text, "KEPT", 50)
        patch.setattr(long_text, "MAX_ENCODED_BYTES", 0)
        found = json_text.parse(cut(data))
    assert (found["before"], found["after"]) == (said["before"], said["after"])
    beginning, sentence = found["text"].split("\n\n[…", 1)
    assert text.startswith(beginning)
    assert sentence.endswith(" more bytes of this text are in the imported file.]")


def test_a_picture_is_kept_whole_up_to_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_text, "KEPT", 10)
    monkeypatch.setattr(long_text, "HEAD", 30)
    monkeypatch.setattr(long_text, "MAX_ENCODED_BYTES", 100)
    for start in ("", "data:image/png;base64,"):
        data = json.dumps(start + "aGVsbG8+" * 8).encode()
        assert cut(data) == data
    assert b"more bytes" in cut(json.dumps("aGVsbG8+" * 80).encode())
    assert b"more bytes" in cut(json.dumps("a, b, " * 20).encode())


def test_json_of_many_short_texts_is_refused_once_too_much_is_left() -> None:
    data = json.dumps(["short"] * 1000).encode()
    assert long_text.cut(io.BytesIO(data), 0, len(data), 500) is None


def test_a_text_that_the_end_cuts_stays_cut() -> None:
    assert cut(b'{"a": "begun') == b'{"a": "begun'
    assert long_text.cut(io.BytesIO(b'"x'), 0, 99, 99) == b'"x'


@pytest.fixture
def long_line(monkeypatch: pytest.MonkeyPatch) -> tuple[io.BytesIO, ByteSpan]:
    monkeypatch.setattr(long_text, "LONG", 200)
    monkeypatch.setattr(long_text, "KEPT", 100)
    monkeypatch.setattr(long_text, "HEAD", 20)
    line = json.dumps({"n": 2, "text": "many words " * 50}).encode() + b"\n"
    file = io.BytesIO(b'{"n": 1}\n' + line + b'{"n": 3}\n')
    return file, ByteSpan(9, 9 + len(line))


def test_a_long_line_is_read_with_the_others_and_by_its_place(
    long_line: tuple[io.BytesIO, ByteSpan],
) -> None:
    file, span = long_line
    warnings: list[Warning] = []
    read = [(line.span, value["n"]) for line, value in source.records(file, warnings)]
    assert [n for _, n in read] == [1, 2, 3] and read[1][0] == span
    window = source.Window(file)
    for value in (
        source.read_span(file, span),
        window.value(span),
        window.rough_value(span),
    ):
        assert value["text"].startswith("many words")
        assert value["text"].endswith(
            "more bytes of this text are in the imported file.]"
        )
    assert warnings == []
    assert long_text.cuts(file) == {9: 550 - 20}


def test_a_long_line_takes_a_fraction_of_its_size() -> None:
    size = 4 * long_text.LONG
    line = b'{"text": "' + b"many words " * (size // 11) + b'"}\n'
    file = io.BytesIO(line)
    tracemalloc.start()
    (read,) = source.records(file, [])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert read[0].span == ByteSpan(0, len(line))
    assert peak < size // 3


def test_a_file_that_ends_early_gives_what_there_is() -> None:
    data = b'{"content": "Hi"}'
    assert long_text.cut(io.BytesIO(data), 0, len(data) + 9, 100) == data


def test_one_with_too_much_left_is_given_up() -> None:
    data = b'["' + b'", "'.join([b"x"] * 400_000) + b'"]'
    assert long_text.cut(io.BytesIO(data), 0, len(data), 1 << 20) is None
    unclosed = b'"' + b"x" * 2000
    assert long_text.cut(io.BytesIO(unclosed), 0, len(unclosed), 1000) is None
