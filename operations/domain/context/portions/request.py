"""Divides a long request into portions, so that the next request compiles only what changed.

At some places between two speakers, compiling what comes before doesn't depend on what comes
after, nor the reverse. The request is cut at such places, each portion is compiled by itself, and
portions that the last request had too are reused. Together the portions give, byte for byte, what
compiling all messages at once would give; where a cut can't guarantee that, none is made.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from operations.domain.forwarding.alignment import Unit
from operations.domain.providers.plain import UnreadMessage
from operations.domain.providers.request import LeftOutResult, Outgoing
from operations.domain.providers.signed_places import SignedPlaces
from operations.domain.tree.key import Key

from .cuts import APART, may_cut
from .making import PortionMaker
from .portion import Frame, Portion, signed_after

PROVIDERS_IN_PORTIONS = frozenset({"openai", "anthropic"})
"""Providers whose rules for a message depend only on its neighbours."""
MIN_MESSAGES = 16
"""The minimum number of messages in a portion; the last one may have fewer."""
MIN_PLAIN_LENGTH = 64
"""The minimum for a portion whose content isn't read: making it again costs little."""
_TRIES = 4
"""How often a request is cut again, because portions depended on each other, before all of it is
compiled at once."""


class Portions:
    """Makes the portions of one request, reusing those of the last request that are the same."""

    def __init__(
        self, frame: Frame, known: Sequence[Portion] = (), *, grown: bool = False
    ) -> None:
        """`known` are the portions of the last request.

        `grown` says that since then the thread only got further originals at its end, under the
        same policy.
        """
        self._frame = frame
        self._grown = known if grown else ()
        self._known: dict[Key, Portion] = {}
        self._left_out: Mapping[str, LeftOutResult] = {}
        if not grown:
            self._know(known)
        layers = frame.draft.layers
        head = (
            tuple(layers),
            *(any(map(frame.thread.spans, layer.keys)) for layer in layers),
        )
        renames = any(one.basis.renames for one in known[:1])
        self._maker = PortionMaker(frame, head, (), renames)

    def _know(self, portions: Iterable[Portion]) -> None:
        """From now on reuse only these portions, where they fit."""
        self._known = _by_first(portions)
        named = {
            id_: index
            for one in self._known.values()
            for id_, index in one.unanswered.items()
        }
        self._left_out = self._frame.left_out(named) if named else {}

    def divide(
        self, messages: Sequence[Outgoing], *, signed: SignedPlaces
    ) -> list[Portion]:
        """The portions of a request; `signed` is that of its draft."""
        self._maker.messages = list(messages)
        if self._frame.provider in PROVIDERS_IN_PORTIONS:
            for _ in range(_TRIES):
                found, same = self._cut(signed)
                across = [*_across(found, same)]
                # If the last request renamed no call, neither do the portions that it shares.
                renames = _renames(found if self._maker.renames else found[same:])
                if not across and renames == self._maker.renames:
                    return found
                self._maker.renames = renames
                self._grown = ()
                self._know(found)
                for first, last in across:
                    self._join(found, first, last, signed)
        self._maker.renames = False  # a single portion knows itself what it renames
        return [self._maker.make(0, len(messages), signed)]

    def _join(
        self,
        found: Sequence[Portion],
        first: int,
        last: int,
        signed: SignedPlaces,
    ) -> None:
        """Join several portions that depend on each other into one, for the next attempt."""
        start = 0
        for portion in found[:first]:
            signed = signed_after(portion, start, signed)
            start += portion.length
        end = start + sum(portion.length for portion in found[first : last + 1])
        whole = self._maker.make(start, end, signed)
        self._known[whole.basis.messages[0].key] = whole

    def _cut(self, signed: SignedPlaces) -> tuple[list[Portion], int]:
        """The portions of the messages, and how many of the first are the last request's."""
        found, holding = self._same(signed)
        if self._grown:
            self._known = _by_first(self._grown[len(found) :])
        start, same = sum(portion.length for portion in found), len(found)
        while start < len(self._maker.messages) or not found:
            portion = (
                self._again(start, holding[-1])
                or self._unread(start, holding[-1])
                or self._maker.make(start, self._end(start, MIN_MESSAGES), holding[-1])
            )
            while found and (found[-1].last_role, portion.first_role) not in APART:
                end = start + portion.length
                start -= found.pop().length
                same = min(same, len(found))
                holding.pop()
                portion = self._maker.make(start, end, holding[-1])
            found.append(portion)
            holding.append(signed_after(portion, start, holding[-1]))
            start += portion.length
            if not self._maker.renames and _renames([portion]):
                break  # every portion depends on this, so all are made again
        return found, same

    def _same(self, signed: SignedPlaces) -> tuple[list[Portion], list[SignedPlaces]]:
        """The last request's portions, except its last one, if this thread has only grown since.

        Also returns where signatures hold before each of them and after the last.
        """
        found: list[Portion] = []
        holding, start = [signed], 0
        if not self._grown or self._grown[0].basis.head != self._maker.head:
            return found, holding
        for portion in self._grown[:-1]:
            basis = portion.basis
            is_same = basis.renames == self._maker.renames and (
                not portion.has_reasoning
                or basis.signed == holding[-1].within(start, start + portion.length)
            )
            if not is_same:
                break
            found.append(portion)
            holding.append(signed_after(portion, start, holding[-1]))
            start += portion.length
        return found, holding

    def _unread(self, start: int, signed: SignedPlaces) -> Portion | None:
        """A portion that needs no reading, up to the first message that must be read.

        Returns None if it would be shorter than a compiled portion may be.
        """
        messages, end = self._maker.messages, self._end(start, MIN_PLAIN_LENGTH)
        places = range(start, end)
        read = next(
            (at for at in places if not isinstance(messages[at], UnreadMessage)), end
        )
        if read < end:
            least = start + MIN_MESSAGES - 1
            cuts = (at for at in range(read, least, -1) if may_cut(messages, at))
            end = next(cuts, start)
        return self._maker.make_unread(start, end, signed) if end > start else None

    def _end(self, start: int, shortest: int) -> int:
        """The end of a portion that begins here: the first cut that makes it long enough.

        It ends earlier if a known portion begins there, so that the old portions fit again after
        a change.
        """
        places = range(start + 1, len(self._maker.messages))
        return next(
            (
                place
                for place in places
                if (
                    place >= start + shortest
                    or self._maker.messages[place].key in self._known
                )
                and may_cut(self._maker.messages, place)
            ),
            len(self._maker.messages),
        )

    def _again(self, start: int, signed: SignedPlaces) -> Portion | None:
        """The known portion that begins here; None if anything in it differs."""
        if start == len(self._maker.messages):
            return None
        known = self._known.get(self._maker.messages[start].key)
        if known is None:
            return None
        basis, end = known.basis, start + known.length
        named = self._left_out
        left_out = (
            dict(basis.left_out)  # only folds leave results out; they are unchanged
            if self._grown
            else {id_: named[id_] for id_ in known.unanswered if id_ in named}
        )
        is_same = (
            basis.follows == (start > 0)
            and basis.is_followed == (end < len(self._maker.messages))
            and basis.renames == self._maker.renames
            and (basis.follows or basis.head == self._maker.head)
            and self._maker.messages[start:end] == basis.messages
            and (not basis.is_followed or may_cut(self._maker.messages, end))
            and basis.units
            == tuple([self._frame.unit(message.key) for message in basis.messages])
            and dict(basis.left_out) == left_out
            and (not known.has_reasoning or basis.signed == signed.within(start, end))
        )
        return known if is_same else None


def _by_first(portions: Iterable[Portion]) -> dict[Key, Portion]:
    """Map the key of each portion's first message to the portion."""
    return {one.basis.messages[0].key: one for one in portions if one.length}


def _renames(portions: Iterable[Portion]) -> bool:
    return any(
        finding.rule == "R2" for portion in portions for finding in portion.findings
    )


def _across(portions: Sequence[Portion], same: int) -> Iterator[tuple[int, int]]:
    """Ranges of portions that share a unit, or a call and its result, and so must be joined.

    There is no such range among the first `same` portions, which are those of the last request.
    """
    new = portions[same:]
    ids = frozenset[str]().union(*(one.ids for one in new))
    shared = frozenset[Unit]().union(*(one.shared for one in new))
    if (
        _are_apart([one.ids for one in new])
        and _are_apart([one.shared for one in new])
        and all(
            ids.isdisjoint(one.ids) and shared.isdisjoint(one.shared)
            for one in portions[:same]
        )
    ):
        return
    first_of: dict[Hashable, int] = {}
    found: list[tuple[int, int]] = []
    for place, portion in enumerate(portions):
        start = (
            min(
                first_of.setdefault(one, place)
                for one in (*portion.ids, *portion.shared)
            )
            if portion.ids or portion.shared
            else place
        )
        if start < place:
            while found and found[-1][1] >= start:
                start = min(start, found.pop()[0])
            found.append((start, place))
    yield from found


def _are_apart(sets: Sequence[frozenset[Any]]) -> bool:
    return sum(map(len, sets)) == len(frozenset().union(*sets))
