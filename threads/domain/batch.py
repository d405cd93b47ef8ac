"""Batches of encoded messages on their way into the database.

A batch holds the columns of the rows that depend on the messages alone, not the messages
themselves, so that one process can make it and another can write it.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from typing import Any, NamedTuple

import orjson

from contextstudio.accounts.domain.storable import storable

from . import tokens
from .body import encode_message
from .message import USER, Message, Usage, starts_group
from .part import File, Image, replace_bytes
from .tally import Tally
from .transcript import Compaction, Event

MAX_ITEMS = 2000
"""The most messages, or events, in a batch."""
MAX_BYTES = 1 << 19
"""The size at which a batch is full: bytes of bodies, images and files."""
MAX_RECORD_LENGTH = 1024
"""The most characters of the locator of an event's record."""
MAX_NAME_LENGTH = 128
"""The most characters of a name, a model or an id."""
COMPACTION = "compaction"
"""The type of the event that stands for a compaction's record."""


class Attachment(NamedTuple):
    """An image or a file: its media type and its bytes."""

    media_type: str
    data: bytes


class ConstantColumn(NamedTuple):
    """A column with the same value in all rows, which is moved and bound only once."""

    value: Any


Column = Sequence[Any] | ConstantColumn


class Columns(NamedTuple):
    """The values of rows that depend on their messages alone, one list per column."""

    roles: Column
    statuses: Column
    weights: Column
    usages: Column
    """As JSON."""
    names: Column
    models: Column
    source_ids: Column
    created: bytes | None
    """As `times` encodes them."""
    records: Sequence[str]
    """As JSON."""


class Events(NamedTuple):
    """Events, one list per column."""

    before: Sequence[int]
    """The number of messages of the transcript before each event."""
    types: Sequence[str]
    """As the format names them."""
    records: Sequence[str]
    created: bytes | None

    def at(self, places: Sequence[int]) -> "Events":
        """The events at these indexes."""
        created = self.created and orjson.loads(self.created)
        return Events(
            [self.before[place] for place in places],
            [self.types[place] for place in places],
            [self.records[place] for place in places],
            created and orjson.dumps([created[place] for place in places]),
        )


class Batch(NamedTuple):
    """Encoded messages, with the events and compactions between them."""

    digests: Sequence[bytes]
    """Digests of the stored form of the messages, by `body.body_digest`."""
    canonical: Sequence[bytes | None]
    """Digests of their canonical form, by `body.digest`; None where it equals the stored one's."""
    contents: Sequence[bytes]
    """Bodies, by `body.encode_parts`."""
    words: Sequence[tokens.Words]
    """What to count as tokens, for bodies that are not stored yet."""
    starts: Sequence[bool]
    """Which messages start a group."""
    columns: Columns
    files: dict[str, Attachment]
    """Images and files from the messages, by the SHA-256 of their bytes in hex."""
    events: Events
    compactions: Sequence[Compaction]
    tally: Tally


@dataclass(slots=True)
class BatchBuilder:
    """A batch under construction: each message is encoded as it is added."""

    given: list[Message] = field(default_factory=list)
    contents: list[bytes] = field(default_factory=list)
    digests: list[bytes] = field(default_factory=list)
    canonical: list[bytes | None] = field(default_factory=list)
    events: list[tuple[int, str, str, datetime | None]] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    """The types of the events, for the tally."""
    compactions: list[Compaction] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    size: int = 0
    _files: dict[str, Attachment] = field(default_factory=dict)

    @property
    def is_full(self) -> bool:
        """Whether the batch has reached its size and should be written."""
        return (
            self.size >= MAX_BYTES
            or len(self.given) >= MAX_ITEMS
            or len(self.events) >= MAX_ITEMS
        )

    def add(self, given: Message) -> None:
        """Encode a message and add it."""
        parts = replace_bytes(given.parts, self._keep)
        content, digest, canonical = encode_message(given.role, parts)
        self.given.append(given)
        self.contents.append(content)
        self.digests.append(digest)
        self.canonical.append(canonical)
        self.size += len(content)

    def note(
        self, before: int, type_: str, record: str, created_at: datetime | None
    ) -> None:
        """Add an event that comes after `before` messages of its transcript."""
        self.events.append((before, type_, record, created_at))

    def build(self) -> Batch:
        """The finished batch, its messages and events counted in the tally."""
        given = self.given
        self.tally.count(given)
        self.tally.count_events(self.types)
        before, types, records, created = (
            zip(*self.events, strict=True) if self.events else ((),) * 4
        )
        return Batch(
            digests=self.digests,
            canonical=self.canonical,
            contents=self.contents,
            words=[tokens.words(one.parts) for one in given],
            starts=[
                one.role is USER and starts_group(USER, one.parts) for one in given
            ],
            columns=_columns(given),
            files=self._files,
            events=Events(before, types, _names(records), times(created)),
            compactions=self.compactions,
            tally=self.tally,
        )

    def _keep(self, given: Image | File, data: bytes) -> str:
        sha256 = hashlib.sha256(data).hexdigest()
        if sha256 not in self._files:
            self._files[sha256] = Attachment(given.media_type, data)
            self.size += len(data)
        return sha256


def batches(
    items: Iterable[Message | Event | Compaction], *, growing: bool = False
) -> Iterator[Batch]:
    """The items of a transcript in batches, each item counted in its batch's tally.

    With `growing`, the first batches are smaller, each a quarter larger than the one before. A
    process that writes them meanwhile, which takes a third longer than making them, then waits
    for the first batch only.
    """
    ordinal, filling = 0, BatchBuilder()
    share = 16 if growing else 1
    most, most_bytes = MAX_ITEMS // share, MAX_BYTES // share
    for item in items:
        if isinstance(item, Message):
            ordinal += 1
            filling.add(item)
            if filling.size < most_bytes and len(filling.given) < most:
                continue
        else:
            _add_other(filling, item, ordinal)
            if len(filling.events) < most:
                continue
        yield filling.build()
        filling = BatchBuilder()
        most = min(most + most // 4, MAX_ITEMS)
        most_bytes = min(most_bytes + most_bytes // 4, MAX_BYTES)
    if filling.given or filling.events:
        yield filling.build()


def times(values: Sequence[datetime | None]) -> bytes | None:
    """Times in UTC as a JSON list, with null for a time that UTC can't express (before the year 1).

    Returns None if no value is a time, as is so for most lists of messages.
    """
    if not any(values):
        return None
    in_utc = [
        value if value is None or value.tzinfo is UTC else _in_utc(value)
        for value in values
    ]
    # Encoding the whole list at once takes a third of the time of encoding one by one.
    return orjson.dumps(in_utc)


def _add_other(filling: BatchBuilder, item: Event | Compaction, ordinal: int) -> None:
    if isinstance(item, Event):
        filling.types.append(item.type)
        filling.note(ordinal, item.type, item.record, item.created_at)
    else:
        filling.tally.records[COMPACTION] += 1
        filling.note(ordinal, COMPACTION, item.record, item.created_at)
        filling.compactions.append(item)


def compact_column(values: Sequence[Any]) -> Column:
    """The column, as `ConstantColumn` if all its values are equal."""
    # Comparing the first and the last value rules out most columns without counting.
    if values and values[0] == values[-1] and values.count(values[0]) == len(values):
        return ConstantColumn(values[0])
    return values


def slice_rows(column: Column, which: slice) -> Column:
    """A slice of a column's rows."""
    return column if isinstance(column, ConstantColumn) else column[which]


def _columns(given: Sequence[Message]) -> Columns:
    usages = [one.usage for one in given]
    columns: list[Sequence[Any]] = [
        [one.role._value_ for one in given],  # `value` is a descriptor in Python
        ["partial" if one.partial else "complete" for one in given],
        [one and one.input_tokens + one.output_tokens for one in usages],
        [one and _usage(one) for one in usages],
        _words([one.name for one in given]),
        _words([one.model for one in given]),
        _words([one.source_id for one in given]),
    ]
    created = times([one.created_at for one in given])
    records = _records([one.records for one in given])
    return Columns._make([*map(compact_column, columns), created, records])


def _names(records: Sequence[str]) -> Sequence[str]:
    """Locators of records as a column accepts them."""
    if _are_plain(records, MAX_RECORD_LENGTH):
        return records
    return [storable(record)[:MAX_RECORD_LENGTH] for record in records]


def _words(values: list[str | None]) -> list[str]:
    words = [value or "" for value in values]
    if _are_plain(words, MAX_NAME_LENGTH):
        return words
    return [clean(word)[:MAX_NAME_LENGTH] for word in words]


def _records(listed: list[tuple[str, ...]]) -> list[str]:
    """Locators of records as JSON, joined by hand where no character needs an escape."""
    together = "".join(chain.from_iterable(listed))
    if '"' in together or "\\" in together or not together.isprintable():
        return [json.dumps(records) for records in listed]
    return ['["' + '", "'.join(one) + '"]' if one else "[]" for one in listed]


def _are_plain(words: Sequence[str], most: int) -> bool:
    """Whether a column accepts all the words unchanged.

    Checked on the joined text first, since nearly all words are plain.
    """
    together = "".join(words)
    if not together.isascii() or "\0" in together:
        return False
    return len(together) <= most or max(map(len, words)) <= most


def clean(text: str) -> str:
    """Text that a column accepts: PostgreSQL refuses NUL, and databases refuse lone surrogates."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def _usage(usage: Usage) -> str:
    return (
        f'{{"input_tokens": {usage.input_tokens}, "output_tokens": {usage.output_tokens}, '
        f'"cached_tokens": {usage.cached_tokens}}}'
    )


def _in_utc(value: datetime) -> datetime | None:
    try:
        return value.astimezone(UTC)
    except OverflowError:
        return None
