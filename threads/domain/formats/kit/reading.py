"""What parsers of records share: items read anew each time, rows of a file, refusals."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from io import SEEK_END
from itertools import chain, islice
from typing import Any, BinaryIO, NamedTuple

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.io import fields, source
from threads.domain.formats.io.folder import Member
from threads.domain.formats.io.source import BROKEN, Span
from threads.domain.formats.sample import ROWS, first_record
from threads.domain.message import Message, Role
from threads.domain.part import JSON
from threads.domain.transcript import Compaction, Event, Transcript, Warning

from . import titles

Item = Message | Event | Compaction
TITLE_WITHIN = 50
"""Messages among which a user's first words are looked for, to name a conversation."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The items of a conversation, made by a function each time they are iterated.

    The function is handed the list in which it puts its warnings; `given` are those from
    before.
    """

    make: Callable[[list[Warning]], Iterator[Item]]
    given: tuple[Warning, ...] = ()
    warnings: list[Warning] = field(default_factory=list)

    def __iter__(self) -> Iterator[Item]:
        self.warnings[:] = self.given
        yield from self.make(self.warnings)


class Row(NamedTuple):
    """A line of JSONL or an element of a list: its value (or `BROKEN`) and its place."""

    value: JSON
    span: Span
    line: int | None = None
    member: str = ""
    """The file of a folder that it lies in, where that isn't the transcript's own."""

    @property
    def record(self) -> str:
        """Its locator, as in `Message.records`."""
        place = f"{self.member}#" if self.member else ""
        return place + self.span.record


def conversation(
    reading: Reading, *, title: str = "", **members: Any
) -> Transcript | None:
    """The transcript of a reading, named by its user's first words where no title is known.

    None where not one message can be read.
    """
    messages = (item for item in reading if isinstance(item, Message))
    opening = islice(messages, TITLE_WITHIN)
    first = next(opening, None)
    if first is None:
        return None
    said = (one.text for one in chain([first], opening) if one.role is Role.USER)
    named = fields.one_line(title) or titles.of_texts(said)
    return Transcript(title=named, items=reading, warnings=reading.warnings, **members)


def conversations(
    found: Iterable[Transcript | None], label: str, warnings: Iterable[Warning] = ()
) -> list[Transcript]:
    """Those that hold messages. Raises Invalid, with the first warning's words, where none does."""
    kept = [transcript for transcript in found if transcript is not None]
    if kept:
        return kept
    for warning in warnings:
        raise Invalid(warning.message, code=warning.code)
    raise Invalid(f"This is {label}, but it holds no messages.", code="no_messages")


def attempt(
    make: Callable[[], Iterable[Item]], row: Row, warnings: list[Warning]
) -> Iterator[Item]:
    """What a row makes; an event and one more warning where it can't be read."""
    if row.value is BROKEN:
        yield Event("unreadable", row.record)
        return
    try:
        made = list(make())
    except Invalid as error:
        place = f"Line {row.line}" if row.line else f"At {row.record}"
        inner = f", {fields.spell(error.at)}" if error.at else ""
        words = f"{place}{inner}: {error.message}"
        warnings.append(Warning(error.code, words, row.line))
        made = [Event("unreadable", row.record)]
    yield from made


def is_lines(file: BinaryIO) -> bool:
    """Whether a file is JSON Lines; else it is one document."""
    first = [line.data or b"" for line in islice(source.lines(file), ROWS)]
    return first_record(first) is not None


def rows(file: BinaryIO, warnings: list[Warning]) -> Iterator[Row]:
    """The lines of a JSONL file, or the elements of the list that it is."""
    if not is_lines(file):
        yield from elements(file, 0, warnings)
        return
    for line, value in source.records(file, warnings):
        yield Row(value, line.span, line.number)


def one_object(file: BinaryIO) -> Span | None:
    """The place of the object that a file is; None where it holds several, or none."""
    if is_lines(file):
        found = list(islice(source.lines(file), 2))
        return found[0].span if len(found) == 1 else None
    for child in islice(pieces(file, 0, []), 1):
        if isinstance(child.key, str):
            return Span(0, file.seek(0, SEEK_END))
    return None


def objects(file: BinaryIO, warnings: list[Warning]) -> list[Span]:
    """The places of the objects that a file holds: its lines, its elements, or itself."""
    if (one := one_object(file)) is not None:
        return [one]
    if is_lines(file):
        return [line.span for line in source.lines(file)]
    return [child.span for child in pieces(file, 0, warnings)]


def elements(file: BinaryIO, start: int, warnings: list[Warning]) -> Iterator[Row]:
    """The elements of the list that begins here; nothing of another value."""
    for key, span in pieces(file, start, warnings):
        if isinstance(key, int):
            yield element(file, span, warnings)


def element(file: BinaryIO, span: Span, warnings: list[Warning]) -> Row:
    """One piece as a row; with `BROKEN` and one more warning where it can't be read."""
    try:
        return Row(source.read_span(file, span), span)
    except Invalid as error:
        words = f"At {span.record}: {error.message}"
        warnings.append(Warning(error.code, words))
        return Row(BROKEN, span)


def members(file: BinaryIO, start: int, warnings: list[Warning]) -> dict[str, Span]:
    """The places of an object's members; empty for another value."""
    found = pieces(file, start, warnings)
    return {key: span for key, span in found if isinstance(key, str)}


def pieces(
    file: BinaryIO, start: int, warnings: list[Warning]
) -> Iterator[source.Child]:
    """The members or elements of a container; a warning where it can't be read to its end."""
    try:
        yield from source.children(file, start)
    except Invalid as error:
        words = f"The file can't be read to its end. {error.message}"
        warnings.append(Warning(error.code, words))


def value_of(file: BinaryIO, span: Span | None) -> JSON:
    """The value of a piece; None where there is none or it can't be read."""
    if span is None:
        return None
    found = element(file, span, []).value
    return None if found is BROKEN else found


def reading_of(
    member: Member, make: Callable[[BinaryIO, list[Warning]], Iterator[Item]]
) -> Reading:
    """The items of one file of a folder, opened each time they are iterated."""

    def items(warnings: list[Warning]) -> Iterator[Item]:
        with member.open() as file:
            yield from make(file, warnings)

    return Reading(items)
