"""Hindsight: finds what was left out of a thread and needed later.

It walks the thread in order. Each message comes with its content (`texts`), the part of it that
relies on earlier messages (`uses`: an assistant's text and the arguments of its calls), and the
operations that left it out, each with the position from which it did. A reference in a use counts
as lost if it occurs in something left out and in nothing that was still sent at that position:
neither another message nor a replacement shown for what was left out. The use itself repeats the
reference, so from there on the reference is known for as long as that message is sent.

The walk only keeps a count, per reference, of the messages in sight that contain it. So the
cost is that of finding the references.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from operations.domain.tree.key import Key

from .references import Reference, References, ReferenceType
from .runs import Texts
from .sightings import Sightings

Used = dict[int, Mapping[Reference, str]]
"""Map of position to the references used there, each with the words that name it."""


class LeftOut(NamedTuple):
    """From some position in the thread on, a message is missing or cut to what it `shows`."""

    by: tuple[str, ...]
    """The operations that each leave it out on their own: a fold, and the folds around it."""
    since: int = 0
    """The first position at which it is missing.

    If that is at most the position after the message, it was missing in all that followed.
    """
    shows: Sequence[str] = ()
    """The texts shown in its place."""


class Passage(NamedTuple):
    """A message of the thread, or a piece of one."""

    key: Key
    place: int
    """Its position in the thread; all pieces of a message have the same."""
    texts: Sequence[str]
    uses: Sequence[str] = ()
    """The part of its texts that relies on earlier messages."""
    left_out: Sequence[LeftOut] = ()
    """In the order in which it happened; empty if the message is still sent as it is."""
    shown_by: str | None = None
    """The operation that shows this as the replacement for what it left out; None if none does."""


class Loss(NamedTuple):
    """A reference that was needed when it was no longer there."""

    text: str
    kind: ReferenceType
    left_out_in: tuple[Key, ...]
    """The left-out messages that contain it."""
    used_in: tuple[Key, ...]
    """The messages that needed it."""


def once_each(losses: Iterable[Loss]) -> list[Loss]:
    """Merge losses of the same reference into one that names all their messages."""
    together: dict[tuple[ReferenceType, str], list[Loss]] = defaultdict(list)
    for loss in losses:
        together[loss.kind, loss.text].append(loss)
    return [
        same[0]._replace(
            left_out_in=_all_of(one.left_out_in for one in same),
            used_in=_all_of(one.used_in for one in same),
        )
        for same in together.values()
    ]


def _all_of(several: Iterable[Iterable[Key]]) -> tuple[Key, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(several)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Hindsight:
    """Which references were needed later, and which were lost. Each reference counts once."""

    references: int
    """References used after something was left out that had occurred earlier in the thread."""
    lost: int
    losses: Mapping[str, Sequence[Loss]]
    """Map of operation to its losses, in the order in which they were needed."""


def hindsight(thread: Sequence[Passage]) -> Hindsight:
    """Find what was needed after it had been left out, given the thread in order."""
    references = References()
    used: Used = {
        number: references.of(said.uses)
        for number, said in enumerate(thread)
        if said.uses
    }
    walk = _walk(thread, used, Sightings({*chain.from_iterable(used.values())}))
    lost = walk.lost()
    return Hindsight(
        references=len(walk.later), lost=len(lost), losses=walk.losses(lost)
    )


def first_lost(
    thread: Sequence[Passage], used: Used, sightings: Sightings
) -> Iterator[tuple[str, list[Key]]]:
    """Yield each lost reference, as it is written, with the messages that first contained it.

    These are, for each operation to blame, the first with the reference that it left out.
    `sightings` must find at least all references in `used`.
    """
    walk = _walk(thread, used, sightings)
    for reference in walk.lost():
        yield walk.words[reference], list(walk.stood_first(reference).values())


def _walk(thread: Sequence[Passage], used: Used, sightings: Sightings) -> "_Walk":
    words = {
        one: words for uses in reversed(used.values()) for one, words in uses.items()
    }
    walk = _Walk(thread, sightings, words)
    walk.go_through(used)
    return walk


@dataclass(slots=True)
class _Missing:
    """The left-out messages that contain a reference, and the messages that needed it."""

    places: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)
    """Each left-out message that contains it, with the operations that left the message out."""
    needed: list[tuple[int, int]] = field(default_factory=list)
    """Each message that needed it, with the length of `places` at that time."""


class _Walk:
    """One pass through a thread."""

    def __init__(
        self,
        thread: Sequence[Passage],
        sightings: Sightings,
        words: Mapping[Reference, str],
    ) -> None:
        self.thread, self.sightings, self.words = thread, sightings, words
        self.stands: Mapping[Reference, int] = {}
        """Map of reference to the first message with it that is never left out.

        From there on the reference is known.
        """
        self.in_sight: dict[Reference, int] = defaultdict(int)
        """How many of the messages that are left out at some point show each reference now."""
        self.shown: dict[int, set[Reference]] = {}
        self.whole: dict[int, set[Reference]] = {}
        self.instead: dict[str, set[Reference]] = defaultdict(set)
        self.missing: dict[Reference, _Missing] = defaultdict(_Missing)
        self.later: set[Reference] = set()
        self.has_left = False
        self.leaving = sorted(
            (left_out.since, number, step)
            for number, said in enumerate(thread)
            for step, left_out in enumerate(said.left_out)
            if left_out.since > said.place
        )[::-1]

    def go_through(self, used: Used) -> None:
        """Walk the thread, given the references that each message uses."""
        thread, texts = self.thread, self._read(used)
        self.stands = self.sightings.first_in(self._staying(texts))
        for number, said in enumerate(thread):
            while self.leaving and self.leaving[-1][0] <= said.place:
                _, missing, step = self.leaving.pop()
                self._leave_out(missing, thread[missing].left_out[step])
            if number in used:
                self._use(number, used[number])
            if said.left_out or said.shown_by is not None:
                self._say(number, said, texts[number])

    def _read(self, used: Used) -> list[Iterable[str]]:
        """The texts of each message.

        For a message that consists of uses only, the words of its references are enough.
        """
        return [
            used[number].values()
            if number in used
            and said.uses == said.texts
            and not isinstance(said.texts, Texts)
            else said.texts
            for number, said in enumerate(self.thread)
        ]

    def _staying(
        self, texts: Sequence[Iterable[str]]
    ) -> Iterator[tuple[int, Iterable[str]]]:
        """The texts of the messages that are never left out, with their positions."""
        for number, said in enumerate(self.thread):
            if not said.left_out:
                yield number, texts[number]

    def _say(self, number: int, said: Passage, texts: Iterable[str]) -> None:
        found = self.sightings.in_texts(texts)
        if said.shown_by is not None:
            self.instead[said.shown_by] |= found
        at_once = [one for one in said.left_out if one.since <= said.place]
        if said.left_out:
            self.whole[number] = found
            if not at_once:
                self._show(number, found)
        for left_out in at_once:
            self._leave_out(number, left_out)

    def _leave_out(self, number: int, left_out: LeftOut) -> None:
        """From now on the message is missing, except for what is shown in its place."""
        now = self.sightings.in_texts(left_out.shows) if left_out.shows else set()
        self._show(number, now)
        place = number, left_out.by
        for reference in self.whole[number] - now:
            self.missing[reference].places.append(place)
        self.has_left = True

    def _show(self, number: int, now: set[Reference]) -> None:
        """From now on the message shows these references and no others."""
        for reference in self.shown.get(number, ()):
            self.in_sight[reference] -= 1
        for reference in now:
            self.in_sight[reference] += 1
        self.shown[number] = now

    def _use(self, number: int, used: Iterable[Reference]) -> None:
        if not self.has_left:
            return
        for reference in used:
            missing = self.missing.get(reference)
            if (
                self.in_sight.get(reference)
                or self.stands.get(reference, number) < number
            ):
                self.later.add(reference)
            elif missing is not None:
                self.later.add(reference)
                missing.needed.append((number, len(missing.places)))

    def lost(self) -> list[Reference]:
        """The references that were needed when no longer there, in the order they were needed."""
        lost = (one for one, missing in self.missing.items() if missing.needed)
        return sorted(lost, key=lambda one: (self.missing[one].needed[0][0], one.name))

    def stood_first(self, reference: Reference) -> Mapping[str, Key]:
        """The operations to blame for a lost reference.

        Each is mapped to the first message with the reference that it left out.
        """
        missing, first = self.missing[reference], dict[str, Key]()
        for place, by in missing.places[: missing.needed[-1][1]]:
            for operation in by:
                if reference not in self.instead.get(operation, ()):
                    first.setdefault(operation, self.thread[place].key)
        return first

    def losses(self, lost: Iterable[Reference]) -> dict[str, list[Loss]]:
        """The losses of these references, by operation to blame."""
        losses: dict[str, list[Loss]] = defaultdict(list)
        for reference in lost:
            for operation, left_out_in, used_in in self._blamed(reference):
                loss = Loss(self.words[reference], reference.kind, left_out_in, used_in)
                losses[operation].append(loss)
        return dict(losses)

    def _blamed(
        self, reference: Reference
    ) -> Iterator[tuple[str, tuple[Key, ...], tuple[Key, ...]]]:
        """The operations to blame for a lost reference, which it would have survived without them.

        Yields each with the left-out messages that contain it and the messages that needed it.
        """
        missing, thread = self.missing[reference], self.thread
        first: dict[str, int] = {}
        keys: dict[str, dict[Key, None]] = defaultdict(dict)
        for number, (place, by) in enumerate(
            missing.places[: missing.needed[-1][1]], start=1
        ):
            for operation in by:
                if reference not in self.instead.get(operation, ()):
                    first.setdefault(operation, number)
                    keys[operation][thread[place].key] = None
        for operation, found in keys.items():
            used_in = (
                thread[place].key
                for place, known in missing.needed
                if known >= first[operation]
            )
            yield operation, tuple(found), tuple(dict.fromkeys(used_in))
