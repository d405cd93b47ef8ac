"""A thread in the making: the tree, and what operations put into it.

Replay lets each edit that is in force act on one draft, in the order of the log. Nothing
here raises on account of a key that names nothing: such keys are passed over.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from .key import Key, entry_key, made_key, made_place, original_key, original_number
from .leaf import New
from .span import MASK, Span, SpanChange, matches
from .status import EditOutcome, Status
from .tree import THREAD, ThreadTree, longest_ascent

_NO_TARGET = "None of its messages is in the thread."
_NO_ANCHOR = "The message or fold that it follows is not in the thread."
_NO_TEXT = "The text that it changes is no longer in the thread."
_CUTS = "It covers only part of a fold."
_OVERLAPS = "Other operations change the same text."


class Move(NamedTuple):
    """Nodes that a resequence took from between others; `behind` 0: the first of all."""

    operation: int
    nodes: list[int]
    behind: int
    container: int


class ThreadDraft:
    """What replay works on. Nodes are those of `tree`; `purged` keys have no text.

    Only for the operations that are `explained` a conflict tells which leaves would do: they
    may be many, and are of use only while it can still be refused.
    """

    def __init__(
        self,
        count: int,
        *,
        purged: AbstractSet[Key] = frozenset(),
        explained: AbstractSet[int] = frozenset(),
    ) -> None:
        """The draft of a thread of `count` originals on which nothing acted yet."""
        self.tree = ThreadTree(count)
        self.purged = purged
        self.inserted: dict[Key, int] = {}
        self.folds: dict[int, int] = {}
        """The fold of each operation that made one."""
        self.made_by: dict[int, tuple[int, int]] = {}
        """Operation and place of inserted leaves; operation and -1 of folds."""
        self.messages: dict[int, tuple[New, ...]] = {}
        """What each operation in the tree shows or inserted."""
        self.tags: dict[int, list[str]] = {}
        self.changes: dict[Key, list[SpanChange]] = {}
        self.moves: list[Move] = []
        self.moved_by: dict[int, int] = {}
        self.explained = explained
        self._hangs_on: dict[int, int] = {}
        self._taken: dict[tuple[Key, int], list[tuple[int, int, int]]] = {}

    def leaf(self, key: Key) -> int | None:
        """The node of a leaf that is in the tree."""
        node = original_number(key)
        if node:
            return node if node <= self.tree.count else None
        return self.inserted.get(key)

    def holder(self, key: Key) -> int | None:
        """The node of a leaf, or of the fold that a key names or that shows its message."""
        node = self.leaf(key)
        if node is None:
            place = made_place(key)
            node = self.folds.get(place[0]) if place else None
        return node

    def key(self, node: int) -> Key:
        """The key of a leaf or a fold."""
        if node <= self.tree.count:
            return original_key(node - 1)
        number, place = self.made_by[node]
        return entry_key(number) if place < 0 else made_key(number, place)

    def tag(self, targets: Iterable[Key], tags: Iterable[str]) -> EditOutcome:
        """Give the leaves among the targets tags."""
        leaves = self._present(targets)
        if not leaves:
            return EditOutcome(Status.VOID, _NO_TARGET)
        for leaf in leaves:
            self.tags[leaf] = [*dict.fromkeys([*self.tags.get(leaf, ()), *tags])]
        return _applied(leaves)

    def fold(
        self, number: int, targets: Iterable[Key], messages: tuple[New, ...]
    ) -> EditOutcome:
        """Wrap the largest nodes whose leaves are all targets, if they are siblings."""
        leaves = self._present(targets)
        if not leaves:
            return EditOutcome(Status.VOID, _NO_TARGET)
        nodes = self.tree.summits(leaves)
        parent = self.tree.parent
        if len({parent[node] for node in nodes}) > 1:
            return self._cut(number, leaves)
        fold = self.tree.wrap(nodes)
        self.folds[number] = fold
        self.made_by[fold] = (number, -1)
        self.messages[number] = messages
        return _applied([fold])

    def insert(
        self, number: int, after: Key | None, messages: tuple[New, ...]
    ) -> EditOutcome:
        """Put messages behind an anchor and what hangs on it already."""
        anchor = THREAD if after is None else self.holder(after)
        if anchor is None:
            return EditOutcome(Status.VOID, _NO_ANCHOR)
        behind = self._last_hanging(self.tree.outermost(anchor))
        leaves = self.tree.insert(len(messages), behind=behind)
        for place, leaf in enumerate(leaves):
            self.inserted[made_key(number, place)] = leaf
            self.made_by[leaf] = (number, place)
            self._hangs_on[leaf] = anchor
        self.messages[number] = messages
        return _applied(leaves)

    def resequence(
        self, number: int, order: Iterable[Key], said: Iterable[Key] = ()
    ) -> EditOutcome:
        """Permute the nodes that hold the leaves among the places that they hold.

        Those that hold the leaves `said` count as moved, where all others keep their order.
        """
        leaves = self._present(order)
        if not leaves:
            return EditOutcome(Status.VOID, _NO_TARGET)
        container, holders = self.tree.meeting(leaves)
        nodes = list(dict.fromkeys(holders))
        before = sorted(nodes, key=self.tree.rank.__getitem__)
        taken = frozenset(self._present(said))
        named = {
            holder
            for leaf, holder in zip(leaves, holders, strict=True)
            if leaf in taken
        }
        moved = _moved(before, nodes, named)
        for node in moved:
            last = self.moves[-1] if self.moves else None
            if (
                last
                and last.operation == number
                and self.tree.next[last.nodes[-1]] == node
            ):
                last.nodes.append(node)
            else:
                behind = self.tree.previous[node]
                self.moves.append(Move(number, [node], behind, container))
            self.moved_by[node] = number
        self.tree.permute(before, nodes)
        return _applied(moved)

    def change(
        self, number: int, spans: Iterable[Span], *, redacted: bool
    ) -> EditOutcome:
        """Change the spans whose text is there and that no operation before has changed."""
        holders, clashes = [], set()
        for span in spans:
            holder = self._reads(span)
            if holder is None:
                continue
            clash = self._take(span, number)
            if clash:
                clashes.add(clash)
                continue
            text = (span.text or MASK) if redacted else span.text
            change = SpanChange(
                span.part, span.start, span.end, text, number, redacted, span.saved
            )
            self.changes.setdefault(span.key, []).append(change)
            holders.append(holder)
        if holders:
            return _applied(dict.fromkeys(holders))
        if clashes:
            keys = tuple(map(entry_key, sorted(clashes)))
            return EditOutcome(Status.CONFLICT, _OVERLAPS, operations=keys)
        return EditOutcome(Status.VOID, _NO_TEXT)

    def _present(self, keys: Iterable[Key]) -> list[int]:
        """The distinct leaves among keys that are in the tree, in the order of the keys."""
        keys = tuple(keys)
        nodes = list(dict.fromkeys(map(original_number, keys)))
        if nodes and 0 not in nodes and max(nodes) <= self.tree.count:
            return nodes
        found = dict.fromkeys(map(self.leaf, keys))
        found.pop(None, None)
        return list(found)  # type: ignore[arg-type]  # None was taken out

    def _cut(self, number: int, leaves: Sequence[int]) -> EditOutcome:
        container, holders = self.tree.meeting(leaves)
        between: set[int] = set()
        for node in leaves:
            while (node := self.tree.parent[node]) != container and node not in between:
                between.add(node)
        numbers = sorted(self.made_by[fold][0] for fold in between)
        needs = [
            self.key(leaf)
            for holder in (dict.fromkeys(holders) if number in self.explained else ())
            for leaf in self.tree.leaves(holder)
        ]
        return EditOutcome(
            Status.CONFLICT, _CUTS, (), tuple(map(entry_key, numbers)), tuple(needs)
        )

    def _last_hanging(self, outer: int) -> int:
        """The last node of those that hang on a node of the thread; 0: on its top."""
        known: dict[int, bool] = {}
        behind, following = outer, self.tree.next
        node = following[outer] if outer else self.tree.first[THREAD]
        while node and not (
            self.tree.is_original(node) or self.tree.originals.get(node)
        ):
            leaves = self.tree.leaves(node)
            if not all(self._hangs(leaf, outer, known) for leaf in leaves):
                break
            behind, node = node, following[node]
        return behind

    def _hangs(self, leaf: int, outer: int, known: dict[int, bool]) -> bool:
        passed = []
        while leaf in self._hangs_on and leaf not in known:
            passed.append(leaf)
            leaf = self._hangs_on[leaf]
            if self.tree.outermost(leaf) == outer:
                break
        hangs = known.get(leaf, self.tree.outermost(leaf) == outer)
        known.update(dict.fromkeys(passed, hangs))
        return hangs

    def _reads(self, span: Span) -> int | None:
        """The node whose text a span covers, if that is still what it was."""
        if span.key in self.purged or span.part < 0 or not 0 <= span.start < span.end:
            return None
        holder = self.holder(span.key)
        place = made_place(span.key)
        if holder is None or place is None:
            return holder
        number, k = place
        made = self.messages.get(number, ())
        if k is None or k >= len(made) or not matches(made[k].parts, span):
            return None
        return holder

    def _take(self, span: Span, number: int) -> int:
        """Take a stretch of text, or the number of an operation that has some of it."""
        taken = self._taken.setdefault((span.key, span.part), [])
        place = bisect_left(taken, (span.start, span.end, 0))
        for _, end, other in taken[max(0, place - 1) : place]:
            if end > span.start:
                return other
        for start, _, other in taken[place : place + 1]:
            if start < span.end:
                return other
        taken.insert(place, (span.start, span.end, number))
        return 0


def _applied(nodes: Iterable[int]) -> EditOutcome:
    return EditOutcome(Status.APPLIED, "", tuple(nodes))


def _moved(
    before: Sequence[int], after: Sequence[int], said: AbstractSet[int]
) -> list[int]:
    """Those that change places, as they stood: those that were said to, if that is enough.

    Else as few as possible.
    """
    if said and [n for n in before if n not in said] == [
        n for n in after if n not in said
    ]:
        return [node for node in before if node in said]
    stood = {node: place for place, node in enumerate(before)}
    still = {after[place] for place in longest_ascent([stood[node] for node in after])}
    return [node for node in before if node not in still]
