"""A list or JSON Lines of messages that contains several conversations."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import starmap
from typing import BinaryIO

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.io import json_file, json_text, windows
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.io.source import BROKEN, ByteSpan
from threads.domain.formats.kit import spoken
from threads.domain.formats.kit.items import Conversation
from threads.domain.message import Message
from threads.domain.part import JSON
from threads.domain.transcript import Event, Warning

from . import sessions
from .chat_items import (
    FLAT_REPLY,
    PREFERRED,
    READ_MEMBERS,
    ChatDialect,
    Envelope,
    Lines,
    read_row,
)
from .sessions import PlacedRow, SessionRows

OF_A_REQUEST = frozenset(
    {"system", "message", "request", "response", PREFERRED, *FLAT_REPLY}
)
"""Members that belong to one conversation: a list beside them is not a table of rows."""


@dataclass(frozen=True, slots=True)
class Rows(Conversation):
    """The rows of one session."""

    file: BinaryIO
    dialect: ChatDialect
    session: SessionRows
    is_lines: bool
    beside: Mapping[str | int, ByteSpan]
    """The members beside the list: they belong to all sessions, and become events."""

    @property
    def called(self) -> str:
        """The session's id in the rows."""
        return self.session.id

    def items(self) -> Iterator[Message | Event]:
        """The messages and events of each row."""
        for number, span in self.session.places():
            row = Element(None, span, number, ("line", number))
            if self.is_lines:
                value = windows.read_again(self.file, number, span, self.warnings)
            else:
                row = Element(None, span, at=("messages", number))
                value = json_file.value(self.file, span, row.at, self.warnings)
            yield from read_row(row._replace(value=value), self.dialect, self.warnings)
        yield from (Event(f"outer/{key}", at.record) for key, at in self.beside.items())

    def get(self, _name: str) -> JSON:
        """A member of the conversation beside its messages: rows have none."""
        return None


def by_session(
    items: Lines | Envelope, skipped: list[Warning]
) -> Iterator[Lines | Envelope | Rows]:
    """One conversation for each session in the rows; `items` itself if there is only one."""
    broken: list[Warning] = []
    beside = items.members if isinstance(items, Envelope) else {}
    may_be = isinstance(items, Lines) or (
        "messages" in beside and OF_A_REQUEST.isdisjoint(beside)
    )
    rows = partial(_rows, items, broken)
    found = sessions.split_rows(rows, _speakers) if may_be else []
    # Members about a whole conversation are beside its messages, not in its rows.
    said = READ_MEMBERS & (beside.keys() - {"messages"})
    if not found or (len(found) == 1 and said):
        yield items
        return
    skipped += [*sessions.separation_warnings(found), *broken]
    outer = {key: place for key, place in beside.items() if key != "messages"}
    for place, one in enumerate(found):
        is_lines = isinstance(items, Lines)
        yield Rows(items.file, items.dialect, one, is_lines, {} if place else outer)


def _rows(items: Lines | Envelope, broken: list[Warning]) -> Iterator[PlacedRow]:
    broken.clear()
    if isinstance(items, Lines):
        yield from starmap(PlacedRow, windows.records(items.file))
        return
    try:
        begin = items.members["messages"].start
        for key, start, end, data in windows.elements(items.file, begin):
            if isinstance(key, int):
                yield PlacedRow(key, start, end, _value(items.file, start, end, data))
    except Invalid as error:
        broken.append(json_file.warning(error))


def _value(file: BinaryIO, start: int, end: int, data: bytes | None) -> JSON:
    try:
        if data is not None:
            return json_text.parse_roughly(data)
    except ValueError:
        return BROKEN
    return json_file.value(file, ByteSpan(start, end), (), [])


def _speakers(value: JSON) -> set[str]:
    return {one["role"] for one in spoken.said_in(value)}
