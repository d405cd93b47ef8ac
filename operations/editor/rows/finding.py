"""Where in a thread an operation is found, whatever became of it, and what comes next of a kind."""

from collections.abc import Iterable, Iterator
from itertools import islice

from contextstudio.accounts.domain.errors import NotFound
from operations.domain.log.operation import named_keys
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, made_key
from operations.messages.reader import MessageReader

from .look import Look
from .minimap import shapes
from .row import has_failed

READ_AT_ONCE = 100
"""Results that are read at once on the way to one that failed."""


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


def step_to(look: Look, place: int, step: int, kind: str) -> int:
    """The next place of a kind, `user`, `marker` or `failure`. Raises NotFound."""
    rows = shapes(look)
    ahead = range(place + step, len(rows) if step > 0 else -1, step)
    if kind == "failure":
        results = (at for at in ahead if rows[at].kind == "tool")
        found: Iterable[int] = _failures(look, results)
    elif kind == "marker":
        marked = {look.place(key) for key in _touched(look)}
        found = (at for at in ahead if rows[at].is_fold or at in marked)
    else:
        found = (at for at in ahead if rows[at].kind == "user" and not rows[at].is_fold)
    for at in found:
        return at
    raise NotFound("There is none.")


def _failures(look: Look, places: Iterable[int]) -> Iterator[int]:
    """Those places at which a tool's result failed, as their rows say."""
    reader = MessageReader(look.session, look.thread)
    rest = iter(places)
    while some := list(islice(rest, READ_AT_ONCE)):
        keys = {at: look.nodes(look.places.position(at)[0], 1)[0].key for at in some}
        read = reader.effective(keys.values())
        for at, key in keys.items():
            if key in read and has_failed(read[key].parts):
                yield at


def _touched(look: Look) -> Iterator[Key]:
    """Rows that something other than a fold was done to."""
    thread = look.thread
    yield from thread.marks
    for moved in thread.moved:
        yield moved.keys[0]
    yield from (key for key in thread.inserted if key.endswith(".0"))
