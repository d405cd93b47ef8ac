"""The items of a conversation: read again for each iteration, never held."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import BinaryIO

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.io import fields
from threads.domain.formats.io.json_file import EMPTY, Element
from threads.domain.formats.io.source import BROKEN, ByteSpan
from threads.domain.message import Message, Role
from threads.domain.part import Text
from threads.domain.transcript import Compaction, Event, Warning

Item = Message | Event | Compaction
Opener = Callable[[], AbstractContextManager[BinaryIO]]
"""Opens a file for as long as it is needed."""
Read = Callable[[list[Warning]], Iterator[Item]]
"""Reads the items, and appends warnings about what it could not read to the list."""
ReadFile = Callable[[BinaryIO, list[Warning]], Iterator[Item]]
"""Like `Read`, from a file."""


@dataclass(frozen=True, slots=True)
class Conversation(ABC):
    """The items of one conversation, and warnings about what could not be read."""

    given: list[Warning] = field(default_factory=list, kw_only=True)
    """Warnings found before the items are read."""
    warnings: list[Warning] = field(default_factory=list, kw_only=True)
    """All warnings; complete once the items have been iterated to the end."""

    def __iter__(self) -> Iterator[Item]:
        self.warnings[:] = self.given
        return self.items()

    @abstractmethod
    def items(self) -> Iterator[Item]:
        """The items in order; what could not be read goes into `warnings`."""


@dataclass(frozen=True, slots=True)
class Items(Conversation):
    """A conversation that a function reads."""

    read: Read

    def items(self) -> Iterator[Item]:
        """The items that the function reads."""
        return self.read(self.warnings)


def already_open(file: BinaryIO) -> Opener:
    """An opener for a file that is already open, and stays open."""
    return lambda: nullcontext(file)


def items_in(open_: Opener, read: ReadFile) -> Items:
    """The items in a file that is opened for each iteration."""

    def items(warnings: list[Warning]) -> Iterator[Item]:
        with open_() as file:
            yield from read(file, warnings)

    return Items(items)


def attempt(
    make: Callable[[], Iterable[Item]], row: Element, warnings: list[Warning]
) -> Iterator[Item]:
    """The items made from an element; an event and a warning if it can't be read."""
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


def member_events(
    members: Mapping[str, ByteSpan] | Mapping[str | int, ByteSpan],
    known: Container[str | int],
) -> Iterator[Event]:
    """Events for the members of an object that are not known; empty members are left out."""
    for name, span in members.items():
        if name not in known and span.end - span.start > EMPTY:
            yield Event(str(name) or "member", span.record)


def summary_compaction(hidden: set[int], words: str, row: Element) -> Compaction | None:
    """A record's summary in place of the messages it hides; None without a summary or messages."""
    if not hidden or not words:
        return None
    message = Message(role=Role.USER, parts=(Text(words),), records=(row.record,))
    return Compaction(
        replaces=tuple(sorted(hidden)),
        messages=(message,),
        record=row.record,
        created_at=fields.moment(fields.mapping(row.value).get("timestamp")),
    )
