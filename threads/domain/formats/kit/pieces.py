"""Files of whole conversations: the objects in them, and items that are read when asked for.

Exports and data sets hold a conversation as one object: alone, in a list, in a member that
holds the list, or one a line. `objects` finds them by their place; `Items` reads one anew
each time it is iterated; `finish` says what was found.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import islice
from typing import BinaryIO, TypeVar, cast

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.io import source
from threads.domain.formats.io.source import BROKEN, Span
from threads.domain.formats.sample import ROWS, first_record
from threads.domain.message import Message
from threads.domain.part import JSON
from threads.domain.transcript import Event, Transcript, Warning

from .conversation import members_of

Opener = Callable[[], AbstractContextManager[BinaryIO]]
"""Gives a file to read in, for as long as it is needed."""
Key = TypeVar("Key", str, str | int)
EMPTY = 4
"""Bytes of the longest value that says nothing: `null`."""
Item = Message | Event
Reading = Callable[[BinaryIO, list[Warning]], Iterator[Item]]


def opened(file: BinaryIO) -> Opener:
    """The opener of a file that is open already, and stays so."""
    return lambda: nullcontext(file)


@dataclass(frozen=True, slots=True)
class Items:
    """The items of one conversation, read from its file each time they are iterated."""

    open: Opener
    read: Reading
    given: list[Warning] = field(default_factory=list)
    """What was found before the items are read."""
    warnings: list[Warning] = field(default_factory=list)

    def __iter__(self) -> Iterator[Item]:
        self.warnings[:] = self.given
        with self.open() as file:
            yield from self.read(file, self.warnings)


def objects(file: BinaryIO, holder: str, warnings: list[Warning]) -> Iterator[Span]:
    """The objects of a file, by their places: see the module.

    `holder` names the member that may hold the list. What can't be read on is a warning.
    """
    file.seek(0)
    if file.read(source.CHUNK).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        yield from (child.span for child in members_of(file, 0, warnings))
        return
    rows = [line.data or b"" for line in islice(source.lines(file), ROWS)]
    if len(rows) > 1 and first_record(rows) is not None:
        yield from (
            line.span
            for line, value in source.records(file, warnings)
            if value is not BROKEN
        )
        return
    members = list(members_of(file, 0, warnings))
    held = next((child.span for child in members if child.key == holder), None)
    if held is not None and opens_list(file, held):
        yield from (child.span for child in members_of(file, held.start, warnings))
    elif members:
        yield Span(0, members[-1].span.end + 1)


class Near:
    """A piece of a file in memory, read at the places it has in the file."""

    def __init__(self, data: bytes, start: int) -> None:
        self._data = data
        self._start = start
        self._place = 0

    def seek(self, place: int) -> int:
        """Go to a place of the file."""
        self._place = max(place - self._start, 0)
        return place

    def read(self, size: int) -> bytes:
        """As many bytes from there on, as far as the piece goes."""
        self._place += size
        return self._data[self._place - size : self._place]


def near(file: BinaryIO, span: Span) -> BinaryIO:
    """A file to look into a piece of it again and again; itself where the piece is too large."""
    size = span.end - span.start
    if size > source.MAX_PIECE:
        return file
    file.seek(span.start)
    return cast(BinaryIO, Near(file.read(size), span.start))


def value_of(file: BinaryIO, span: Span, warnings: list[Warning]) -> JSON:
    """The value of a piece, or None and one more warning where it can't be read."""
    try:
        return source.read_span(file, span)
    except Invalid as error:
        words = f"At byte {span.start:,}: {error.message}"
        warnings.append(Warning(error.code, words))
        return None


def others(members: Mapping[Key, Span], known: Container[str]) -> Iterator[Event]:
    """Members of an object that are no messages, as events; what says nothing is left out."""
    for name, span in members.items():
        if name not in known and span.end - span.start > EMPTY:
            yield Event(str(name) or "member", span.record)


def finish(
    found: Iterable[Transcript], skipped: list[Warning], label: str
) -> list[Transcript]:
    """The conversations of a file, the first with what was passed over as its warnings.

    Raises Invalid where there is none: by the first warning, or `no_messages`.
    """
    transcripts = list(found)
    if not transcripts and skipped:
        raise Invalid(skipped[0].message, code=skipped[0].code)
    if not transcripts:
        raise Invalid(f"This is {label}, but it holds no messages.", code="no_messages")
    items = transcripts[0].items
    if isinstance(items, Items):
        items.given.extend(skipped)
    transcripts[0].warnings[:] = skipped
    return transcripts


def opens_list(file: BinaryIO, span: Span) -> bool:
    """Whether the value at a place is a list."""
    file.seek(span.start)
    return file.read(1) == b"["
