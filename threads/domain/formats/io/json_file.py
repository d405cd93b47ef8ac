"""Access to a JSON file by place: its objects, their members, lists and values.

A container may be larger than memory, so only the places of what it holds are located, and a value
is read on request. Nothing here raises: what can't be read becomes a warning in the list that is
passed in.
"""

from collections.abc import Iterator, Mapping
from io import SEEK_END
from itertools import islice
from typing import Any, BinaryIO, NamedTuple, cast

from contextstudio.accounts.domain.errors import Invalid, Place
from threads.domain.part import JSON
from threads.domain.transcript import Warning

from . import fields, json_text, source
from .source import BROKEN, ByteSpan, Child

ROWS = 4
"""How many lines are read to distinguish JSON Lines from a document."""
EMPTY = 4
"""The length in bytes of the longest value that says nothing: `null`."""
Members = Mapping[str | int, ByteSpan]
"""Map of member name, or of index in a list, to its place."""


class Element(NamedTuple):
    """A line of JSON Lines, or an element or member of a document; its value may be `BROKEN`."""

    value: JSON
    span: ByteSpan
    line: int | None = None
    at: Place = ()
    """Its place in readable form, if it has one."""
    member: str = ""
    """The file of the folder that it is in, if that isn't the transcript's own."""

    @property
    def record(self) -> str:
        """Its locator, as in `Message.records`."""
        place = f"{self.member}#" if self.member else ""
        return place + self.span.record


# Containers


def children(file: BinaryIO, start: int, warnings: list[Warning]) -> Iterator[Child]:
    """The members or elements of the container at `start`, as far as it can be read."""
    try:
        yield from source.children(file, start)
    except Invalid as error:
        warn_of_end(error, warnings)


def warn_of_end(error: Invalid, warnings: list[Warning]) -> None:
    """Warn that a file breaks off, only once: all containers around that point break off too."""
    words = f"The file can't be read to its end. {error.message}"
    found = Warning(error.code, words)
    if found not in warnings:
        warnings.append(found)


def places(
    file: BinaryIO, span: ByteSpan, warnings: list[Warning]
) -> dict[str | int, ByteSpan]:
    """The places of a container's members by name, or of its elements by index."""
    return {child.key: child.span for child in children(file, span.start, warnings)}


def members(file: BinaryIO, start: int, warnings: list[Warning]) -> dict[str, ByteSpan]:
    """The places of an object's members; empty for any other value."""
    found = children(file, start, warnings)
    return {key: span for key, span in found if isinstance(key, str)}


def elements(file: BinaryIO, start: int, warnings: list[Warning]) -> Iterator[Element]:
    """The elements of the list at `start`; nothing for any other value."""
    for key, span in children(file, start, warnings):
        if isinstance(key, int):
            yield element(file, span, warnings)


def named_elements(
    file: BinaryIO, span: ByteSpan, at: Place, warnings: list[Warning]
) -> Iterator[Element]:
    """The elements of the list at a place, each with its own place in readable form."""
    for child in children(file, span.start, warnings):
        place = (*at, child.key)
        yield Element(value(file, child.span, place, warnings), child.span, at=place)


def is_list(file: BinaryIO, span: ByteSpan) -> bool:
    """Whether a list begins at a place."""
    file.seek(span.start)
    return file.read(1 << 10).lstrip().startswith(b"[")


# Values


def element(file: BinaryIO, span: ByteSpan, warnings: list[Warning]) -> Element:
    """The element at a place; its value is `BROKEN`, with a warning, if it can't be read."""
    return Element(value(file, span, (span.record,), warnings), span)


def value(file: BinaryIO, span: ByteSpan, at: Place, warnings: list[Warning]) -> JSON:
    """The value at a place; `BROKEN`, with a warning that names `at`, if it can't be read."""
    try:
        return source.read_span(file, span)
    except Invalid as error:
        warnings.append(warning(error, at or (f"byte {span.start:,}",)))
        return BROKEN


def member(
    file: BinaryIO, found: Members, name: str, warnings: list[Warning]
) -> Element:
    """The member `name`, which must exist."""
    span, at = found[name], (name,)
    return Element(value(file, span, at, warnings), span, at=at)


def known_value(file: BinaryIO, span: ByteSpan, warnings: list[Warning]) -> JSON:
    """The value at a place; None, with a warning, if it can't be read."""
    found = value(file, span, (), warnings)
    return None if found is BROKEN else found


def get(file: BinaryIO, found: Mapping[str, ByteSpan] | Members, *names: str) -> JSON:
    """The value of the first of these members that exists; None if there is none readable."""
    for name in names:
        if span := found.get(name):
            return known_value(file, span, [])
    return None


def warning(error: Invalid, at: Place = ()) -> Warning:
    """The warning for a piece that was not read."""
    place = fields.spell(error.at or at)
    words = f"At {place}: {error.message}" if place else error.message
    return Warning(error.code, words)


# Files: lines or documents


def first_record(rows: list[bytes]) -> dict[str, Any] | None:
    """The first object on the first lines of JSON Lines; None for a document that spans lines.

    If the first line is broken, two others must be whole: in a document with one element per
    line, one line has no comma after it.
    """
    values = map(_parsed_object, rows)
    if (first := next(values, None)) is not None:
        return first
    found = [value for value in values if value is not None]
    return found[0] if len(found) > 1 else None


def are_lists(rows: list[bytes]) -> bool:
    """Whether each of the first lines is a list, and not part of a document that spans lines."""
    found = [parsed(row) for row in rows[:2] if row.lstrip(json_text.BOM)[:1] == b"["]
    return len(found) == 2 and all(isinstance(one, list) for one in found)


def _parsed_object(row: bytes) -> dict[str, Any] | None:
    """The object on a line; None for anything else. A list on one line is not parsed."""
    if not row.strip().removeprefix(json_text.BOM).lstrip().startswith(b"{"):
        return None
    value = parsed(row)
    return value if isinstance(value, dict) else None


def parsed(data: bytes) -> JSON:
    """The value of JSON text; None if it isn't JSON."""
    try:
        return json_text.parse(data.strip())
    except Invalid:
        return None


def first_lines(file: BinaryIO) -> list[bytes]:
    """The lines that distinguish JSON Lines from a document; none for a list on one line."""
    file.seek(0)
    head = file.read(1 << 10).removeprefix(json_text.BOM).lstrip()
    if head.startswith(b"[") and is_one_line(file):
        return []
    return [line.data or b"" for line in islice(source.lines(file), ROWS)]


def is_one_line(file: BinaryIO) -> bool:
    """Whether a long file is a single line, which would be slow to read as one piece."""
    file.seek(0)
    head = file.read(source.CHUNK)
    if len(head) < source.CHUNK or b"\n" in head.rstrip():
        return False
    ended = b"\n" in head
    while chunk := file.read(source.CHUNK):
        after = chunk if ended else chunk.partition(b"\n")[2]
        if after.strip():
            return False
        ended = ended or b"\n" in chunk
    return True


def is_lines(file: BinaryIO, least: int = 1) -> bool:
    """Whether a file is JSON Lines, with at least `least` lines, rather than one document."""
    if least > 1 and is_one_line(file):
        return False
    rows = first_lines(file)
    return len(rows) >= least and first_record(rows) is not None


def lines(file: BinaryIO, warnings: list[Warning]) -> Iterator[Element]:
    """The lines of a file as elements."""
    for line, read in source.records(file, warnings):
        yield Element(read, line.span, line.number, ("line", line.number))


def rows(file: BinaryIO, warnings: list[Warning]) -> Iterator[Element]:
    """The lines of JSON Lines, or the elements if the file is one list."""
    found = lines(file, warnings) if is_lines(file) else elements(file, 0, warnings)
    yield from found


def whole(file: BinaryIO) -> ByteSpan:
    """The place of the whole content of a file, without a byte order mark."""
    file.seek(0)
    start = len(json_text.BOM) if file.read(3) == json_text.BOM else 0
    return ByteSpan(start, file.seek(0, SEEK_END))


def one_object(file: BinaryIO) -> ByteSpan | None:
    """The place of a file's only object; None if the file holds several objects, or none."""
    if is_lines(file):
        found = list(islice(source.lines(file), 2))
        return found[0].span if len(found) == 1 else None
    for child in islice(children(file, 0, []), 1):
        if isinstance(child.key, str):
            return ByteSpan(0, file.seek(0, SEEK_END))
    return None


def objects(file: BinaryIO, warnings: list[Warning]) -> list[ByteSpan]:
    """The places of the objects in a file: its lines, its elements, or the file itself."""
    if (one := one_object(file)) is not None:
        return [one]
    found = source.lines(file) if is_lines(file) else children(file, 0, warnings)
    return [piece.span for piece in found]


def held_objects(
    file: BinaryIO, holder: str, warnings: list[Warning]
) -> Iterator[ByteSpan]:
    """The places of the objects in a file, or in the list that its member `holder` is.

    Lines that can't be read are left out.
    """
    file.seek(0)
    if file.read(source.CHUNK).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        yield from (child.span for child in children(file, 0, warnings))
        return
    if is_lines(file, 2):
        for line in lines(file, warnings):
            if line.value is not BROKEN:
                yield line.span
        return
    found = list(children(file, 0, warnings))
    held = next((child.span for child in found if child.key == holder), None)
    if held is not None and is_list(file, held):
        yield from (child.span for child in children(file, held.start, warnings))
    elif found:
        yield ByteSpan(0, found[-1].span.end + 1)


def documents(file: BinaryIO, warnings: list[Warning]) -> Iterator[ByteSpan]:
    """The places of a file's documents: itself, the elements of its list, or its lines' objects."""
    place = whole(file)
    if is_lines(file, 2):
        for line in lines(file, warnings):
            if isinstance(line.value, dict):
                yield line.span
    elif is_list(file, place):
        for child in children(file, place.start, warnings):
            yield child.span
    else:
        yield place


_MEETING = (b"}{", b"}\n{", b"}\n\n{", b"}\r\n{", b"][", b"]\n[")
"""What separates two documents; inside a document it occurs only in texts."""


def second_document(file: BinaryIO) -> int | None:
    """Where another document begins after the first one of a file; None if none does.

    The search runs only if brackets meet as they do between documents, because finding the end
    of the first one takes as long as parsing.
    """
    file.seek(0)
    head = file.read(1 << 10).removeprefix(json_text.BOM).lstrip()
    if head[:1] not in (b"{", b"[") or not _brackets_meet(file) or is_lines(file):
        return None
    try:
        end = source.end_of(file)
    except Invalid:
        return None
    if end is None:
        return None
    file.seek(end)
    behind = file.read(1 << 10)
    return end + len(behind) - len(behind.lstrip()) if behind.strip() else None


def _brackets_meet(file: BinaryIO) -> bool:
    file.seek(0)
    kept = b""
    while chunk := file.read(source.CHUNK):
        seen = kept + chunk
        if any(meeting in seen for meeting in _MEETING):
            return True
        kept = chunk[-4:]
    return False


# A piece that is accessed repeatedly


class _InMemory:
    """A piece of a file in memory, addressed by offsets in the file."""

    def __init__(self, data: bytes, start: int) -> None:
        self._data = data
        self._start = start
        self._place = 0

    def seek(self, place: int) -> int:
        self._place = max(place - self._start, 0)
        return place

    def read(self, size: int) -> bytes:
        self._place += size
        return self._data[self._place - size : self._place]


def in_memory(file: BinaryIO, span: ByteSpan) -> BinaryIO:
    """A file object that serves a piece of the file from memory; the file if it is too large."""
    if span.end - span.start > source.MAX_PIECE:
        return file
    file.seek(span.start)
    return cast(BinaryIO, _InMemory(file.read(span.end - span.start), span.start))
