"""Reading JSON files member by member: what the readers of whole documents have in common.

A file is one document, a list of documents, or JSON Lines of them. Each is looked into by
the places of its members, so that only one step or message is held at a time.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from io import SEEK_END
from itertools import islice
from typing import BinaryIO, NamedTuple, Protocol, TypeVar

from contextstudio.accounts.domain.errors import Invalid, Place
from threads.domain.formats.io import fields, json_text, source
from threads.domain.formats.io.source import BROKEN, Span
from threads.domain.formats.sample import ROWS, first_record
from threads.domain.message import Message
from threads.domain.part import JSON
from threads.domain.transcript import Compaction, Event, Transcript, Warning

Members = Mapping[str | int, Span]
OPENING = 50
"""Messages among which a user's first words are looked for, to name a conversation."""


class Conversation(Protocol):
    """A conversation that is read while it is iterated, and what could not be read of it."""

    @property
    def warnings(self) -> list[Warning]:
        """Complete once the items were iterated to the end."""

    def __iter__(self) -> Iterator[Message | Event]:
        """The items in their order, each time anew."""


Given = TypeVar("Given", bound=Conversation)


class Piece(NamedTuple):
    """A piece of a file, parsed (or `BROKEN`), and how people call its place."""

    value: JSON
    span: Span
    at: Place


def documents(file: BinaryIO, warnings: list[Warning]) -> Iterator[Span]:
    """The places of a file's documents: itself, the objects of a list, or the lines."""
    rows = [line.data or b"" for line in islice(source.lines(file), ROWS)]
    place = whole(file)
    if len(rows) > 1 and first_record(rows) is not None:
        for line, value in source.records(file, warnings):
            if isinstance(value, dict):
                yield line.span
    elif is_list(file, place):
        for child in pieces(file, place, warnings):
            yield child.span
    else:
        yield place


def whole(file: BinaryIO) -> Span:
    """The place of all that a file holds, a byte-order mark left out."""
    file.seek(0)
    start = len(json_text.BOM) if file.read(3) == json_text.BOM else 0
    return Span(start, file.seek(0, SEEK_END))


def is_list(file: BinaryIO, span: Span) -> bool:
    """Whether a list begins at a place."""
    file.seek(span.start)
    return file.read(1 << 10).lstrip().startswith(b"[")


def members(file: BinaryIO, span: Span, warnings: list[Warning]) -> Members:
    """The places of a container's members or elements, as far as they can be found."""
    return {child.key: child.span for child in pieces(file, span, warnings)}


def pieces(
    file: BinaryIO, span: Span, warnings: list[Warning]
) -> Iterator[source.Child]:
    """The members of the container at a place; a warning where it can't be read on."""
    try:
        yield from source.children(file, span.start)
    except Invalid as error:
        words = f"The file can't be read to its end. {error.message}"
        warnings.append(Warning(error.code, words))


def value(file: BinaryIO, span: Span, at: Place, warnings: list[Warning]) -> JSON:
    """The value at a place, or `BROKEN` and one more warning."""
    try:
        return source.read_span(file, span)
    except Invalid as error:
        warnings.append(warning(error, at))
        return BROKEN


def get(file: BinaryIO, found: Members, *names: str) -> JSON:
    """The value of the first of these members that is there; None where it can't be read."""
    for name in names:
        if name in found:
            read = value(file, found[name], (name,), [])
            return None if read is BROKEN else read
    return None


def elements(
    file: BinaryIO, span: Span, at: Place, warnings: list[Warning]
) -> Iterator[Piece]:
    """The elements of the list at a place, one after the other."""
    for child in pieces(file, span, warnings):
        place = (*at, child.key)
        yield Piece(value(file, child.span, place, warnings), child.span, place)


def warning(error: Invalid, at: Place = ()) -> Warning:
    """What to say of a piece that was not read."""
    place = fields.spell(error.at or at)
    return Warning(
        error.code, f"At {place}: {error.message}" if place else error.message
    )


def conversations(
    found: Iterable[Given],
    skipped: list[Warning],
    transcript: Callable[[Given, list[Message]], Transcript],
) -> list[Transcript]:
    """A transcript of each conversation that holds messages, made of it and of its first ones.

    `skipped` is what could not be read while they were found. Raises Invalid where none has any.
    """
    transcripts = []
    for items in found:
        if first := opening(items):
            transcripts.append(transcript(items, first))
        else:
            skipped.extend(items.warnings)
    if not transcripts:
        raise refusal(skipped)
    return transcripts


def opening(items: Iterable[Message | Event | Compaction]) -> list[Message]:
    """The first messages of a conversation; empty where it has none."""
    found = (item for item in items if isinstance(item, Message))
    return list(islice(found, OPENING))


def refusal(warnings: list[Warning]) -> Invalid:
    """Why a file without any message is refused: the first thing that broke, or just that."""
    if warnings:
        return Invalid(warnings[0].message, code=warnings[0].code)
    return Invalid("This file holds no messages.", code="no_messages")
