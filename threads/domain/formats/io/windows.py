"""Finds many short pieces of a file at once: the lines of JSONL, the elements of a JSON array.

`source` finds one piece at a time and handles every case. This module is for files of many small
pieces, where the cost is in the steps per piece: it searches a window of the file in few steps.
What it can't handle (a piece longer than a window, deep nesting, broken JSON) is left to `source`,
so that both give the same pieces.
"""

import re
from collections.abc import Iterator
from io import SEEK_END, BytesIO
from itertools import islice
from typing import BinaryIO

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.part import JSON
from threads.domain.transcript import Warning

from . import json_text, source
from .json_text import parse_roughly
from .source import BROKEN, ByteSpan

Line = tuple[int, int, int, JSON]
"""Number (from 1), start, end and value of a line."""
Element = tuple[int | str, int, int, bytes | None]
"""Key, start, end and bytes of a member; no bytes if `source` has to read it."""

WINDOW = 128 << 10
"""Size in bytes; small enough for the processor's cache, which is faster than memory."""
_FLAT = re.compile(
    rb'\s*+(\{[^{}\[\]"]*+(?:' + json_text.STRING + rb'[^{}\[\]"]*+)*+\})\s*+([,\]])',
    re.DOTALL,
)
"""An object without nested objects or lists, and the delimiter after it."""
_BEGIN = re.compile(rb"\s*+([\[{])")
_NEXT = re.compile(
    rb'(?:[^"\[\]{}]++|' + json_text.STRING + rb")*+([\[\]{}])", re.DOTALL
)
_DELIMITER = re.compile(rb"\s*+([,\]])")


def records(file: BinaryIO) -> Iterator[Line]:
    """The lines of a file from its start, with their values; blank lines are left out.

    The value is the one that `source.read_line` returns, or `BROKEN`, except that it is not
    checked for values that orjson reads differently: a caller that keeps more than texts must
    check it with `json_text.is_exact`.
    """
    number = start = 0
    while True:
        file.seek(start)
        window = file.read(WINDOW)
        end = window.rfind(b"\n") + 1
        if not end:  # the last line, or one that is longer than a window
            rest = ByteSpan(start, file.seek(0, SEEK_END))
            if (line := next(source.lines(file, rest, number), None)) is None:
                return
            number, start = line.number, line.span.end
            yield number, *line.span, source.read_line(line, [])
            continue
        for piece in BytesIO(window[:end]):  # a list would overflow the cache
            number += 1
            after = start + len(piece)
            try:
                value = parse_roughly(piece)
            except ValueError:
                value = _value(piece)
            if value is not BROKEN or not piece.isspace():
                yield number, start, after, value
            start = after


def elements(file: BinaryIO, start: int = 0) -> Iterator[Element]:
    """The members of the container that begins at or after `start`, like `source.children`.

    Raises Invalid like that function.
    """
    index, place = 0, start
    file.seek(place)
    window = file.read(WINDOW)
    opening = _BEGIN.match(window)
    at = opening.end() if opening and opening[1] == b"[" else -1
    while at >= 0:
        found = _element(window, at)
        if found is None and at > 0:  # the window may end within it
            place += at
            file.seek(place)
            window, at = file.read(WINDOW), 0
            found = _element(window, at)
        if found is None:
            break
        begin, end, delimiter = found
        yield index, place + begin, place + end, window[begin:end]
        if delimiter == b"]":
            return
        index, at = index + 1, end + 1
    for child in islice(source.children(file, start), index, None):
        yield child.key, child.span.start, child.span.end, None


def read_again(
    file: BinaryIO, number: int, span: ByteSpan, warnings: list[Warning]
) -> JSON:
    """The value of a line that `records` found broken, read again; or `BROKEN` and a warning."""
    data = source.piece_at(file, span)
    return source.read_line(source.Line(number, span, data), warnings)


def _value(piece: bytes) -> JSON:
    try:
        return json_text.parse(piece)
    except Invalid:
        return BROKEN


def _element(window: bytes, at: int) -> tuple[int, int, bytes] | None:
    """Begin, end and delimiter of the object or list at `at`; None if it isn't complete."""
    if match := _FLAT.match(window, at):
        return match.start(1), match.start(2), match[2]
    begin = _BEGIN.match(window, at)
    end = _leave(window, begin.end()) if begin else None
    delimiter = _DELIMITER.match(window, end) if end else None
    if begin is None or delimiter is None:
        return None
    return begin.start(1), delimiter.start(1), delimiter[1]


def _leave(window: bytes, at: int) -> int | None:
    """The end of the container just entered; None if it is too deep or cut off."""
    depth = 1
    while depth:
        match = _NEXT.match(window, at)
        if match is None or depth >= json_text.MAX_DEPTH:
            return None
        depth += 1 if match[1] in b"[{" else -1
        at = match.end()
    return at
