"""Where each operation first changes what is sent, read from the thread in one pass.

A ledger of a thousand operations lists this; nothing is replayed for each of them. The figures
are exact for operations that don't overlap. For a single operation, two contexts are compared
instead.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from types import MappingProxyType
from typing import NamedTuple

from operations.domain.log.operation import Edit, Insert, Tag, named_keys, spans_of
from operations.domain.providers.request import Layer, Outgoing
from operations.domain.thread.node import FoldNode, MovedNodes
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import (
    Key,
    entry_key,
    entry_number,
    made_key,
    parse_made_key,
)
from operations.domain.tree.status import Status

from .saving import saved_at

MAX_PARTS = 8
"""The most parts into which edits are divided; each part costs a replay of the thread."""


class FirstChange(NamedTuple):
    """What one operation changes in what is sent; `key` is None if it changes nothing."""

    operation: Key
    key: Key | None = None
    """The first node that it changes."""
    tokens: int = 0
    """The tokens before that node."""
    saved: int = 0
    """Tokens that it saves; negative if it adds some."""
    frame: int = 0
    """Tokens that the provider's form adds around its text, less those around the texts that it
    hides; they are already subtracted in `saved`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How the tokens of a request are distributed over the nodes at the top of a thread."""

    before: Sequence[int]
    """The tokens before each node; the last figure is the total."""
    left_out: range
    """The positions that a window or a slice leaves out."""
    frames: Mapping[Key, int]
    """Maps nodes to the tokens that the provider's form adds around an operation's text, less
    those around the texts that a fold hides."""


def layout_of(
    thread: Thread,
    layers: Sequence[Layer],
    messages: Iterable[Outgoing],
    *,
    waiting: Mapping[Key, int] = MappingProxyType({}),
    hidden: Mapping[Key, int] = MappingProxyType({}),
) -> Layout:
    """The layout of what is sent of a thread.

    `waiting` maps operations that the thread shows as applied, although what is sent lacks them,
    to the tokens that a request would need for them beyond their text. `hidden` maps folds to the
    tokens that it would need beyond the texts of the folds in them.
    """
    standing = list(thread.shown_nodes())
    rules = {key for layer in layers for key in layer.keys}
    of_rules = (
        place
        for place, (_, shown) in enumerate(standing)
        if shown and shown[0].key in rules
    )
    behind = max(of_rules, default=-1) + 1
    sent = {message.key: message.tokens for message in messages}
    before, tokens, first = list[int](), 0, None
    frames = Counter(waiting)
    frames.subtract(hidden)
    for position, (node, shown) in enumerate(standing):
        if position == behind:
            tokens = sum(layer.tokens for layer in layers)
        before.append(tokens)
        here = [one.key for one in shown]
        for key in _unfolded(thread, node) if node in waiting else here:
            if key in sent:
                first = position if first is None else first
                tokens += sent[key]
        for one in shown:
            tokens += one.tokens if one.key in rules else 0
            if one.index is None and one.key in sent:
                frames[node] += sent[one.key] - one.tokens
    return Layout(
        before=[*before, tokens], left_out=range(behind, first or 0), frames=frames
    )


def first_changes(
    thread: Thread, layout: Layout, numbers: Iterable[int], *, cut: bool = False
) -> Iterator[FirstChange]:
    """The change of each operation; `cut`: a window or a slice left messages out."""
    moves: Mapping[Key, list[MovedNodes]] = {
        key: list(moved)
        for key, moved in groupby(thread.moves, attrgetter("operation"))
    }
    for number in numbers:
        key = entry_key(number)
        edit = thread.log.edits[number].edit
        places = list[tuple[int, int, int]]()
        if thread.report(number).status is Status.APPLIED:
            places += _places(thread, number, layout.frames)
            places += _moved(thread, edit, moves[key]) if key in moves else ()
        position = min((place for place, _, _ in places), default=None)
        if position is None or (cut and position in layout.left_out):
            yield FirstChange(key)
            continue
        node = thread.keys[min(position, thread.total - 1)]
        saved = sum(saved for _, saved, _ in places)
        frame = sum(frame for _, _, frame in places)
        yield FirstChange(key, node, layout.before[position], saved, frame)


def independent_groups(
    edits: Mapping[int, Edit], bundles: Mapping[int, str]
) -> list[list[int]]:
    """Divide edits, given by number, into parts in which none overlaps another.

    Two edits proposed for the same messages can then each be tried as if the other did not exist.
    `bundles` maps edits to their bundle, if they have one. A bundle stays in one part, and so
    does an edit that acts on what others make, together with these, even if they overlap. Once
    there are `MAX_PARTS` parts, edits that fit into none of them go into the last one.
    """
    parts: list[list[int]] = []
    touched: list[set[Key]] = []
    for numbers in _dependent_groups(edits, bundles):
        keys = {key for number in numbers for key in _acted_on(edits[number])}
        free = (at for at, held in enumerate(touched) if keys.isdisjoint(held))
        part = next(free, min(len(touched), MAX_PARTS - 1))
        if part == len(touched):
            touched.append(set())
            parts.append([])
        touched[part] |= keys
        parts[part] += numbers
    return [sorted(part) for part in parts]


def _dependent_groups(
    edits: Mapping[int, Edit], bundles: Mapping[int, str]
) -> list[list[int]]:
    """Group edits that are tried together: bundles, and edits that act on what others make."""
    leader: dict[int, int] = {}
    first_of: dict[str, int] = {}

    def lead(number: int) -> int:
        while leader[number] != number:
            leader[number] = number = leader[leader[number]]
        return number

    for number, edit in edits.items():
        leader[number] = number
        known = [made[0] for key in named_keys(edit) if (made := parse_made_key(key))]
        if number in bundles:
            known.append(first_of.setdefault(bundles[number], number))
        for other in known:
            if other in leader:
                first, last = sorted((lead(other), lead(number)))
                leader[last] = first
    groups: dict[int, list[int]] = defaultdict(list)
    for number in edits:
        groups[lead(number)].append(number)
    return list(groups.values())


def _acted_on(edit: Edit) -> tuple[Key, ...]:
    """The keys whose messages an edit changes; none for tags and inserts."""
    return () if isinstance(edit, (Insert, Tag)) else named_keys(edit)


def _places(
    thread: Thread, number: int, frames: Mapping[Key, int]
) -> Iterator[tuple[int, int, int]]:
    """The positions that an edit changes, with what it saves there and the frame it needs."""
    framed = not spans_of(thread.log.edits[number].edit)
    for key, saved in saved_at(thread, number):
        frame = frames.get(key, 0) if framed else 0
        yield thread.position(key), saved - frame, frame


def _moved(
    thread: Thread, edit: Edit, moves: Iterable[MovedNodes]
) -> Iterator[tuple[int, int, int]]:
    """The first position at which moved nodes stand, or from which they were taken.

    The node after which they stood may since have been folded away to an earlier place, but
    nothing changed before all the listed nodes.
    """
    listed = (thread.position(key) for key in named_keys(edit) if thread.holds(key))
    least = min(listed, default=0)
    for move in moves:
        if move.within is None:
            behind = thread.position(move.after) + 1 if move.after else 0
            yield max(least, min(behind, *map(thread.position, move.keys))), 0, 0


def _unfolded(thread: Thread, node: Key) -> list[Key]:
    """What is sent in place of a fold that isn't applied yet: its children as they are shown."""
    found: list[Key] = []
    for child in thread.child_keys(node):
        inner = thread.node(child)
        if isinstance(inner, FoldNode):
            found += (
                made_key(entry_number(child) or 0, k)
                for k in range(len(inner.messages))
            )
        else:
            found.append(child)
    return found
