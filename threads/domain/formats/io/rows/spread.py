"""Puts each record of pretty-printed JSON Lines on one line again.

`jq .` and `json.tool --json-lines` write such files. A record begins where a line starts with an
opening bracket and the line before it ended in a closing one: inside JSON there is a comma between
the two, and no text contains a line break. All other line breaks become tabs, which are just as
blank between values, and just as invalid inside a text.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

from threads.domain.formats.io import json_file, json_text, source

_MARGIN = re.compile(rb"\n(?=[{\[])")
_CLOSERS = (b"}", b"]")


def first_lines(file: BinaryIO, head: bytes) -> bytes:
    """The first records of a file that begins with `head`, as many bytes as `head` has.

    Empty if the file's records aren't spread over lines, or if the first is too long to read.
    """
    first, end, _ = head.removeprefix(json_text.BOM).lstrip().partition(b"\n")
    if not (end and first.startswith(b"{")) or first.rstrip().endswith(_CLOSERS):
        return b""
    if not _opens_at_margin(file) or json_file.is_lines(file):
        return b""
    found, size, is_spread = b"", 0, False
    for piece in lines(file):
        found += piece[: len(head) - len(found)]
        size += len(piece)
        is_spread = is_spread or b"\n" in piece.rstrip()
        if size > source.MAX_PIECE or (is_spread and len(found) == len(head)):
            break
    return found if is_spread else b""


def _opens_at_margin(file: BinaryIO) -> bool:
    """A quick check: whether any line starts with an opening brace."""
    file.seek(0)
    before = b""
    while file.tell() < source.MAX_PIECE and (chunk := file.read(source.CHUNK)):
        if b"\n{" in before + chunk:
            return True
        before = chunk[-1:]
    return False


def lines(file: BinaryIO) -> Iterator[bytes]:
    """The records, one line each, in pieces that may end anywhere."""
    file.seek(0)
    last = held = b""
    while chunk := file.read(source.CHUNK):
        chunk = held + chunk
        held = b"\n" if chunk.endswith(b"\n") else b""
        made = bytearray()
        for place, part in enumerate(_MARGIN.split(chunk.removesuffix(b"\n"))):
            if place:
                made += b"\n" if last in _CLOSERS else b"\t"
            made += part.translate(json_text.AS_TABS)
            last = part.rstrip()[-1:] or last
        yield bytes(made)
    yield b"\n"
