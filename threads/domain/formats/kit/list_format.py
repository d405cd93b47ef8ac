"""Formats that are objects with a conversation's messages in lists.

They differ in where the lists are and what the members are called, so that each is a
`ListFormat`, a row of a table. What they have in common is read here: the objects of a file, the
messages in their lists, an event for every other member.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, BinaryIO

from threads.domain.formats.format import Format, Score
from threads.domain.formats.io import fields, json_file
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.io.source import ByteSpan
from threads.domain.formats.sample import Sample
from threads.domain.part import JSON
from threads.domain.transcript import Event, Transcript, Warning

from .items import Item, Items, attempt
from .transcripts import at_least_one, transcript_of

ReadElement = Callable[[Element], Iterable[Item]]
"""The items of an element. Raises Invalid where it is none of the format's."""
ReadList = Callable[[Iterable[Element], list[Warning]], Iterator[Item]]
"""The items of a list; what can't be read is a warning. `each` makes one of a `ReadElement`."""


@dataclass(frozen=True, slots=True)
class Values:
    """The values of an object's members by their names; None where there is none."""

    file: BinaryIO
    members: Mapping[str, ByteSpan]

    def __getitem__(self, name: str) -> JSON:
        return json_file.get(self.file, self.members, name)


def each(read: ReadElement) -> ReadList:
    """Reads a list element by element; one that can't be read is an event and a warning."""

    def items(rows: Iterable[Element], warnings: list[Warning]) -> Iterator[Item]:
        for row in rows:
            yield from attempt(partial(read, row), row, warnings)

    return items


def has_members(*names: str, score: float) -> Score:
    """So sure of a file in which an object has all these members: itself, an element or a line."""

    def sure(sample: Sample) -> float:
        return score if any(row.keys() >= set(names) for row in sample.rows) else 0

    return sure


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFormat:
    """How one format's objects hold a conversation each."""

    name: str
    label: str
    score: Score
    lists: Mapping[str, ReadList]
    """Members that hold messages, in their order, with what reads each."""
    text: Callable[[str, Element], Iterable[Item]] | None = None
    """Reads such a member where it is no list, by its name."""
    known: Callable[[Values, str], dict[str, Any]] | None = None
    """What the object and the file's name say: `title`, `external_id`, `model`."""
    title: Callable[[Values, str], str] | None = None
    """A title that the object has beside its user's first words."""
    bare: ReadList | None = None
    """Reads the messages of a file that is the list itself, or has one a line."""
    is_whole: bool = False
    """Whether a file is one object: events stand where their members do, one list is read."""

    @property
    def format(self) -> Format:
        """The format of files of this shape."""
        return Format(self.name, self.label, self.score, self.read)

    def read(self, file: BinaryIO, name: str) -> list[Transcript]:
        """One conversation an object. Raises Invalid where none holds a message."""
        if self.bare is not None and is_bare(file, self.lists):
            alone = Items(partial(_bare_items, self.bare, file))
            made = self.transcript(alone, Values(file, _heading(file)), name)
            return at_least_one([made], alone.warnings, self.label)
        broken: list[Warning] = []
        whole = [ByteSpan(0, 0)]
        found: list[Transcript | None] = []
        for span in whole if self.is_whole else json_file.objects(file, broken):
            given = [] if found else broken[:]
            before = len(given)
            members = json_file.members(file, span.start, given)
            items = Items(partial(self.items, file, members), given=given)
            found.append(self.transcript(items, Values(file, members), name))
            broken += items.warnings if self.is_whole else given[before:]
        return at_least_one(found, broken, self.label)

    def transcript(self, items: Items, values: Values, name: str) -> Transcript | None:
        """The conversation of an object; None where it holds no message."""
        known = self.known(values, name) if self.known else {}
        made = transcript_of(items, format=self.name, **known)
        if made is None or self.title is None:
            return made
        return replace(made, title=fields.one_line(self.title(values, made.title)))

    def items(
        self, file: BinaryIO, members: Mapping[str, ByteSpan], warnings: list[Warning]
    ) -> Iterator[Item]:
        """The messages of an object, and its other members as events."""
        lists = [name for name in self.lists if name in members]
        if self.is_whole:
            for name, span in members.items():
                if name in lists[:1]:
                    yield from self._messages(file, name, span, warnings)
                else:
                    yield Event(name, span.record)
            return
        for name in lists:
            yield from self._messages(file, name, members[name], warnings)
        for name, span in members.items():
            if name not in self.lists:
                yield Event(name, span.record)

    def _messages(
        self, file: BinaryIO, name: str, span: ByteSpan, warnings: list[Warning]
    ) -> Iterator[Item]:
        if self.text is not None:
            row = json_file.element(file, span, warnings)
            if not isinstance(row.value, list):
                yield from attempt(partial(self.text, name, row), row, warnings)
                return
        rows = json_file.elements(file, span.start, warnings)
        yield from self.lists[name](rows, warnings)


# Files that are the list itself


def is_bare(file: BinaryIO, lists: Container[str]) -> bool:
    """Whether a file is a list of messages or has one a line, by what it begins with."""
    rows = [fields.mapping(row.value) for row in islice(json_file.rows(file, []), 2)]
    said = ("role" in row or "role" in fields.mapping(row, "message") for row in rows)
    return any(said) and not any(name in lists for row in rows for name in row)


def _bare_items(
    read: ReadList, file: BinaryIO, warnings: list[Warning]
) -> Iterator[Item]:
    yield from read(json_file.rows(file, warnings), warnings)


def _heading(file: BinaryIO) -> Mapping[str, ByteSpan]:
    """The members of a first line that is no message."""
    first = json_file.first_record(json_file.first_lines(file)) or {}
    said = "role" in first or "message" in first
    return {} if said or not first else json_file.members(file, 0, [])
