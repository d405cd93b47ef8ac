"""The differences between two threads of one session, for the page and for answers."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple
from weakref import WeakKeyDictionary

from operations.domain.tree.key import Key
from operations.domain.tree.status import Report, Status
from operations.domain.tree.tree import longest_increasing_subsequence

from .thread import Thread

_Appearances = dict[Key, list[object]]
_known: "WeakKeyDictionary[Thread, _Appearances]" = WeakKeyDictionary()
"""A cache: the newer thread of one difference is the older one of the next."""


class InsertedRun(NamedTuple):
    """Nodes to insert after an existing node; None means at the top."""

    after: Key | None
    keys: tuple[Key, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How the nodes at the top of one thread become those of another.

    First `removed` are taken out, then the runs of `inserted` are put in, in order. A node that
    moved is in both, and as few nodes as possible move. `changed` are nodes that stay where they
    are but look different.
    """

    removed: tuple[Key, ...]
    inserted: tuple[InsertedRun, ...]
    changed: tuple[Key, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusChange:
    """An edit whose status differs from that in the thread before."""

    report: Report
    before: Status


def difference(old: Thread, new: Thread) -> Difference:
    """The difference between the top levels of two threads."""
    before, now = old.keys, new.keys
    start, shorter = 0, min(len(before), len(now))
    while start < shorter and before[start] == now[start]:
        start += 1
    end, left = 0, shorter - start
    while end < left and before[~end] == now[~end]:
        end += 1
    stood = {key: place for place, key in enumerate(before[start : len(before) - end])}
    middle = now[start : len(now) - end]
    common = [key for key in middle if key in stood]
    still = {
        common[place]
        for place in longest_increasing_subsequence([stood[key] for key in common])
    }
    runs: list[tuple[Key | None, list[Key]]] = []
    previous = now[start - 1] if start else None
    for key in middle:
        if key not in still and runs and runs[-1][1][-1] == previous:
            runs[-1][1].append(key)
        elif key not in still:
            runs.append((previous, [key]))
        previous = key
    gone = {key for key in stood if key not in still}
    moving = gone | {key for key in middle if key not in still}
    return Difference(
        removed=tuple(key for key in stood if key in gone),
        inserted=tuple(InsertedRun(after, tuple(keys)) for after, keys in runs),
        changed=tuple(key for key in _changed(old, new) if key not in moving),
    )


def status_changes(old: Thread, new: Thread) -> list[StatusChange]:
    """The edits of both threads whose status changed in the new one."""
    return [
        StatusChange(report=new.report(number), before=before)
        for number in new.revisited_since(old.playback.version)
        if (before := old.status(number)) and before is not new.status(number)
    ]


def _changed(old: Thread, new: Thread) -> list[Key]:
    """Nodes at the top of both threads that look different, in the order of the new one.

    Only messages that something was done to are compared.
    """
    touched = new.touched_since(old)
    before, now = (_changed_appearances(one, touched) for one in (old, new))
    changed = [
        key
        for key in before.keys() | now.keys()
        if before.get(key) != now.get(key) and _at_top(old, key) and _at_top(new, key)
    ]
    return sorted(changed, key=new.position)


def _at_top(thread: Thread, key: Key) -> bool:
    return thread.holds(key) and thread.top_key(key) == key


def _changed_appearances(thread: Thread, keys: AbstractSet[Key]) -> _Appearances:
    """For each node at the top, what can be seen of its folds and marks, and of these messages."""
    looks = {key: [*seen] for key, seen in _appearances(thread).items()}
    for key in sorted(keys):
        if thread.holds(key):
            seen = looks.setdefault(thread.top_key(key), [])
            seen += [thread.node(key), thread.spans(key), key in thread.log.purged]
    return looks


def _appearances(thread: Thread) -> _Appearances:
    """For each node at the top, what can be seen of its folds and marks."""
    known = _known.get(thread)
    if known is None:
        known = _known[thread] = _compute_appearances(thread)
    return known


def _compute_appearances(thread: Thread) -> _Appearances:
    looks: _Appearances = {}
    for key in thread.folds:
        seen = looks.setdefault(thread.top_key(key), [])
        seen += [thread.node(key), thread.child_keys(key)]
    for key, marks in thread.marks.items():
        looks.setdefault(thread.top_key(key), []).append((key, marks))
    for moved in thread.moves:
        after = thread.top_key(moved.after) if moved.after else thread.keys[0]
        looks.setdefault(after, []).append(moved)
    return looks
