"""UTF-16 as it comes: with or without a byte order mark, in either order, cut and damaged."""

import io

import pytest

from threads.domain.formats.io import utf_16

TEXT = '{"content": "größer als 😀"}\n' * 60_000


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_file_of_several_pieces_is_the_same_text(encoding: str) -> None:
    data = TEXT.encode(encoding)
    found = utf_16.encoding_of(data[:100])
    assert found
    assert b"".join(utf_16.pieces(io.BytesIO(data), found)).decode() == TEXT


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-32", "utf-32-le"])
def test_other_text_is_not_taken_for_it(encoding: str) -> None:
    assert utf_16.encoding_of(TEXT[:50].encode(encoding)) is None


@pytest.mark.parametrize("end", [b"\0", b"\0\xd8", b"\0\xd8a\0"])
def test_damaged_text_is_read_as_far_as_possible(end: bytes) -> None:
    data = io.BytesIO("[1]".encode("utf-16-le") + end)
    assert b"".join(utf_16.pieces(data, "utf-16-le")).decode().startswith("[1]\ufffd")
