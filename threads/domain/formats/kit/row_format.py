"""Formats whose conversations are rows that are read one after the other.

The rows are the lines of JSON Lines, the elements of a list, or the elements of a list in a member
of an object. Formats differ in what a row says, so each is a `RowFormat` with a reader, which is
created for every reading and takes the rows in order.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, BinaryIO, Protocol

from threads.domain.formats.format import Format, Score
from threads.domain.formats.io import fields, json_file
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.io.source import ByteSpan
from threads.domain.transcript import Event, Transcript, Warning

from .items import Item, Items, attempt, member_events
from .transcripts import (
    TITLE_WITHIN,
    first_messages,
    require_transcripts,
    transcript_of,
)


class RowReader(Protocol):
    """Makes items from rows; items that it holds back come with a later row, or with `rest`."""

    def take(self, row: Element) -> Iterable[Item]:
        """The items made from a row. Raises Invalid if it isn't in the format."""

    def rest(self) -> Iterable[Item]:
        """The items still held after the last row."""


@dataclass(frozen=True, slots=True)
class StatelessReader:
    """Reads every row by itself."""

    read: Callable[[Element], Iterable[Item]]

    def take(self, row: Element) -> Iterable[Item]:
        """The items that the function makes from the row."""
        return self.read(row)

    def rest(self) -> Iterable[Item]:
        """Empty: no row is held back."""
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFormat:
    """How the rows of one format make a conversation."""

    name: str
    label: str
    score: Score
    reader: Callable[[], RowReader]
    lists: tuple[str, ...] = ()
    """Members that hold the rows if a file is an object; the first that exists is used."""
    known: Callable[[list[dict[str, Any]]], dict[str, Any]] | None = None
    """What the object, or the first rows of a list, tell: `title`, `external_id`, `model`."""
    strategy: str = "openai"
    gather: Any = None

    @property
    def format(self) -> Format:
        """This as an entry for the detector."""
        return Format(self.name, self.label, self.score, self.read, gather=self.gather)

    def read(self, file: BinaryIO, _name: str) -> list[Transcript]:
        """The conversation of a file. Raises Invalid if it holds no message."""
        items = Items(partial(self.items, file))
        found = self.transcript(items, self._first(file))
        return require_transcripts([found], items.warnings, self.label)

    def transcript(
        self, items: Items, first: list[dict[str, Any]], **given: Any
    ) -> Transcript | None:
        """The conversation of these items; None if they hold no message."""
        said = self.known(first) if self.known else {}
        said = {name: value for name, value in {**said, **given}.items() if value}
        if "model" not in said:
            models = (message.model for message in first_messages(items))
            said["model"] = next(filter(None, models), "")
        return transcript_of(
            items, format=self.name, **{"strategy": self.strategy, **said}
        )

    def items(self, file: BinaryIO, warnings: list[Warning]) -> Iterator[Item]:
        """The messages and events of a file's rows, and its other members as events."""
        members = self._members(file, warnings)
        held = self._held(members)
        if held is None:
            yield from self.read_rows(json_file.rows(file, warnings), warnings)
            return
        rows = json_file.elements(file, members[held].start, warnings)
        yield from self.read_rows(rows, warnings)
        yield from member_events(members, {held})

    def read_rows(
        self, rows: Iterable[Element], warnings: list[Warning]
    ) -> Iterator[Item]:
        """The items made from these rows."""
        reader = self.reader()
        for row in rows:
            yield from attempt(partial(reader.take, row), row, warnings)
        yield from reader.rest()

    def _members(self, file: BinaryIO, warnings: list[Warning]) -> dict[str, ByteSpan]:
        whole = json_file.one_object(file) if self.lists else None
        return json_file.members(file, whole.start, warnings) if whole else {}

    def _held(self, members: dict[str, ByteSpan]) -> str | None:
        return next((name for name in self.lists if name in members), None)

    def _first(self, file: BinaryIO) -> list[dict[str, Any]]:
        members = self._members(file, [])
        if (held := self._held(members)) is not None:
            told = (name for name in members if name != held)
            return [{name: json_file.get(file, members, name) for name in told}]
        rows = islice(json_file.rows(file, []), TITLE_WITHIN)
        return [fields.mapping(row.value) for row in rows]


def event(row: Element, *names: str, before: str = "") -> Event:
    """An event for a row that is not a message, named by the first of these members with a text."""
    name = fields.text(row.value, *names) or "record"
    moment = fields.mapping(row.value).get("timestamp")
    return Event((before + name)[:64], row.record, fields.moment(moment))
