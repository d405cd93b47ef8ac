"""Tracks what a model sees of a conversation while its tool shortens it.

Tools that rewrite their whole context (a checkpoint, a continuation) don't say what they hid. It is
found here by comparing the old context with the new one.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple


class Replacement(NamedTuple):
    """A stretch of the view that was replaced: the messages it hides, and the new keys.

    `hidden` are ordinals of messages, empty if keys were added at the end. `start` and `end` are
    the range of the replacement among the new keys.
    """

    hidden: tuple[int, ...]
    start: int
    end: int


class _Entry(NamedTuple):
    key: Hashable
    ordinals: tuple[int, ...]
    group: int
    """Shared by entries that together replace the same hidden messages; unique for a message."""


class ContextView:
    """The keys of what the model sees, in order, each with the ordinals of its messages."""

    def __init__(self) -> None:
        self._entries: list[_Entry] = []
        self._count = 0
        self._group = 0

    def add(self, key: Hashable, messages: int = 1) -> None:
        """Append a record that became `messages` messages."""
        ordinals = tuple(range(self._count, self._count + messages))
        self._count += messages
        if ordinals:
            self._group += 1
            self._entries.append(_Entry(key, ordinals, self._group))

    def put(self, place: int, key: Hashable) -> tuple[int, ...]:
        """Replace the key at a place; returns the ordinals of the messages that it hides."""
        self._group += 1
        hidden = self._entries[place].ordinals
        self._entries[place] = _Entry(key, hidden, self._group)
        return hidden

    def become(self, keys: Sequence[Hashable]) -> Iterator[Replacement]:
        """Change the view to these keys; yields the replacements, in order.

        Keys that are only added at the end are yielded with nothing hidden; they are not in the
        view until `add` is called.
        """
        if not keys:
            self._entries = []
            return
        old, self._entries = self._entries, []
        anchors = _anchors(old, keys)
        begin = (0, 0)
        for place, at in [*anchors, (len(old), len(keys))]:
            hidden = {n for entry in old[begin[0] : place] for n in entry.ordinals}
            if at > begin[1]:
                yield Replacement(tuple(sorted(hidden)), begin[1], at)
            if hidden:
                self._group += 1
                self._entries += [
                    _Entry(key, tuple(sorted(hidden)), self._group)
                    for key in keys[begin[1] : at]
                ]
            self._entries += old[place : place + 1]
            begin = place + 1, at + 1


def _anchors(old: Sequence[_Entry], keys: Sequence[Hashable]) -> list[tuple[int, int]]:
    """The unchanged entries: their places in the old view and among the new keys.

    Between two anchors, either something is hidden and something replaces it, or nothing
    changed. Entries of one group all stay, or none does.
    """
    places: dict[Hashable, list[int]] = {}
    for place, entry in enumerate(old):
        places.setdefault(entry.key, []).append(place)
    anchors, after = [], 0
    for at, key in enumerate(keys):
        found = places.get(key, [])
        if (nth := bisect_left(found, after)) < len(found):
            anchors.append((found[nth], at))
            after = found[nth] + 1
    sizes = Counter(entry.group for entry in old)
    while True:
        anchors = _two_sided(anchors, (len(old), len(keys)))
        whole = Counter(old[place].group for place, _ in anchors)
        kept = [
            anchor for anchor in anchors if whole[g := old[anchor[0]].group] == sizes[g]
        ]
        if len(kept) == len(anchors):
            return anchors
        anchors = kept


def _two_sided(
    anchors: list[tuple[int, int]], end: tuple[int, int]
) -> list[tuple[int, int]]:
    """The anchors without those beside which something was only hidden or only added.

    Additions after the last anchor are allowed.
    """
    kept: list[tuple[int, int]] = []
    for anchor in [*anchors, end]:
        place, at = kept[-1] if kept else (-1, -1)
        is_odd = (anchor[0] == place + 1) != (anchor[1] == at + 1)
        if not is_odd:
            kept.append(anchor)
        elif anchor == end:
            if anchor[1] == at + 1 and kept:
                kept.pop()
            kept.append(anchor)
    return kept[:-1]
