"""Finds the originals that a client sends wherever they are, always in their order.

Messages with equal digests are anchors. Messages between them may still say the same in another
form (`fingerprint_of`). Messages found nowhere are the client's own; originals that are not sent
were left out by it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from threads.domain.body import tombstone_of
from threads.domain.formats.format import Heading
from threads.domain.formats.kit.calls import CallIds
from threads.domain.formats.requests import (
    SYSTEM,
    MessageFingerprint,
    RequestForm,
    fingerprint_of,
)
from threads.domain.message import Message, Role
from threads.domain.part import Text, Thinking, ToolResult

from .alignment import (
    GivenMessages,
    HeldSession,
    Unit,
    align_from_start,
    is_purged,
    purged_answer,
    recorded_unit,
)
from .matching import match

_SHORT = 64
"""Texts shorter than this many characters don't identify a message by themselves: "Go on."."""
_NEAR = 32
"""How many originals at each end of a gap are compared with the messages in it, plus twice the
number of these messages."""


def find_units(
    given: GivenMessages,
    held: HeldSession,
    form: RequestForm,
    heading: Heading,
    *,
    left_out: AbstractSet[int] = frozenset(),
) -> list[Unit]:
    """The units of all the client's messages that the session holds, in the order of both.

    `left_out`: the indexes of the originals that the client didn't send last.
    """
    units, start = align_from_start(given, held, form, heading)
    while (
        units and units[-1].start == units[-1].end and is_purged(held, units[-1].first)
    ):
        units.pop()  # what it said may follow in another form
    first = units[-1].last if units else 0
    known = set(held.digests)
    sent = [
        _held_digest(given.digest(place), known)
        for place in range(start, len(given.messages))
    ]
    replies = [one.role is Role.ASSISTANT for one in given.messages[start:]]
    anchors = [
        recorded_unit(given, place + start, index + first)
        for place, index in _match_digests(sent, held.digests[first:], replies)
    ]
    anchors = _without_stray([*units, *anchors], given, held, left_out)[len(units) :]
    gaps = _Gaps(given, held, form, heading)
    for anchor in anchors:
        units += gaps.units(range(start, anchor.start), range(first, anchor.first))
        units.append(anchor)
        start, first = anchor.end, anchor.last
    units += gaps.units(
        range(start, len(given.messages)), range(first, len(held.digests))
    )
    return _without_stray(units, given, held, left_out)


def find_repeated(
    given: GivenMessages,
    last: HeldSession,
    units: Sequence[Unit],
    form: RequestForm,
    heading: Heading,
) -> tuple[list[Unit], int] | None:
    """Units for everything in `last`, which the client sent last, and how many messages they cover.

    A reply may say the same as one that the client left out, as of a request that was sent again,
    and only ids that its form lacks tell them apart. `units` are those in all originals. None if
    the client left out something, changed something, or sends again what it had left out.
    """
    found = find_units(given, last, form, heading)
    count = found[-1].end if found else 0
    is_all = sum(one.last - one.first for one in found) == len(last.digests)
    is_only = sum(one.end - one.start for one in found) == count
    has_more = any(one.end > count for one in units)
    return (found, count) if is_all and is_only and not has_more else None


def _match_digests(
    sent: Sequence[bytes], kept: Sequence[bytes], replies: Sequence[bool]
) -> Sequence[tuple[int, int]]:
    """Match equal digests, with the last reply of the model among them as a fixed point.

    What follows that reply was said after it, even if it was also said before: aider sends the
    files of a conversation and its rules again with each question.
    """
    sent_once, kept_once = Counter(sent), Counter(kept)
    places = {one: place for place, one in enumerate(sent) if replies[place]}
    for index in reversed(range(len(kept))):
        one = kept[index]
        if one in places and sent_once[one] == kept_once[one] == 1:
            place, behind = places[one], places[one] + 1
            rest = match(sent[behind:], kept[index + 1 :])
            return [
                *match(sent[:place], kept[:index]),
                (place, index),
                *((behind + at, index + 1 + other) for at, other in rest),
            ]
    return match(sent, kept)


def _held_digest(given: bytes, known: AbstractSet[bytes]) -> bytes:
    """The digest by which a message would be held: that of its tombstone if it was purged."""
    if given not in known and (gone := tombstone_of(given)) in known:
        return gone
    return given


def _without_stray(
    units: Sequence[Unit],
    given: GivenMessages,
    held: HeldSession,
    left_out: AbstractSet[int],
) -> list[Unit]:
    """The units, except for short texts that are matched away from their neighbours.

    Somebody who says "Go on." again after something else says it anew: if it were taken for the
    first one, it would be folded or hidden like that one. It is kept if the reply to it directly
    follows. Originals that the client left out before don't stand between neighbours.
    """

    def next_sent(index: int) -> int:
        while index in left_out:
            index += 1
        return index

    replies = {
        unit.start
        for unit in units
        if unit.end > unit.start
        and given.messages[unit.start].role is Role.ASSISTANT
        and not _is_short(given.messages[unit.start])
    }
    begins = {(unit.start, unit.first) for unit in units}
    begins.add((len(given.messages), len(held.digests)))
    ends = {(unit.end, unit.last) for unit in units}
    ends |= {(0, 0), (_lead(given.messages), held.lead)}
    ends |= {(end, next_sent(last)) for end, last in ends}
    return [
        unit
        for unit in units
        if (unit.start, unit.first) in ends
        or not begins.isdisjoint(
            ((unit.end, unit.last), (unit.end, next_sent(unit.last)))
        )
        or unit.end in replies
        or not all(map(_is_short, given.messages[unit.start : unit.end]))
    ]


def _lead(messages: Sequence[Message]) -> int:
    """How many system messages are at the top."""
    for place, message in enumerate(messages):
        if message.role not in SYSTEM:
            return place
    return len(messages)


def _is_short(message: Message) -> bool:
    parts = message.parts
    words = sum(len(part.text) for part in parts if isinstance(part, Text))
    return words < _SHORT and all(isinstance(part, Text | Thinking) for part in parts)


class _Gaps:
    """Finds messages that say the same in the gaps between messages matched by digest."""

    def __init__(
        self,
        given: GivenMessages,
        held: HeldSession,
        form: RequestForm,
        heading: Heading,
    ) -> None:
        self._given, self._held = given, held
        self._form, self._heading = form, heading

    def units(self, places: range, indexes: range) -> list[Unit]:
        """The units of a gap, in order. Messages in none of them are new or were left out."""
        if not places or not indexes:
            return []
        at_top = places[0] == indexes[0] == 0 and self._given.system
        if at_top and self._form.has_system:
            places = places[1:]  # a prompt other than the held one
        most = _NEAR + 2 * len(places)
        near = [*indexes[:most], *indexes[max(most, len(indexes) - most) :]]
        sent = [(place, self._sent(place)) for place in places]
        wanted = {atom for _, saying in sent for atom in saying.atoms}
        kept = [(index, self._kept(index, wanted)) for index in near]
        units = self._with_their_calls(_same(sent, kept), places, indexes)
        found = [*self._with_their_reasoning(units, places)]
        return [*self._with_purged(found, places, indexes)]

    def _with_purged(
        self, units: Sequence[Unit], places: range, indexes: range
    ) -> Iterator[Unit]:
        """The units of a gap, with purged answers in another form than the recorded one."""
        start, first = places.start, indexes.start
        for unit in [*units, None]:
            end, last = (
                (unit.start, unit.first) if unit else (places.stop, indexes.stop)
            )
            rest = range(start, end), range(first, last)
            if purged := purged_answer(self._given, self._held, *rest):
                yield purged
            if unit:
                yield unit
                start, first = unit.end, unit.last

    def _with_their_reasoning(
        self, units: Iterable[Unit], places: range
    ) -> Iterator[Unit]:
        """The units of a gap, with reasoning that is sent as messages of its own before them.

        OpenAI's Responses have such items. Reasoning of another response stays apart.
        """
        end = places.start
        for unit in units:
            start = unit.start
            while start > end and _is_reasoning(self._given.messages[start - 1]):
                start -= 1
            held = (self._held.readings(at)[0] for at in range(unit.first, unit.last))
            own = self._signatures(self._given.messages[start : unit.start])
            is_theirs = own <= self._signatures(held)
            yield unit._replace(start=start) if is_theirs else unit
            end = unit.end

    def _signatures(self, messages: Iterable[Message]) -> set[str]:
        return {one for each in messages for one in self._saying(each).signatures}

    def _with_their_calls(
        self, units: Iterable[Unit], places: range, indexes: range
    ) -> Iterator[Unit]:
        """The units of a gap, except results of other calls: many results say just "ok".

        A result is known by the id of its call or, as clients may give calls ids of their own, by
        directly following what it answers on both sides.
        """
        end = places.start, indexes.start
        for unit in units:
            if end == (unit.start, unit.first) or self._answer_same_calls(unit):
                yield unit
                end = unit.end, unit.last

    def _answer_same_calls(self, unit: Unit) -> bool:
        given = self._given.messages[unit.start : unit.end]
        held = (self._held.readings(at)[0] for at in range(unit.first, unit.last))
        answered = _answered(given)
        return "" not in answered and answered == _answered(held)

    def _sent(self, place: int) -> MessageFingerprint:
        return self._saying(self._given.messages[place])

    def _kept(self, index: int, wanted: AbstractSet[bytes]) -> MessageFingerprint:
        """The recorded reading of an original, unless only the masked one has just wanted atoms."""
        sayings = [*map(self._saying, self._held.readings(index))]
        return max(sayings, key=lambda one: wanted >= set(one.atoms))

    def _saying(self, message: Message) -> MessageFingerprint:
        named = CallIds().given(message) if self._form.has_ids else message
        saying = fingerprint_of(named, self._form, self._heading)
        return saying if named is message else saying._replace(ids=("",))


def _is_reasoning(message: Message) -> bool:
    is_only = all(isinstance(part, Thinking) for part in message.parts)
    return message.role is Role.ASSISTANT and is_only


def _answered(messages: Iterable[Message]) -> list[str]:
    """The ids of the calls that messages bring results of."""
    return [
        part.call_id
        for message in messages
        for part in message.parts
        if isinstance(part, ToolResult)
    ]


def _same(
    sent: Sequence[tuple[int, MessageFingerprint]],
    kept: Sequence[tuple[int, MessageFingerprint]],
) -> Iterator[Unit]:
    """Units for runs of both sides that say the same atom by atom, with nothing left over."""
    ours = [(at, atom) for at, (_, saying) in enumerate(sent) for atom in saying.atoms]
    theirs = [(at, atom) for at, (_, one) in enumerate(kept) for atom in one.atoms]
    pairs = match([atom for _, atom in ours], [atom for _, atom in theirs])
    links = [(ours[place][0], theirs[index][0]) for place, index in pairs]
    said = Counter(place for place, _ in links), Counter(index for _, index in links)
    at = 0
    while at < len(links):
        run = [links[at]]
        while at + len(run) < len(links) and (
            links[at + len(run)][0] == run[-1][0]
            or links[at + len(run)][1] == run[-1][1]
        ):
            run.append(links[at + len(run)])
        at += len(run)
        places = range(run[0][0], run[-1][0] + 1)
        indexes = range(run[0][1], run[-1][1] + 1)
        whole = all(said[0][one] == len(sent[one][1].atoms) for one in places)
        if not whole or not all(
            said[1][one] == len(kept[one][1].atoms) for one in indexes
        ):
            continue
        first, last = kept[indexes[0]][0], kept[indexes[-1]][0] + 1
        if last - first != len(indexes):
            continue  # originals in between were not compared
        given, held = [sent[i][1] for i in places], [kept[i][1] for i in indexes]
        has_ids = _ids(given) == _ids(held)
        if _are_signed_apart(given, held, has_ids):
            continue
        start, end = sent[places[0]][0], sent[places[-1]][0] + 1
        yield Unit(first, last, start, end, as_given=has_ids)


def _ids(sayings: Iterable[MessageFingerprint]) -> list[str]:
    return [one for saying in sayings for one in saying.ids]


def _are_signed_apart(
    given: Iterable[MessageFingerprint],
    held: Iterable[MessageFingerprint],
    has_ids: bool,
) -> bool:
    """Whether what is held was signed, but is another response than the client's.

    An agent that runs again makes the same calls, and its provider would refuse the reasoning of
    the first run in their place. Clients that drop reasoning keep the ids of calls (`has_ids`).
    """
    own, signed = (
        {one for saying in side for one in saying.signatures} for side in (given, held)
    )
    return bool(signed) and (not own <= signed or not (own or has_ids))
