"""What people read a message called: the one place that makes these names.

An original is `#150`, its index. What an operation made is named by it: `insert o7`, its further
messages `insert o7.1`, a fold `digest o7`. Keys stand only where an API or a tool takes them.
"""

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, made_place, original_index

MOST_RUNS = 3
"""Runs of originals up to which a set of messages is named by them."""


class Named(NamedTuple):
    """A key, to lead there by, and what people read it called."""

    key: Key
    name: str


def named(thread: Thread, keys: Iterable[Key]) -> list[Named]:
    """Each key with its name."""
    return [Named(key, name_of(thread, key)) for key in keys]


def word_of(kind: str) -> str:
    """What people read a kind of operation called: a resequence is a move."""
    return {"resequence": "move", "activate_tags": "active tags"}.get(kind, kind)


def name_of(thread: Thread, key: Key) -> str:
    """The name of a message or a fold; what names nothing in this log is left as it is."""
    index = original_index(key)
    if index is not None:
        return f"#{index}"
    number, place = made_place(key) or (0, None)
    if number not in thread.log.edits:
        return key
    word = word_of(thread.log.edits[number].edit.kind)
    return f"{word} o{number}.{place}" if place else f"{word} o{number}"


def range_of(thread: Thread, first: Key, last: Key) -> str:
    """`#2–#57`; of one message its name alone, of none nothing."""
    if not first:
        return ""
    names = dict.fromkeys(name_of(thread, key) for key in (first, last))
    joint = "–" if first[0] == last[0] == "m" else " to "
    return joint.join(names)


def ranges_of(thread: Thread, keys: Iterable[Key]) -> str:
    """The runs of originals among messages, or else the names of those that were inserted.

    Nothing where these are more than `MOST_RUNS`.
    """
    found = list(keys)
    known = ((original_index(key), key) for key in found)
    indexes = sorted(index for index, _ in known if index is not None)
    runs = [
        [index for _, index in run]
        for _, run in groupby(enumerate(indexes), key=lambda item: item[1] - item[0])
    ]
    names = [range_of(thread, f"m{run[0]}", f"m{run[-1]}") for run in runs]
    names += [name_of(thread, key) for key in found if original_index(key) is None]
    return ", ".join(names) if len(names) <= MOST_RUNS else ""
