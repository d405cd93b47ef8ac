"""Formats that are objects with a conversation's messages in lists.

They differ in where the lists are and what the members are called, so each is a `ListFormat` that
declares this. What they have in common is here: reading the objects of a file, the messages in
their lists, and an event for every other member.
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
from .transcripts import require_transcripts, transcript_of

ReadElement = Callable[[Element], Iterable[Item]]
"""Reads the items of an element. Raises Invalid if it isn't in the format."""
ReadList = Callable[[Iterable[Element], list[Warning]], Iterator[Item]]
"""Reads the items of a list, with warnings. `per_element` makes one from a `ReadElement`."""


@dataclass(frozen=True, slots=True)
class Values:
    """The values of an object's members by name; None for a missing member."""

    file: BinaryIO
    members: Mapping[str, ByteSpan]

    def __getitem__(self, name: str) -> JSON:
        return json_file.get(self.file, self.members, name)


def per_element(read: ReadElement) -> ReadList:
    """A reader of lists, element by element; an unreadable one becomes an event and a warning."""

    def items(rows: Iterable[Element], warnings: list[Warning]) -> Iterator[Item]:
        for row in rows:
            yield from attempt(partial(read, row), row, warnings)

    return items


def has_members(*names: str, score: float) -> Score:
    """A test that gives `score` if the file, an element or a line has all these members."""

    def sure(sample: Sample) -> float:
        return score if any(row.keys() >= set(names) for row in sample.rows) else 0

    return sure


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFormat:
    """How the objects of one format hold conversations, one each."""

    name: str
    label: str
    score: Score
    lists: Mapping[str, ReadList]
    """Map of each member that holds messages to its reader, in reading order."""
    text: Callable[[str, Element], Iterable[Item]] | None = None
    """Reads such a member, given its name, if it isn't a list."""
    known: Callable[[Values, str], dict[str, Any]] | None = None
    """What the object and the file's name tell: `title`, `external_id`, `model`."""
    title: Callable[[Values, str], str] | None = None
    """Makes the title from the object and the user's first words."""
    bare: ReadList | None = None
    """Reads the messages of a file that is the list itself, or has one message per line."""
    is_whole: bool = False
    """Whether a file is one object: events keep their members' order, and only one list is read."""

    @property
    def format(self) -> Format:
        """The format of files of this shape."""
        return Format(self.name, self.label, self.score, self.read)

    def read(self, file: BinaryIO, name: str) -> list[Transcript]:
        """One conversation per object. Raises Invalid if none holds a message."""
        if self.bare is not None and is_bare(file, self.lists):
            alone = Items(partial(_bare_items, self.bare, file))
            made = self.transcript(alone, Values(file, _heading(file)), name)
            return require_transcripts([made], alone.warnings, self.label)
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
        return require_transcripts(found, broken, self.label)

    def transcript(self, items: Items, values: Values, name: str) -> Transcript | None:
        """The conversation of an object; None if it holds no message."""
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
    """Whether a file is a list of messages or has one per line, judged by its first rows."""
    rows = [fields.mapping(row.value) for row in islice(json_file.rows(file, []), 2)]
    said = ("role" in row or "role" in fields.mapping(row, "message") for row in rows)
    return any(said) and not any(name in lists for row in rows for name in row)


def _bare_items(
    read: ReadList, file: BinaryIO, warnings: list[Warning]
) -> Iterator[Item]:
    yield from read(json_file.rows(file, warnings), warnings)


def _heading(file: BinaryIO) -> Mapping[str, ByteSpan]:
    """The members of the first line, if it isn't a message; else none."""
    first = json_file.first_record(json_file.first_lines(file)) or {}
    said = "role" in first or "message" in first
    return {} if said or not first else json_file.members(file, 0, [])
