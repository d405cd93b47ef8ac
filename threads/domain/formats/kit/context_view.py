"""What a model sees of a conversation while its tool shortens it.

Tools that write their whole context anew (a checkpoint, a continuation) don't say what they
hid. It is found here by comparing what stood there with what stands there now.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple


class Replacement(NamedTuple):
    """A stretch of the view that is another now: which messages it hides, and what stands there.

    `hidden` are ordinals of messages, none where something was added at the end; `start` and
    `end` are the places among the new keys of what stands there.
    """

    hidden: tuple[int, ...]
    start: int
    end: int


class _Entry(NamedTuple):
    key: Hashable
    ordinals: tuple[int, ...]
    group: int
    """Entries that stand together for what was hidden once; a message's own number is unique."""


class ContextView:
    """Keys of what the model sees, in order, each with the ordinals of the messages it shows."""

    def __init__(self) -> None:
        self._entries: list[_Entry] = []
        self._count = 0
        self._group = 0

    def add(self, key: Hashable, messages: int = 1) -> None:
        """A record was said, as so many messages."""
        ordinals = tuple(range(self._count, self._count + messages))
        self._count += messages
        if ordinals:
            self._group += 1
            self._entries.append(_Entry(key, ordinals, self._group))

    def put(self, place: int, key: Hashable) -> tuple[int, ...]:
        """Let a key stand in the place of another; the ordinals of what it hides."""
        self._group += 1
        hidden = self._entries[place].ordinals
        self._entries[place] = _Entry(key, hidden, self._group)
        return hidden

    def become(self, keys: Sequence[Hashable]) -> Iterator[Replacement]:
        """Make the view these keys; gives what changed, in order.

        What is only added at the end is given without anything hidden, and is not in the view
        until it is added.
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
    """The places of what stays, in the old view and among the new keys.

    Between two of them something is hidden and something stands for it, or nothing changed.
    Entries that stand together stay together or not at all.
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
    """Without the anchors beside which something was only hidden or only added.

    What is only added behind the last one stays so.
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
