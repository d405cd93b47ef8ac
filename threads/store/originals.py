"""Reads originals, as they were recorded or, through `masking`, as they may be read.

Callers have been through the gate to the session (`selectors.get_session`).
"""

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from functools import cached_property
from sys import intern
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import (
    BinaryField,
    F,
    Func,
    IntegerField,
    QuerySet,
    TextField,
    UUIDField,
)
from django.db.models.functions import Cast, Coalesce

from contextstudio.database.prepared import Param, Prepared
from contextstudio.database.steps import chunks
from threads.domain.body import body_digest, decode_parts
from threads.domain.message import Message as GivenMessage
from threads.domain.message import Role, Usage
from threads.domain.part import Part
from threads.models import Message, Session

from .masking import masked

DIGEST = Coalesce("body__canonical", "body__digest")
"""The digest of an original's meaning, by which a client's message is recognised."""
_IN_A_ROW = 500
"""How many originals are read at once."""


class OriginalRow(NamedTuple):
    """The columns of an original and of its body, as `_COLUMNS` names them."""

    index: int  # type: ignore[assignment]  # nobody calls tuple.index
    uuid: uuid.UUID
    short_id: str
    role: str
    tokens: int
    group_id: int
    parsing_strategy: str
    status: str
    weight: int | None
    model: str
    external_id: str
    created_at: datetime | None
    name: str
    usage: str | None
    """JSON, parsed only on demand, as most readers never need it. So are records and counts."""
    records: str
    digest: bytes
    content: bytes
    token_counts: str


_COLUMNS = (
    *OriginalRow._fields[:13],
    Cast("usage", TextField()),
    Cast("records", TextField()),
    "body__digest",
    "body__content",
    Cast("body__token_counts", TextField()),
)


@dataclass(frozen=True)
class Original:
    """An original as it may be read: its row, and its parts, decoded on demand."""

    row: OriginalRow
    encoding: str
    masked: tuple[Part, ...] | None = None
    """Its parts if text in them is masked; otherwise they are those of the row."""

    @property
    def key(self) -> str:
        return intern(f"m{self.row.index}")

    @property
    def role(self) -> Role:
        return Role(self.row.role)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        if self.masked is not None:
            return self.masked
        return decode_parts(bytes(self.row.content))

    def decoded(self) -> "Original":
        """The same with its parts decoded and without the bytes they were read from.

        This halves the memory of a long session. Strings that most rows share are held once.
        """
        row = self.row
        light = replace(
            self,
            row=row._replace(
                content=b"",
                role=intern(row.role),
                parsing_strategy=intern(row.parsing_strategy),
                status=intern(row.status),
                model=intern(row.model),
                records="[]" if row.records == "[]" else row.records,
            ),
        )
        light.__dict__["parts"] = self.parts  # where `cached_property` looks for it
        return light

    @property
    def digest(self) -> bytes:
        """The digest of its current content: the body's own, unless text in it is masked."""
        if self.masked is not None:
            return body_digest(self.role, self.masked)
        return bytes(self.row.digest)

    @property
    def usage(self) -> Usage | None:
        """The provider's token counts, if any."""
        if self.row.usage is None:
            return None
        counted = json.loads(self.row.usage)
        return Usage(**{one.name: counted.get(one.name, 0) for one in fields(Usage)})

    @property
    def written(self) -> GivenMessage:
        """The message in the form that formats write."""
        row = self.row
        return GivenMessage(
            role=self.role,
            parts=self.parts,
            name=row.name or None,
            model=row.model or None,
            source_id=row.external_id or None,
            created_at=row.created_at,
            usage=self.usage,
            partial=row.status == "partial",
        )

    @property
    def counts(self) -> list[int]:
        """The recorded tokens of each part; empty if they were not stored."""
        counts: dict[str, list[int]] = json.loads(self.row.token_counts)
        return counts.get(self.encoding, [])


def load_messages(
    session: Session, start: int = 0, end: int | None = None
) -> list[Original]:
    """Originals `start` to `end` (half-open) as they may be read."""
    rows = Message.objects.filter(session=session, index__gte=max(start, 0))
    if end is not None:
        rows = rows.filter(index__lt=end)
    return list(_masked(session, _recorded(session, rows)).values())


def load_messages_at(session: Session, indexes: Iterable[int]) -> dict[int, Original]:
    """The originals at these indexes as they may be read; indexes without one are left out."""
    return _masked(session, load_recorded_at(session, indexes))


def load_recorded_at(session: Session, indexes: Iterable[int]) -> dict[int, Original]:
    """The originals at these indexes as they were recorded: for code that masks them."""
    found: dict[int, Original] = {}
    wanted = sorted(set(indexes))
    if wanted and _are_near(wanted):
        stretch = _STRETCH.rows(session=session.pk, start=wanted[0], end=wanted[-1])
        named = frozenset(wanted)
        return _originals(session, (row for row in stretch if row[0] in named))
    for some in chunks(wanted):
        rows = Message.objects.filter(session=session, index__in=some)
        found.update(_recorded(session, rows))
    return found


def _are_near(indexes: Sequence[int]) -> bool:
    """Whether sorted indexes are at least half of the range they span, and that is short."""
    span = indexes[-1] - indexes[0] + 1
    return span <= min(_IN_A_ROW, 2 * len(indexes))


def load_digests(session: Session, start: int = 0) -> list[bytes]:
    """The digest of each original from `start` on, in order."""
    return [*map(bytes, _DIGESTS.rows(session=session.pk, start=start))]


def load_skeleton(session: Session, start: int = 0) -> list[tuple[str, int, int]]:
    """(role, tokens, group) of the originals from `start` on: all that replay needs of them."""
    return _SKELETON.rows(session=session.pk, start=start)


def find_holding(session: Session, words: bytes, *, start: int = 0) -> list[int]:
    """Indexes from `start` on of originals whose body, as `encode_parts` wrote it, has `words`."""
    return _HOLDING.rows(session=session.pk, start=start, words=words)


def _holding() -> QuerySet[Message, int]:
    rows, whole = _rows_from("start"), IntegerField()
    body, searched = F("body__content"), Param("words", BinaryField())
    place = Func(body, searched, function="INSTR", output_field=whole)
    if connection.vendor == "postgresql":  # has only the SQL standard's form
        form = "POSITION(%(expressions)s)"
        place = Func(
            searched, body, template=form, arg_joiner=" IN ", output_field=whole
        )
    found = rows.annotate(place=place).filter(place__gt=0)
    return found.values_list("index", flat=True)


_HOLDING = Prepared(_holding)


def _recorded(session: Session, rows: QuerySet[Message]) -> dict[int, Original]:
    """Originals by index, in order. Read as tuples, since models cost more than their content."""
    return _originals(session, rows.order_by("index").values_list(*_COLUMNS))


def _originals(
    session: Session, rows: Iterable[tuple[Any, ...]]
) -> dict[int, Original]:
    return {row[0]: Original(OriginalRow(*row), session.encoding) for row in rows}


def _rows_from(start: str) -> QuerySet[Message]:
    """The originals of a session from an index on, in order."""
    of_session = Message.objects.filter(session=Param("session", UUIDField()))
    return of_session.filter(index__gte=Param(start, IntegerField())).order_by("index")


_STRETCH = Prepared(
    lambda: (
        _rows_from("start")
        .filter(index__lte=Param("end", IntegerField()))
        .values_list(*_COLUMNS)
    )
)
_DIGESTS = Prepared(lambda: _rows_from("start").values_list(DIGEST, flat=True))
_SKELETON = Prepared(
    lambda: _rows_from("start").values_list("role", "tokens", "group_id")
)


def _masked(session: Session, originals: dict[int, Original]) -> dict[int, Original]:
    """The same originals, with those that a mask changes replaced."""
    recorded = _Readings(originals)
    readings = masked(session, recorded)
    if readings is recorded:
        return originals
    return {
        index: original
        if (read := readings[index]) == original.parts
        else replace(original, masked=read)
        for index, original in originals.items()
    }


class _Readings(Mapping[int, tuple[Part, ...]]):
    """The parts of originals, decoded only when accessed."""

    def __init__(self, originals: Mapping[int, Original]) -> None:
        self._originals = originals

    def __getitem__(self, index: int) -> tuple[Part, ...]:
        return self._originals[index].parts

    def __iter__(self) -> Iterator[int]:
        return iter(self._originals)

    def __len__(self) -> int:
        return len(self._originals)
