"""A thread as one user looks at it: the view, the opened folds, and the user's rights."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar
from weakref import WeakKeyDictionary

from contextstudio.accounts.domain.errors import NotFound
from operations.domain.thread.node import FoldNode, Mark, MessageNode, MovedNodes, Node
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, original_index
from operations.requests import View
from threads.models import Session

from .operation import Operations

Value = TypeVar("Value")

_kept: "WeakKeyDictionary[Thread, dict[Hashable, object]]" = WeakKeyDictionary()


def derived(thread: Thread, name: Hashable, make: Callable[[], Value]) -> Value:
    """Cache the result of `make` under a name, for as long as the thread exists.

    The result must depend on the thread alone, as everybody who looks at the thread gets it.
    """
    values = _kept.setdefault(thread, {})
    if name not in values:
        values[name] = make()
    return values[name]  # type: ignore[return-value]  # the type of what was cached under this name


class Places:
    """Maps positions of top-level nodes to places, both from 0.

    In the effective view a fold takes one place per message it shows (one for the hairline if it
    shows none), so that a place is always one row of the page. `wide` lists the nodes that take
    more than one place, as (position, number of places).
    """

    def __init__(self, wide: Iterable[tuple[int, int]] = ()) -> None:
        self._positions: list[int] = []
        self._starts: list[int] = []
        self._widths: list[int] = []
        self.added = 0
        for position, width in sorted(wide):
            self._positions.append(position)
            self._starts.append(position + self.added)
            self._widths.append(width)
            self.added += width - 1

    def place(self, position: int) -> int:
        before = bisect_left(self._positions, position)
        if not before:
            return position
        last = before - 1
        start, width = self._starts[last], self._widths[last]
        return start + width + (position - self._positions[last] - 1)

    def position(self, place: int) -> tuple[int, int]:
        """The position of the node at a place, and the index of the place within the node."""
        last = bisect_right(self._starts, place) - 1
        if last < 0:
            return place, 0
        offset = place - self._starts[last]
        if offset < self._widths[last]:
            return self._positions[last], offset
        return self._positions[last] + 1 + offset - self._widths[last], 0


@dataclass(kw_only=True)
class Look:
    """Everything that rows are drawn from.

    A view is a sequence of places, one per row. In the annotated view these are the top-level
    nodes, in the effective view what the model sees, in the original view the originals.
    """

    session: Session
    thread: Thread
    operations: Operations
    view: View = View.ANNOTATED
    open_folds: frozenset[Key] = frozenset()
    actor: str = ""
    """The viewer, as the log names them."""
    may_propose: bool = False
    may_edit: bool = False
    may_decide: bool = False
    shows_relevance: bool = False
    """Whether rows show their similarity to the objective, if known."""

    @cached_property
    def source(self) -> tuple[str, int]:
        """Identifies what is drawn, in keys of what is kept: a session, and what it still holds.

        Originals never change, but they are purged.
        """
        return str(self.session.pk), len(self.thread.log.purged)

    @property
    def total(self) -> int:
        if self.view is View.ORIGINAL:
            return self.thread.message_count
        return self.thread.total + self.places.added

    @cached_property
    def places(self) -> Places:
        """The places of the thread's nodes in this view."""
        if self.view is not View.EFFECTIVE:
            return Places()
        return derived(self.thread, "places", self._places)

    def nodes(self, start: int, count: int) -> list[Node]:
        """The nodes from a position on; in the original view, the originals from an index on."""
        if self.view is not View.ORIGINAL:
            return self.thread.window(start, count)
        end = min(start + count, self.total)
        return [self._original(index) for index in range(max(start, 0), end)]

    def place(self, key: Key) -> int:
        """The place of the row that holds a key. Raises NotFound."""
        if self.view is not View.ORIGINAL:
            return self.places.place(self.thread.position(key))
        for leaf in self.thread.leaf_keys(key):
            if (index := original_index(leaf)) is not None:
                return index
        raise NotFound(f"{key} is not an original message.")

    @property
    def masks(self) -> bool:
        """Whether anything is redacted, even by an operation whose condition doesn't hold."""
        return self.thread.log.has_redactions

    @cached_property
    def moved_from(self) -> dict[Key, MovedNodes]:
        """Map of each moved node's key to its move."""
        return {key: moved for moved in self.thread.moves for key in moved.keys}

    @cached_property
    def stubs(self) -> dict[Key | None, list[MovedNodes]]:
        """Map of top-level node to what was moved away from after it; None is the top."""
        found: dict[Key | None, list[MovedNodes]] = defaultdict(list)
        for moved in self.thread.moves:
            if moved.within is None:
                found[self.thread.top_key(moved.after) if moved.after else None].append(
                    moved
                )
        return found

    @cached_property
    def marks(self) -> dict[Key, list[Mark]]:
        """Map of drawn node to its marks; the marks inside a closed fold belong to the fold."""
        found: dict[Key, list[Mark]] = defaultdict(list)
        for key, marks in self.thread.marks.items():
            closed = (f for f in self.thread.path(key) if f not in self.open_folds)
            found[next(closed, key)] += marks
        return found

    def _places(self) -> Places:
        thread = self.thread
        tops = (thread.node(key) for key in thread.folds if thread.top_key(key) == key)
        return Places(
            (thread.position(node.key), len(node.messages))
            for node in tops
            if isinstance(node, FoldNode) and len(node.messages) > 1
        )

    def _original(self, index: int) -> MessageNode:
        role, tokens, group = self.thread.leaves[index]
        key = f"m{index}"
        return MessageNode(
            key=key,
            index=index,
            role=role,
            tokens=tokens,
            saved=0,
            group=group,
            operation=None,
            message=None,
            moved_by=None,
            tags=(),
            changed=False,
            depth=0,
        )
