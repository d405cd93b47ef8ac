"""Where in a thread an operation is found, whatever became of it."""

from collections.abc import Iterator

from operations.domain.log.operation import named_keys
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, made_key


def found_at(thread: Thread, key: Key) -> Key:
    """The node at which a key is found: an operation that is none hangs or acts on one.

    A key that is nowhere stays what it is.
    """
    return key if thread.holds(key) else next(_nodes(thread, key), key)


def _nodes(thread: Thread, key: Key) -> Iterator[Key]:
    """The nodes that an operation has to do with, where its note hangs before all others."""
    recorded = thread.log.edit(key)
    if recorded is None:
        return
    for node, marks in thread.marks.items():
        if any(mark.operation == key for mark in marks):
            yield node
    yield from (moved.keys[0] for moved in thread.moved if moved.operation == key)
    acted_on = (made_key(recorded.entry.number, 0), *named_keys(recorded.edit))
    yield from filter(thread.holds, acted_on)
