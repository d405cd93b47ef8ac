"""Reads a file piece by piece: the lines of JSONL, the elements of a JSON document.

A file may be larger than memory, so it is never read whole, but one line or element at a time,
each by its place in the file. `MAX_PIECE` limits what is held at once.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.part import JSON
from threads.domain.transcript import Warning

from . import json_text, long_text

MAX_PIECE = 64 << 20
"""The most bytes held of one line or element, after its longest texts are cut (`long_text`)."""
CHUNK = 1 << 20
BROKEN = object()
"""Sentinel for the value of a line that could not be read; its warning says why."""

_TOKEN = re.compile(
    rb"\s*+(?:(" + json_text.STRING + rb'|[\[\]{},:])|([^\s"\[\]{},:]++))', re.DOTALL
)
_NESTED = re.compile(
    rb'(?:[^"\[\]{}]++|' + json_text.STRING + rb')*+([\[\]{}]|"|\Z)', re.DOTALL
)
"""Everything up to the next bracket, in one step: inside an element only depth matters.

It always matches, at the latest at the quote of a cut-off string, or at the end.
"""
_STEPS = {b"[": 1, b"{": 1, b"]": -1, b"}": -1}


class ByteSpan(NamedTuple):
    """A piece of a file: offsets in bytes, the end exclusive."""

    start: int
    end: int

    @property
    def record(self) -> str:
        """Its locator, as in `Message.records`."""
        return f"bytes:{self.start}-{self.end}"


class Line(NamedTuple):
    """A line that isn't blank; `data` is None if it is longer than `MAX_PIECE` even when cut."""

    number: int
    span: ByteSpan
    data: bytes | None


class Child(NamedTuple):
    """A member of a JSON object (by its key) or an element of an array (by its index)."""

    key: str | int
    span: ByteSpan


def lines(
    source: BinaryIO, span: ByteSpan | None = None, number: int = 0
) -> Iterator[Line]:
    """The lines of a file, or of a span of it that is preceded by `number` lines.

    Lines end in LF or CRLF; blank ones are left out. The file is read in chunks, with a seek
    before each, because the caller may read elsewhere in between. The first chunk is short,
    because often only the first lines are used.
    """
    start = offset = span.start if span else 0
    size, held = 0, list[bytes]()
    words: bytes | None
    while True:
        source.seek(offset)
        most = CHUNK if offset else CHUNK // 16 or 1
        chunk = source.read(min(most, span.end - offset) if span else most)
        offset += len(chunk)
        *ended, rest = chunk.split(b"\n") if chunk else [b""] * (1 + bool(size))
        for piece in ended:
            number += 1
            size += len(piece) + bool(chunk)
            if not is_long(size):
                words = (b"".join([*held, piece]) if held else piece).strip()
            else:
                words = piece_at(source, ByteSpan(start, start + size))
            if words is None or words:
                yield Line(number, ByteSpan(start, start + size), words)
            start, size, held = start + size, 0, []
        if not chunk:
            return
        size += len(rest)
        held = [*held, rest] if not is_long(size) else []


def records(source: BinaryIO, warnings: list[Warning]) -> Iterator[tuple[Line, JSON]]:
    """Each line with its JSON value, or with `BROKEN` and a warning."""
    for line in lines(source):
        yield line, read_line(line, warnings)


def read_line(line: Line, warnings: list[Warning]) -> JSON:
    """The JSON value of a line, or `BROKEN` and a warning."""
    if line.data is None:
        size = f"{line.span.end - line.span.start:,} bytes"
        words = (
            f"Line {line.number} is too long: {size}, at most {MAX_PIECE:,} are read."
        )
        warnings.append(Warning("line_too_long", words, line.number))
        return BROKEN
    try:
        return json_text.parse(line.data)
    except Invalid as error:
        words = f"Line {line.number} can't be read. {error.message}"
        warnings.append(Warning(error.code, words, line.number))
        return BROKEN


def read_span(source: BinaryIO, span: ByteSpan) -> JSON:
    """The JSON value of a piece. Raises Invalid, also if it is longer than `MAX_PIECE`."""
    data = piece_at(source, span)
    if data is None:
        raise too_long()
    return json_text.parse(data)


def is_long(size: int) -> bool:
    """Whether a piece of `size` bytes is read with its long texts cut."""
    return size > min(long_text.LONG, MAX_PIECE)


def piece_at(source: BinaryIO, span: ByteSpan) -> bytes | None:
    """The JSON text at a place, its long texts cut; None if it is still too long."""
    if is_long(span.end - span.start):
        return long_text.cut(source, *span, MAX_PIECE)
    source.seek(span.start)
    return source.read(span.end - span.start).strip()


class Window:
    """Reads pieces near one another from a buffer, without a read of the file for each."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._start = 0
        self._held = b""

    def value(self, span: ByteSpan) -> JSON:
        """The JSON value of a piece, as `read_span` returns it."""
        if is_long(span.end - span.start):
            return read_span(self._source, span)
        return json_text.parse(self.read(span).strip())

    def rough_value(self, span: ByteSpan) -> JSON:
        """The value of a piece that was found readable, read fast; see `json_text.is_exact`."""
        if is_long(span.end - span.start):
            return self.value(span)
        try:
            return json_text.parse_roughly(self.read(span))
        except ValueError:  # orjson refuses it, or the white space around it
            return self.value(span)

    def read(self, span: ByteSpan) -> bytes:
        """The bytes of a piece."""
        begin = span.start - self._start
        if begin < 0 or span.end > self._start + len(self._held):
            self._source.seek(span.start)
            self._held = self._source.read(max(CHUNK, span.end - span.start))
            self._start, begin = span.start, 0
        return self._held[begin : begin + span.end - span.start]


def too_long() -> Invalid:
    """The refusal of an element that is too long to hold in memory."""
    return Invalid(f"It is longer than {MAX_PIECE:,} bytes.", code="element_too_long")


def truncated() -> Invalid:
    """The refusal of JSON that breaks off."""
    return Invalid("It ends before it is complete.", code="json_truncated")


def children(source: BinaryIO, start: int = 0) -> Iterator[Child]:
    """The members or elements of the JSON container that begins at or after `start`.

    Only the structure is examined. Raises Invalid if the nesting is too deep, or if the file
    ends before the container does; by then everything before the end has been yielded,
    including a cut-off last piece. A byte order mark before the document is skipped.
    """
    scanner = _Scanner(source, start or _after_mark(source))
    index = 0
    key: str | None = None
    begin: int | None = None
    # Whether the last token of a value is a bracket or a quote: if the file ends, it is whole.
    is_closed = False
    opener, _ = scanner.next()
    if opener not in (b"[", b"{"):
        words = "It is neither a JSON object nor an array."
        raise Invalid(words, code="json_invalid") if opener else truncated()
    while True:
        token, place = scanner.next()
        if token in (b",", b"]", b"}", b""):
            is_named = key is not None or opener == b"["
            if begin is not None and is_named and (token or is_closed):
                yield Child(index if key is None else key, ByteSpan(begin, place))
            if not token:
                raise truncated()
            if token != b",":
                return
            index, key, begin = index + 1, None, None
        elif opener == b"{" and key is None:
            key = _key(token)
        elif token != b":":
            begin = place if begin is None else begin
            is_closed = token[:1] in b'[{"'
            if token in (b"[", b"{") and not scanner.leave():
                yield Child(index if key is None else key, ByteSpan(begin, scanner.end))
                raise truncated()


def end_of(source: BinaryIO, start: int = 0) -> int | None:
    """The end of the JSON container that begins at or after `start`; None if it doesn't end.

    Raises Invalid if the nesting is too deep.
    """
    scanner = _Scanner(source, start or _after_mark(source))
    scanner.next()
    return scanner.place if scanner.leave() else None


def _after_mark(source: BinaryIO) -> int:
    source.seek(0)
    mark = source.read(len(json_text.BOM))
    return len(mark) if mark == json_text.BOM else 0


def _key(token: bytes) -> str:
    try:
        value = json_text.parse(token)
    except Invalid:
        value = None
    return value if isinstance(value, str) else ""


class _Scanner:
    """Steps through the structure of a JSON text, with one chunk of it in memory."""

    def __init__(self, source: BinaryIO, start: int) -> None:
        self._source = source
        self._origin = start
        self._chunk = b""
        self._position = 0
        self._size = CHUNK
        self._is_last = False

    def next(self) -> tuple[bytes, int]:
        """The next string, bracket, separator or scalar, and its place in the file.

        The token is empty at the end of the file, and at a string that is cut off by it.
        """
        if (match := self._match(_TOKEN)) is None:
            return b"", self.end
        group = match.lastindex or 0
        return match[group], self._origin + match.start(group)

    def leave(self) -> bool:
        """Skip the rest of the container just entered; False if the file ends first."""
        depth = 1
        while True:
            start = self._position
            for match in _NESTED.finditer(self._chunk, start):
                step = _STEPS.get(match[1], 0)
                if not step:
                    self._position = match.start(1)
                    break
                depth += step
                if not depth:
                    self._position = match.end()
                    self._size = CHUNK
                    return True
                if depth >= json_text.MAX_DEPTH:
                    raise json_text.too_deep()
            if self._is_last:
                return False
            if self._position > start:
                self._size = CHUNK
            self._read_on()

    @property
    def place(self) -> int:
        """The current position in the file."""
        return self._origin + self._position

    @property
    def end(self) -> int:
        """The end of the current chunk: the end of the file once the last chunk is read."""
        return self._origin + len(self._chunk)

    def _match(self, pattern: re.Pattern[bytes]) -> re.Match[bytes] | None:
        """The token at the position; one that the end of the chunk may cut off is read again."""
        while True:
            match = pattern.match(self._chunk, self._position)
            cut = (
                match is not None
                and match.lastindex == 2
                and match.end() == len(self._chunk)
            )
            if match and (self._is_last or not cut):
                self._position = match.end()
                self._size = CHUNK
                return match
            if self._is_last:
                return None
            self._read_on()

    def _read_on(self) -> None:
        if self._size > 2 * MAX_PIECE:
            raise too_long()
        self._origin += self._position
        self._position = 0
        self._source.seek(self._origin)
        self._chunk = self._source.read(self._size)
        self._is_last = len(self._chunk) < self._size
        self._size *= 2
