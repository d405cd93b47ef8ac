"""Aligns a request with its session, and remembers the result for the next request.

A client sends all of its messages each time. Messages with the same bytes as last time keep their
alignment, because originals never change; only what comes after them is read. If a client no
longer sends what it sent last, all originals are searched for what it does send
(`operations/domain/forwarding/`).
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple

from contextstudio.accounts.domain.errors import Invalid
from operations.domain.forwarding import side_calls
from operations.domain.forwarding.alignment import (
    GivenMessages,
    Unit,
    UnitCounts,
    align_from_start,
    resolve_units,
)
from operations.domain.forwarding.call_ids import with_held_ids, with_renamed_results
from operations.domain.forwarding.finding import find_repeated, find_units
from operations.domain.forwarding.gaps import with_questions_anew
from operations.domain.forwarding.plan import RequestPlan, extension, plan
from operations.domain.log.entry import RecordedEdit
from operations.domain.log.log import Log
from operations.domain.thread.replay import sent_keys
from operations.domain.tree.key import Key, original_index, original_key
from operations.forwarding.raw import Beginning, RawRequest
from operations.log.cache import Cache
from operations.log.selectors import load_history, load_leaves
from threads.domain.formats import REQUESTS
from threads.domain.formats.format import Heading
from threads.domain.message import Message, Role
from threads.models import Session
from threads.store import blobs
from threads.store.originals import (
    load_digests,
    load_recorded_at,
)

from .given import read_given
from .held import HeldMessages
from .inbound import Inbound

_REPLIES = 3
"""How many of the model's last replies are checked for the summary that a request quotes."""


class RequestAlignment(NamedTuple):
    """How a request's messages match the session's, and what is to be recorded of them."""

    plan: RequestPlan
    given: GivenMessages
    """The messages that were read: all, or those after the skipped ones."""
    skipped: int = 0
    """How many messages before those were recognised by their bytes."""
    is_side: bool = False
    """Whether it has nothing to do with the session."""
    is_continuation: bool = True
    """Whether more than its opening belongs to the session: it contains what the client sent last,
    or a reply, or quotes one."""
    said: Mapping[int, Message] = MappingProxyType({})
    """Maps indexes of originals that the request repeats exactly as recorded to their messages."""

    @property
    def new(self) -> Sequence[Message]:
        """The messages that become originals."""
        start = self.plan.appended.start - self.skipped
        return self.given.messages[start:] if self.plan.appended else ()

    def message(self, place: int) -> Message:
        """The message at a place of the request, which must have been read."""
        return self.given.messages[place - self.skipped]


class _Known(NamedTuple):
    """The start of a request that was aligned with its session."""

    length: int
    """The number of its messages."""
    beginning: Beginning | None
    """The bytes of these messages, if they can be recognised by them."""
    digest: bytes
    """A digest of the messages if they can't, and in any case of the separate system prompt."""
    units: tuple[Unit, ...]
    counts: UnitCounts
    held: int
    """How many originals the session had then, not counting those at the end of which nothing is
    sent."""
    clients: tuple[RecordedEdit, ...]
    """The client's edits in the log at that time."""
    absent: frozenset[bytes]
    """The digests of the originals that the client left out."""


_NOTHING = _Known(0, None, b"", (), UnitCounts(), 0, (), frozenset())
_known: Cache[_Known] = Cache(lambda known: 500 * len(known.units))
_NOTES = re.compile(rb'"x-anthropic-billing-header:[^"]*"')


def align_request(session: Session, inbound: Inbound) -> RequestAlignment:
    """Align the messages of a request with its session. Raises Invalid."""
    log = load_history(session).log
    known = _beginning(session, inbound, log)
    if known.length:
        try:
            found = _extension(session, inbound, log, known)
        except Invalid:
            found = None  # read it whole, so that places count from the first message
        if found is not None:
            return found
    return _align(session, inbound, log)


def keep(session: Session, inbound: Inbound, made: RequestPlan) -> None:
    """Remember how a request was aligned, once the session holds all of its messages.

    Skipped if redactions mask something, or if a message got ids from earlier ones: the next
    request may then be aligned differently.
    """
    if inbound.raw is None or not made.counts.as_given:
        return
    log = load_history(session).log
    if log.masks:
        return
    count, sent, held = len(inbound.messages), made.units[:], session.message_count
    while sent and sent[-1].start == sent[-1].end:
        held = sent.pop().first  # it sends nothing, so the next message may be it
    is_all = len(sent) == len(made.units)
    absent: frozenset[bytes] = frozenset()
    if log.client_edits:
        digests = load_digests(session)
        there = {index for unit in sent for index in range(unit.first, unit.last)}
        absent = frozenset(
            one for index, one in enumerate(digests) if index not in there
        )
    found = _Known(
        count,
        inbound.raw.beginning,
        _digest(inbound.raw, 0 if inbound.raw.beginning else count),
        tuple(sent),
        made.counts if is_all else UnitCounts().extended(sent),
        held,
        tuple(log.client_edits),
        absent,
    )
    _known.keep((session.pk, inbound.format), found)


def _beginning(session: Session, inbound: Inbound, log: Log) -> _Known:
    known = _known.get((session.pk, inbound.format))
    if known is None or inbound.raw is None or len(inbound.messages) < known.length:
        return _NOTHING
    if log.masks or tuple(log.client_edits) != known.clients:
        return _NOTHING
    if inbound.raw.known_beginning is not known.beginning:
        return _NOTHING
    count = 0 if known.beginning else known.length
    return known if _digest(inbound.raw, count) == known.digest else _NOTHING


def _digest(raw: RawRequest, count: int) -> bytes:
    found = hashlib.sha256(b",".join(raw.messages[:count]))
    found.update(b"\0" + _NOTES.sub(b"", raw.system))
    return found.digest()


def _extension(
    session: Session, inbound: Inbound, log: Log, known: _Known
) -> RequestAlignment | None:
    """The alignment of a request that continues a known start; None if it doesn't."""
    given = read_given(session, inbound, known.length)
    place = known.units[-1].end if known.units else 0
    keys = [original_key(at) for at in range(known.held, session.message_count)]
    held = HeldMessages(session, log, keys)
    found = _followed(session, inbound, given, held, known.absent)
    if found is None:
        return None
    units, count = found
    own, given = given, with_held_ids(given, held, units)
    behind = [
        unit._replace(start=unit.start + place, end=unit.end + place)
        for unit in resolve_units(units, keys)
    ]
    made = extension(
        [*known.units, *behind],
        held=session.message_count,
        known=place + count,
        count=place + len(given.messages),
        counts=known.counts.extended(behind),
    )
    made = with_renamed_results(made, own, given, place)
    return RequestAlignment(made, given, place, said=_said(given, units, held))


def _align(session: Session, inbound: Inbound, log: Log) -> RequestAlignment:
    """The alignment of a request that is read whole.

    It is first compared with what the client sent last. Only if not all of that is there, all
    originals are searched for each message.
    """
    given, count = read_given(session, inbound, 0), session.message_count
    every = HeldMessages(session, log, [original_key(index) for index in range(count)])
    last, left_out = every, set[int]()
    if log.client_edits:
        last = HeldMessages(session, log, sent_keys(count, log), every)
        there = set(last.keys)
        left_out = {at for at, key in enumerate(every.keys) if key not in there}
    digests = every.digests
    absent = frozenset(digests[index] for index in left_out)
    form, heading = REQUESTS[inbound.format], _heading(session)
    units = list[Unit]()
    found = _followed(session, inbound, given, last, absent)
    if found is None:
        units = find_units(given, every, form, heading, left_out=left_out)
        if last is not every:
            found = find_repeated(given, last, units, form, heading)
    if found is not None:
        units, known = found
        said = _said(given, units, last)
        own, given = given, with_held_ids(given, last, units)
        if last is not every:
            units = resolve_units(units, last.keys)
        made = extension(units, held=count, known=known, count=len(given.messages))
        return RequestAlignment(
            with_renamed_results(made, own, given), given, said=said
        )
    own, given = given, with_held_ids(given, every, units)
    quotes = side_calls.quotes_reply(given.messages, _last_replies(session, last.keys))
    made = plan(given, every.roles, log, units, quotes=quotes)
    prompts = [
        [held.readings(at)[0] for at in range(held.lead)] for held in (every, last)
    ]
    is_side = not quotes and side_calls.is_side_call(given, made, every.roles, prompts)
    goes_on = quotes or (not is_side and side_calls.holds_reply(given, made, count))
    anew = with_questions_anew(units, given, every, log)
    if anew != units:
        made = plan(given, every.roles, log, anew, quotes=quotes, goes_back=True)
    made = with_renamed_results(made, own, given)
    return RequestAlignment(made, given, is_side=is_side, is_continuation=goes_on)


def _said(
    given: GivenMessages, units: Sequence[Unit], held: HeldMessages
) -> dict[int, Message]:
    """Map the indexes of originals that a client repeats exactly as recorded to their messages."""
    found: dict[int, Message] = {}
    for first, last, start, end, *_ in units:
        index = original_index(held.keys[first])
        is_one = (last, end) == (first + 1, start + 1)
        if index is None or not is_one:
            continue
        if given.digest(start) == held.digests[first]:
            found[index] = given.messages[start]
    return found


def _followed(
    session: Session,
    inbound: Inbound,
    given: GivenMessages,
    held: HeldMessages,
    absent: AbstractSet[bytes],
) -> tuple[list[Unit], int] | None:
    """Units for everything in `held`, and how many messages they cover.

    None if the client doesn't send all of it, or sends again what it had left out.
    """
    form, heading = REQUESTS[inbound.format], _heading(session)
    units, count = align_from_start(given, held, form, heading, is_last=True)
    if (units[-1].last if units else 0) < len(held.keys):
        return None
    rest = range(count, len(given.messages)) if absent else ()
    if any(given.digest(place) in absent for place in rest):
        return None
    return units, count


def _last_replies(session: Session, keys: Sequence[Key]) -> list[str]:
    """The model's last replies among what the client sent last."""
    leaves = load_leaves(session)
    indexes = (original_index(key) for key in reversed(keys))
    said = (one for one in indexes if one is not None)
    replies = (index for index in said if leaves[index].role == Role.ASSISTANT)
    originals = load_recorded_at(session, islice(replies, _REPLIES))
    return [Message(role=one.role, parts=one.parts).text for one in originals.values()]


def _heading(session: Session) -> Heading:
    return Heading(blob=blobs.read, strategy=session.parsing_strategy)
