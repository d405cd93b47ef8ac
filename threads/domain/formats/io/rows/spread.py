"""JSON Lines that a pretty printer has spread over more lines, each record on one line again.

So `jq .` writes them, and `json.tool --json-lines`. A record begins where a bracket opens at the
margin and the last line ended in one that closes: within JSON a comma stands between the two, and
no text holds a line break. The other line breaks become tabs: as blank between values, and as
wrong within a text.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

from threads.domain.formats.io import json_file, json_text, source

_MARGIN = re.compile(rb"\n(?=[{\[])")
_CLOSERS = (b"}", b"]")
_TABS = bytes.maketrans(b"\r\n", b"\t\t")


def first_lines(file: BinaryIO, head: bytes) -> bytes:
    """The first records, as many bytes as `head` has, the first of the file; empty if it is none.

    A file is none whose first record is longer than what is read of one.
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
    """Whether it is worth the time to look where records begin."""
    file.seek(0)
    before = b""
    while file.tell() < source.MAX_PIECE and (chunk := file.read(source.CHUNK)):
        if b"\n{" in before + chunk:
            return True
        before = chunk[-1:]
    return False


def lines(file: BinaryIO) -> Iterator[bytes]:
    """The records, a line each, in pieces that end anywhere."""
    file.seek(0)
    last = held = b""
    while chunk := file.read(source.CHUNK):
        chunk = held + chunk
        held = b"\n" if chunk.endswith(b"\n") else b""
        made = bytearray()
        for place, part in enumerate(_MARGIN.split(chunk.removesuffix(b"\n"))):
            if place:
                made += b"\n" if last in _CLOSERS else b"\t"
            made += part.translate(_TABS)
            last = part.rstrip()[-1:] or last
        yield bytes(made)
    yield b"\n"
