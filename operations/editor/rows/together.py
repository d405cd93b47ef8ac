"""Proposals that were recorded together, which the thread shows as parts of one bundle."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from operations.domain.ledger.saving import hidden_in, saved_in_thread
from operations.domain.log.entry import EditState
from operations.domain.log.operation import EDITS
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, entry_key, entry_number
from operations.messages.names import word_for
from threads.rendering.hidden import visible

from .look import Look, derived
from .operation import FOLDS

ON_PAPER = FOLDS | {"insert", "resequence"}
"""Kinds that have a note in the thread even while off; every kind has one while it waits."""


MIXED = "mixed"
"""The word of a bundle that holds several kinds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartOfBundle:
    """A proposal's place among the parts of its bundle, in thread order."""

    id: str
    name: str
    word: str
    """Its icon and colour, see `bundle_word`."""
    place: int
    """From 1; the first part represents the bundle."""
    count: int
    """The number of waiting operations in the bundle, even if their messages are gone."""
    delta: int
    """Tokens that they add to the thread."""
    first: Key
    before: Key
    behind: Key
    """The previous and next part; empty if there is none."""


def part_of(look: Look, key: Key) -> PartOfBundle | None:
    """The part of a bundle that a proposal is; None if it is decided on alone."""
    parts = derived(look.thread, "bundles that wait", lambda: _parts(look))
    return parts.get(key)


def added_by(thread: Thread, numbers: Iterable[int]) -> int:
    """The tokens that edits add to the thread, or would add."""
    shown = (n for n in numbers if not hidden_in(thread, thread.report(n)))
    return -sum(saved_in_thread(thread, number) for number in shown)


def bundle_name(thread: Thread, title: str, numbers: Iterable[int]) -> str:
    """The name of a bundle: its title, or the kind of its operations if there is only one."""
    if title:
        return visible(title)
    words = {word_for(thread.log.edits[number]) for number in numbers}
    return words.pop().capitalize() if len(words) == 1 else "Bundle"


def bundle_word(thread: Thread, bundle: str, newest: str) -> str:
    """The word that determines a bundle's icon and colour: its only kind, or `MIXED`.

    `newest` is the word of one of its operations.
    """
    kinds = {one.operation.kind for one in thread.log.bundle(bundle)}
    kinds &= EDITS.keys()
    return newest if len(kinds) == 1 else MIXED


def _parts(look: Look) -> dict[Key, PartOfBundle]:
    thread, log = look.thread, look.thread.log
    bundles: dict[str, list[int]] = defaultdict(list)
    for number in thread.marked_edits:
        entry = log.at(number)
        waits = log.edits[number].state is EditState.PROPOSED
        if waits and entry.bundle is not None and not entry.staged:
            bundles[str(entry.bundle)].append(number)
    together = [(name, them) for name, them in bundles.items() if len(them) > 1]
    places = _places(thread) if together else {}
    parts: dict[Key, PartOfBundle] = {}
    for name, numbers in together:
        noted = sorted((places[n], n) for n in numbers if n in places)
        keys = [entry_key(number) for _, number in noted]
        parts |= _in_order(look, name, numbers, keys)
    return parts


def _places(thread: Thread) -> dict[int, int]:
    """Map of operation number to the position of its note in the thread."""
    return {
        number: thread.position(node)
        for node, marks in thread.marks.items()
        for mark in marks
        if (number := entry_number(mark.operation))
    }


def _in_order(
    look: Look, name: str, numbers: Sequence[int], keys: Sequence[Key]
) -> dict[Key, PartOfBundle]:
    """The parts of a bundle that have notes; `keys` are in thread order."""
    thread = look.thread
    title = look.operations.history.title(numbers[0])
    called = bundle_name(thread, title, numbers)
    newest = look.operations[entry_key(numbers[-1])].word
    word = bundle_word(thread, name, newest)
    delta = added_by(thread, numbers)
    return {
        key: PartOfBundle(
            id=name,
            name=called,
            word=word,
            place=place,
            count=len(numbers),
            delta=delta,
            first=keys[0],
            before=keys[place - 2] if place > 1 else "",
            behind=keys[place] if place < len(keys) else "",
        )
        for place, key in enumerate(keys, 1)
    }
