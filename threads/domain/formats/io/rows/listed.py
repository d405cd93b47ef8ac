"""Puts each element of a JSON list on a line of its own.

`jq -s .` and programs that collect a session's records in a list write such files. What follows
the last element that can be read becomes lines too, so that it is reported, and nothing is lost.
"""

from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from itertools import islice
from typing import BinaryIO

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.io import json_text, source, windows

EXAMINED = 20
"""How many elements are looked at to recognise a format: most lists are not of lines."""
_BETWEEN = b", \t\r\n"


def first_lines(head: bytes) -> bytes:
    """The first elements of a list that begins with `head`, one line each; else empty."""
    if not head.removeprefix(json_text.BOM).lstrip().startswith(b"["):
        return b""
    found = []
    with suppress(Invalid):  # it goes on behind the head
        for _, start, end, _ in islice(windows.elements(BytesIO(head)), EXAMINED):
            found.append(head[start:end].translate(json_text.AS_TABS))
    return b"\n".join(found)


def lines(file: BinaryIO) -> Iterator[bytes]:
    """The elements, one line each, in pieces that may end anywhere."""
    end = 0
    with suppress(Invalid):  # it breaks off
        for _, start, end, _ in windows.elements(file):
            yield from _pieces(file, start, end)
            yield b"\n"
    file.seek(end)
    rest = file.read(source.CHUNK).lstrip(_BETWEEN).removeprefix(b"]").lstrip()
    yield rest.translate(json_text.AS_TABS)
    yield from _pieces(file, file.tell())


def _pieces(file: BinaryIO, start: int, end: int | None = None) -> Iterator[bytes]:
    """The bytes of a span, or up to the end of the file, without line breaks."""
    while end is None or start < end:
        file.seek(start)
        size = source.CHUNK if end is None else min(source.CHUNK, end - start)
        if not (piece := file.read(size)):
            return
        start += len(piece)
        yield piece.translate(json_text.AS_TABS)
