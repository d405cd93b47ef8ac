"""Aligns a request with what its session holds; what was aligned before is known by its bytes.

A client sends all of its messages each time. Those that it sent before are the same bytes, and
stand where they stood, for originals never change: only what comes behind them is read.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from contextstudio.accounts.domain.errors import Conflict, Invalid
from operations.domain.forwarding.alignment import (
    Given,
    NotAligned,
    Unit,
    align,
    recorded,
)
from operations.log.cache import Cache
from operations.log.selectors import load_history
from operations.messages.reader import mask_originals
from threads.domain.formats import REQUESTS
from threads.domain.formats.anthropic import messages as anthropic
from threads.domain.formats.format import Heading
from threads.domain.formats.openai import forms
from threads.domain.formats.openai import messages as openai
from threads.domain.message import Message, digest
from threads.models import Session
from threads.store import blobs
from threads.store.recording import named_by_hash
from threads.store.selectors import Original, find_blobs, load_digests, load_recorded_at

from .answers import RawRequest

_ROWS = 500
"""Originals that are read at once."""
MOST_UNITS = 500_000
"""How much of requests is known again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbound:
    """A request on its way to a provider."""

    messages: Sequence[dict[str, Any]]
    format: str = "openai"
    system: Any = None
    active_tags: frozenset[str] | None = None
    append: bool = True
    model: str = ""
    """Empty: the session's."""
    tools: Sequence[dict[str, Any]] = ()
    raw: RawRequest | None = None
    """The same as it came in, where it can be read so."""


class RequestAlignment(NamedTuple):
    """A request along a session: units for all of it, also for what the session lacks."""

    units: list[Unit]
    held: int
    """How many originals are aligned with it."""
    new: Sequence[Message]
    """What comes behind them, of which the session holds nothing."""


class _Known(NamedTuple):
    """The beginning of a request that was aligned with its session."""

    length: int
    """How many of its messages."""
    digest: bytes
    units: tuple[Unit, ...]

    @property
    def held(self) -> int:
        """The originals that it is."""
        return self.units[-1].last if self.units else 0


_NOTHING = _Known(0, b"", ())
_known: Cache[_Known] = Cache(lambda known: len(known.units) + 1, MOST_UNITS)


def align_request(session: Session, inbound: Inbound) -> RequestAlignment:
    """Where the messages of a request stand in its session. Raises Invalid and Conflict."""
    known = _beginning(session, inbound)
    if known.length:
        try:
            return _align_from(session, inbound, known)
        except Invalid:
            pass  # whose place is to be counted from the first message
    return _align_from(session, inbound, _NOTHING)


def keep(session: Session, inbound: Inbound, units: Sequence[Unit]) -> None:
    """Know a request again, all of whose messages the session holds by now.

    Where a message was compared with what may be read of an original, or got ids by those
    before it, the next request may be aligned otherwise.
    """
    if inbound.raw is None or not all(unit.as_given for unit in units):
        return
    if session.head and load_history(session).log.masks:
        return
    count, sent = len(inbound.messages), list(units)
    while sent and sent[-1].start == sent[-1].end:
        sent.pop()  # of which nothing is sent: what comes next may be it
    found = _Known(count, _digest(inbound, inbound.raw, count), tuple(sent))
    _known.keep((session.pk, inbound.format), found)


def _beginning(session: Session, inbound: Inbound) -> _Known:
    known = _known.get((session.pk, inbound.format))
    if known is None or inbound.raw is None or len(inbound.messages) < known.length:
        return _NOTHING
    if session.head and load_history(session).log.masks:
        return _NOTHING
    is_same = _digest(inbound, inbound.raw, known.length) == known.digest
    return known if is_same else _NOTHING


def _digest(inbound: Inbound, raw: RawRequest, count: int) -> bytes:
    found = hashlib.sha256(b",".join(raw.messages[:count]))
    found.update(b"\0" + raw.system)
    return found.digest()


def _align_from(session: Session, inbound: Inbound, known: _Known) -> RequestAlignment:
    """The request, of which the beginning is known."""
    given = _read(session, inbound, known.length)
    place = known.units[-1].end if known.units else 0
    units, count = _align(session, given, inbound, known)
    held = units[-1].last if units else 0
    new = given.messages[count:]
    units += [recorded(given, count + k, held + k) for k in range(len(new))]
    behind = (
        unit._replace(
            first=unit.first + known.held,
            last=unit.last + known.held,
            start=unit.start + place,
            end=unit.end + place,
        )
        for unit in units
    )
    return RequestAlignment([*known.units, *behind], known.held + held, new)


def _read(session: Session, inbound: Inbound, start: int) -> Given:
    """What came in from a message on; before the first there is the `system`."""
    reader = anthropic if inbound.format == "anthropic" else openai
    system = [] if start else [*anthropic.read_system(inbound.system)]
    messages = [*system, *reader.read_messages(inbound.messages[start:])]
    if named := forms.hashes_of(messages):
        kept = find_blobs(session.project_id, named)
        messages = [forms.by_hash(message, kept) for message in messages]

    def digest_at(place: int) -> bytes:
        message = messages[place]
        return digest(message.role, named_by_hash(message.parts))

    return Given(messages, digest_at, system=bool(system))


def _align(
    session: Session, given: Given, inbound: Inbound, known: _Known
) -> tuple[list[Unit], int]:
    """What the session holds already: all of its own, or all of these."""
    form = REQUESTS[inbound.format]
    heading = Heading(blob=blobs.read, strategy=session.parsing_strategy)
    try:
        return align(given, _Originals(session, known.held), form, heading)
    except NotAligned as error:
        place = error.index - given.system + known.length
        raise Conflict(
            f"Message {place} is not the one that the session holds."
            if place >= 0
            else "The system prompt is not the one that the session holds.",
            at=["messages", place] if place >= 0 else ["system"],
            code="not_aligned",
            facts={"message_count": session.message_count},
        ) from None


class _Originals:
    """What a session holds from an original on; its words are read only where they are needed."""

    def __init__(self, session: Session, start: int) -> None:
        self._session = session
        self._start = start
        self._rows: dict[int, Original] = {}
        self._count = 1

    @cached_property
    def digests(self) -> list[bytes]:
        if self._start == self._session.message_count:
            return []
        return load_digests(self._session)[self._start :]

    def readings(self, index: int) -> list[Message]:
        index += self._start
        if index not in self._rows:
            wanted = range(index, index + self._count)
            self._rows = load_recorded_at(self._session, wanted)
            self._count = _ROWS
        original = self._rows[index]
        masked = mask_originals(self._session, {index: original.parts})[index]
        return [
            Message(role=original.role, parts=parts)
            for parts in (original.parts, masked)
        ]
