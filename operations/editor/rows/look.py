"""A thread as one person looks at it: the view, the opened folds, what they may do."""

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

from contextstudio.accounts.domain.errors import NotFound
from operations.domain.log.operation import Redact
from operations.domain.thread.node import FoldNode, MessageNode, Moved, Node
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, original_index
from operations.requests import View
from threads.models import Session

from .derived import derived
from .operation import Operations
from .places import Places


@dataclass(kw_only=True)
class Look:
    """What every row is drawn from.

    A view is a sequence of places, one a row: in the annotated view those of the top-level
    nodes, in the effective view of what the model sees, in the original view the indexes.
    """

    session: Session
    thread: Thread
    operations: Operations
    view: View = View.ANNOTATED
    open_folds: frozenset[Key] = frozenset()
    may_propose: bool = False
    may_edit: bool = False
    may_decide: bool = False

    @cached_property
    def id(self) -> str:
        """The session's, as text."""
        return str(self.session.pk)

    @property
    def total(self) -> int:
        """How many places there are."""
        if self.view is View.ORIGINAL:
            return self.thread.message_count
        return self.thread.total + self.places.added

    @cached_property
    def places(self) -> Places:
        """Where the nodes of the thread stand in this view."""
        if self.view is not View.EFFECTIVE:
            return Places()
        return derived(self.thread, "places", self._wide)

    def nodes(self, start: int, count: int) -> list[Node]:
        """The nodes from a position on; in the original view the originals from an index."""
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
        raise NotFound(f"{key} is no original.")

    def is_open(self, key: Key) -> bool:
        """Whether this person has opened a fold."""
        return key in self.open_folds

    @cached_property
    def masks(self) -> bool:
        """Whether anything is redacted, be it by an operation whose condition doesn't hold."""
        edits = self.thread.log.edits.values()
        return any(isinstance(recorded.edit, Redact) for recorded in edits)

    @cached_property
    def moved_from(self) -> dict[Key, Moved]:
        """For each node that stands elsewhere than it did, from where it was taken."""
        return {key: moved for moved in self.thread.moved for key in moved.keys}

    @cached_property
    def stubs(self) -> dict[Key | None, list[Moved]]:
        """What was taken from behind each top-level node (None: from the top)."""
        found: dict[Key | None, list[Moved]] = defaultdict(list)
        for moved in self.thread.moved:
            if moved.within is None:
                found[self.thread.top(moved.behind) if moved.behind else None].append(
                    moved
                )
        return found

    def _wide(self) -> Places:
        thread = self.thread
        tops = (thread.node(key) for key in thread.folds if thread.top(key) == key)
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
