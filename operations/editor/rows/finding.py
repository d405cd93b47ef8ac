"""Finds the node for an operation, whatever its status, and the next row of a kind."""

from collections.abc import Iterable, Iterator
from itertools import islice

from contextstudio.accounts.domain.errors import NotFound
from operations.domain.log.operation import named_keys
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, made_key
from operations.messages.reader import MessageReader
from operations.requests import View

from .look import Look
from .minimap import shapes
from .row import has_failed

READ_AT_ONCE = 100
"""Batch size for reading results while searching for one that failed."""
ANSWERS = ("tool", "user")
"""The roles of messages that may hold a tool's result."""


def node_of(thread: Thread, key: Key) -> Key:
    """The node at which a key is found.

    For an operation without a node of its own, the node that it hangs on or acts on. Returns the
    key itself if there is none.
    """
    return key if thread.holds(key) else next(_nodes(thread, key), key)


def _nodes(thread: Thread, key: Key) -> Iterator[Key]:
    """Yield the nodes that an operation concerns, starting with those its note hangs on."""
    recorded = thread.log.edit(key)
    if recorded is None:
        return
    for node, marks in thread.marks.items():
        if any(mark.operation == key for mark in marks):
            yield node
    yield from (moved.keys[0] for moved in thread.moves if moved.operation == key)
    acted_on = (made_key(recorded.entry.number, 0), *named_keys(recorded.edit))
    yield from filter(thread.holds, acted_on)


def step_to(look: Look, key: Key, step: int, kind: str) -> tuple[int, Key]:
    """The place and key of the next row of a kind: `user`, `marker` or `failure`.

    In the annotated view, failed results are found inside folds too. Raises NotFound.
    """
    place = look.place(key)
    rows = shapes(look)
    ahead = range(place + step, len(rows) if step > 0 else -1, step)
    if kind == "failure":
        found = _failures(look, _results(look, place, key, step))
    elif kind == "marker":
        marked = {look.place(key) for key in _touched(look)}
        found = _rows(look, (at for at in ahead if rows[at].is_fold or at in marked))
    else:
        said = (at for at in ahead if rows[at].kind == "user" and not rows[at].is_fold)
        found = _rows(look, said)
    for at in found:
        return at
    raise NotFound("There is none.")


def _rows(look: Look, places: Iterable[int]) -> Iterator[tuple[int, Key]]:
    for at in places:
        yield at, look.nodes(look.places.position(at)[0], 1)[0].key


def _results(look: Look, place: int, key: Key, step: int) -> Iterator[tuple[int, Key]]:
    """Yield place and key of possible tool results before or after a row, nearest first."""
    thread, rows = look.thread, shapes(look)
    opens = look.view is View.ANNOTATED
    if opens and rows[place].is_fold:
        inside = thread.leaf_keys(thread.top_key(key))
        here = inside.index(thread.leaf_keys(key)[0])
        behind = here + 1 if inside[here] == key else here
        beyond = inside[behind:] if step > 0 else inside[:here][::-1]
        yield from ((place, leaf) for leaf in beyond if thread.role(leaf) in ANSWERS)
    for at in range(place + step, len(rows) if step > 0 else -1, step):
        if opens and rows[at].is_fold:
            [(_, fold)] = _rows(look, [at])
            leaves = thread.leaf_keys(fold)[::step]
            yield from ((at, leaf) for leaf in leaves if thread.role(leaf) in ANSWERS)
        elif rows[at].kind == "tool":
            yield from _rows(look, [at])


def _failures(
    look: Look, candidates: Iterable[tuple[int, Key]]
) -> Iterator[tuple[int, Key]]:
    """The tool results among the candidates that failed, as their rows say."""
    reader = MessageReader(look.session, look.thread)
    rest = iter(candidates)
    while some := list(islice(rest, READ_AT_ONCE)):
        read = reader.effective(key for _, key in some)
        for at, key in some:
            if key in read and has_failed(read[key].parts):
                yield at, key


def _touched(look: Look) -> Iterator[Key]:
    """Yield keys of rows affected by something other than a fold."""
    thread = look.thread
    yield from thread.marks
    for moved in thread.moves:
        yield moved.keys[0]
    yield from (key for key in thread.inserted_keys if key.endswith(".0"))
