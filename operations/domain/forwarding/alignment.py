"""Aligns the messages that a client sends with the originals of a session.

Messages are aligned by digest, one by one. Messages with different digests may still say the
same: a provider's form divides a conversation into messages in its own way and leaves out what it
has no place for. So both sides are read as atoms, and a run of the client's messages is matched
with the shortest run of originals that says the same. Together the two runs are a unit.

`align_from_start` goes along what the client sent last, which is all that most requests need. If
that ends before the request does, `finding` looks for the originals wherever they are.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

from operations.domain.tree.key import Key, original_index, original_key
from threads.domain.body import digest, tombstone_of
from threads.domain.formats.format import Heading
from threads.domain.formats.kit.calls import CallIds
from threads.domain.formats.requests import (
    SYSTEM,
    Atom,
    RequestForm,
    atoms_of,
    have_same_atoms,
    plain_prompt,
    system_words,
)
from threads.domain.message import Message, Role
from threads.domain.part import Part, Text, ToolResult


class Unit(NamedTuple):
    """Originals `first` to `last`, and the client's messages `start` to `end` that say the same.

    Both ranges are half-open. `joins`: the first of the originals that is sent at all brings
    results, so it belongs to a user's message before it. `as_given`: if nothing changes the
    originals, the client's messages may go out as they are.
    """

    first: int
    last: int
    start: int
    end: int
    joins: bool = False
    as_given: bool = True
    made: tuple[Key, ...] = ()
    """Messages of the client's own edits, if the unit consists of these and has no originals."""

    @property
    def keys(self) -> list[Key]:
        """The keys of its originals, or else of the messages in `made`."""
        if self.last == self.first + 1:
            return [original_key(self.first)]  # the usual case
        return [original_key(index) for index in range(self.first, self.last)] or [
            *self.made
        ]


class UnitCounts(NamedTuple):
    """Totals over units, so that those of the last request needn't be counted again each turn."""

    originals: int = 0
    edited: int = 0
    """How many of the client's messages are its own edits rather than originals."""
    as_given: bool = True
    """Whether all may go out as the client sent them."""

    def extended(self, units: Iterable[Unit]) -> "UnitCounts":
        """The totals after these units are appended."""
        originals, edited, as_given = self
        for unit in units:
            originals += unit.last - unit.first
            as_given = as_given and unit.as_given
            if unit.made:
                edited += unit.end - unit.start
        return UnitCounts(originals, edited, as_given)


class HeldSession(Protocol):
    """What a session holds, in the form that alignment needs."""

    @property
    def digests(self) -> Sequence[bytes]:
        """The digest of each original, as it was recorded."""

    @property
    def lead(self) -> int:
        """How many of the originals at the top are system messages."""

    def readings(self, index: int) -> Sequence[Message]:
        """An original as it was recorded, followed by its masked reading if that differs."""


class GivenMessages(NamedTuple):
    """The messages that a client sends."""

    messages: Sequence[Message]
    digest: Callable[[int], bytes]
    """Returns the digest of the message at a place."""
    system: bool = False
    """Whether the first message is the prompt, given in a member of its own."""


def align_from_start(
    given: GivenMessages,
    held: HeldSession,
    form: RequestForm,
    heading: Heading,
    *,
    is_last: bool = False,
) -> tuple[list[Unit], int]:
    """Units for the client's messages from the first on, and how many messages they cover.

    They end where client and session say different things, or where either ends. `heading` reads
    the bytes of images. `is_last`: `held` is what the client sent last, without what it left out.
    """
    walk = _Walk(given, held, form, heading)
    units: list[Unit] = []
    digests, count = held.digests, len(given.messages)
    place, index = 0, 0
    while index < len(digests):
        if place < count and is_known(given.digest(place), digests[index]):
            units.append(recorded_unit(given, place, index))
            place, index = place + 1, index + 1
            continue
        if is_last and is_purged(held, index):
            rest = range(place, count), range(index, len(digests))
            unit = purged_answer(given, held, *rest)
            unit = unit or Unit(index, index + 1, place, place)
        else:
            unit = walk.unit(place, index)
        if unit is None:
            break
        units.append(unit)
        place, index = unit.end, unit.last
    return units, place


def resolve_units(units: Sequence[Unit], keys: Sequence[Key]) -> list[Unit]:
    """Units whose indexes count along `keys`, converted to the originals and edits named there."""
    found: list[Unit] = []
    for unit in units:
        named = keys[unit.first : unit.last]
        first = original_index(named[0])
        last = original_index(named[-1])
        if first is not None and last == first + len(named) - 1:
            found.append(unit._replace(first=first, last=last + 1))
        else:
            found.append(unit._replace(first=0, last=0, made=tuple(named)))
    return found


def is_known(given: bytes, held: bytes) -> bool:
    """Whether a digest is that of an original, even if the original has since been purged."""
    return held in (given, tombstone_of(given))


def recorded_unit(given: GivenMessages, place: int, index: int) -> Unit:
    """The unit of a client message that is, or becomes, a single original."""
    role, parts = given.messages[place].role, given.messages[place].parts
    joins = ToolResult in map(type, parts) and role is not Role.ASSISTANT
    return Unit(index, index + 1, place, place + 1, joins)


def purged_answer(
    given: GivenMessages, held: HeldSession, places: range, indexes: range
) -> Unit | None:
    """The unit of purged originals that begins both ranges and answers a purged question.

    By their tombstones they are known only in the form in which they were recorded. Nothing else
    is left of them, so what a client sends in their place in another form, as with calls as items
    of their own, without ids or without thinking, is known by who says it.
    """
    place, index = places.start, indexes.start
    if not (place and index and is_purged(held, index - 1)) or not is_known(
        given.digest(place - 1), held.digests[index - 1]
    ):
        return None
    stop = index
    while (
        stop < indexes.stop and is_purged(held, stop) and _turn(held.readings(stop)[0])
    ):
        stop += 1
    last, end, speaker = index, place, None
    while last < stop:
        said, start = _turn(held.readings(last)[0]), end
        later = held.digests[last + 1 : stop]
        while (
            end < places.stop
            and _turn(given.messages[end]) is said
            and tombstone_of(given.digest(end)) not in later
        ):
            end += 1
        if end == start and said is not speaker:
            break
        last, speaker = last + 1, said
    return Unit(index, last, place, end) if last > index else None


def is_purged(held: HeldSession, index: int) -> bool:
    """Whether only the tombstone of an original is left."""
    message = held.readings(index)[0]
    return not message.parts and held.digests[index] != digest(message.role, ())


def _turn(message: Message) -> Role | None:
    """Who says a message in a turn: the model, or its tools; None if it begins another turn."""
    if message.role in (Role.ASSISTANT, Role.TOOL):
        return message.role
    are_results = message.parts and {*map(type, message.parts)} == {ToolResult}
    return Role.TOOL if are_results else None


def prompt_unit(given: GivenMessages, held: HeldSession, index: int) -> Unit | None:
    """The unit of originals, from `index` on, that are the system prompt beside the messages."""
    wanted = plain_prompt(given.messages[0].text)
    for which in (0, -1):  # as recorded, then as masked
        found: list[Message] = []
        for at in range(index, len(held.digests)):
            found.append(held.readings(at)[which])
            if found[-1].role not in SYSTEM:
                break
            if plain_prompt(system_words(found)) == wanted:
                return Unit(index, at + 1, 0, 1)
    return None


class _Walk:
    """Finds one unit after another, in time proportional to the number of messages."""

    def __init__(
        self,
        given: GivenMessages,
        held: HeldSession,
        form: RequestForm,
        heading: Heading,
    ) -> None:
        self._given, self._held = given, held
        self._form, self._heading = form, heading
        self._ids = CallIds()

    def unit(self, place: int, index: int) -> Unit | None:
        """The unit that begins here; None if the two sides say different things."""
        is_prompt = place == 0 and self._given.system and self._form.has_system
        if is_prompt:
            return prompt_unit(self._given, self._held, index)
        return (
            self._same_content(place, index, False)
            or self._same_content(place, index, True)
            or self._joined_replies(place, index, False)
            or self._joined_replies(place, index, True)
        )

    def _joined_replies(self, place: int, index: int, masked: bool) -> Unit | None:
        """Match several replies in a row that the client sends as one message.

        Such a client wrote the beginning of a reply itself, let the model continue, and joined
        the two.
        """
        if place == len(self._given.messages):
            return None
        message = self._given.messages[place]
        parts: tuple[Part, ...] = ()
        for at in range(index, len(self._held.digests)):
            reply = self._reading(at, masked)
            if not reply.role is message.role is Role.ASSISTANT:
                return None
            parts = _joined(parts, reply.parts)
            whole = replace(reply, parts=parts)
            if not message.text.startswith(whole.text):
                return None
            if at > index and message.text == whole.text:
                return self._matching_unit(place, index, whole, at + 1)
        return None

    def _matching_unit(
        self, place: int, index: int, whole: Message, last: int
    ) -> Unit | None:
        """The unit of originals that together say `whole`; None if the client's message differs."""
        ids = self._ids.copy()
        named = ids.given(whole) if self._form.has_ids else whole
        held = atoms_of(named, self._form, self._heading)
        given = atoms_of(self._given.messages[place], self._form, self._heading)
        if not have_same_atoms(given, held):
            return None
        self._ids = ids
        return Unit(index, last, place, place + 1, as_given=named is whole)

    def _same_content(self, place: int, index: int, masked: bool) -> Unit | None:
        """The shortest runs of originals and client messages from here on that say the same."""
        ids = self._ids.copy()
        held, as_given = self._sent(index, masked, ids)
        if not held:
            return Unit(index, index + 1, place, place)
        joins = held[0].is_result and held[0].role is not Role.ASSISTANT
        given: list[Atom] = []
        last, end = index + 1, place
        is_alone = place == 0 and self._given.system
        stop = 1 if is_alone else len(self._given.messages)
        while len(given) != len(held):
            if len(given) < len(held):
                if end == stop:
                    return None
                message = self._given.messages[end]
                given += atoms_of(message, self._form, self._heading)
                end += 1
            else:
                if last == len(self._held.digests):
                    return None
                more, has_ids = self._sent(last, masked, ids)
                held += more
                as_given = as_given and has_ids
                last += 1
        if not have_same_atoms(given, held):
            return None
        self._ids = ids
        return Unit(index, last, place, end, joins, as_given)

    def _sent(self, index: int, masked: bool, ids: CallIds) -> tuple[list[Atom], bool]:
        """What is sent of an original, and whether its calls already had ids."""
        message = self._reading(index, masked)
        named = ids.given(message) if self._form.has_ids else message
        return atoms_of(named, self._form, self._heading), named is message

    def _reading(self, index: int, masked: bool) -> Message:
        return self._held.readings(index)[-1 if masked else 0]


def _joined(some: tuple[Part, ...], more: tuple[Part, ...]) -> tuple[Part, ...]:
    """Concatenate parts, joining two texts that meet."""
    if some and more and isinstance(some[-1], Text) and isinstance(more[0], Text):
        return (*some[:-1], Text(some[-1].text + more[0].text), *more[1:])
    return (*some, *more)
