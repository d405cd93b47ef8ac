"""A thread under construction: the tree, and what operations put into it.

Replay lets every edit in force act on one draft, in the order of the log. Keys that name nothing
are skipped; nothing here raises because of them.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from copy import copy
from typing import NamedTuple

from .holding import Holding
from .key import Key, entry_key, made_key, original_key, original_number, parse_made_key
from .leaf import Leaf, MadeMessage
from .outcomes import Outcomes
from .persistent_map import PersistentMap, PlainMap, persistent_map
from .shown import ShownDelta
from .span import MASK, Span, SpanChange, span_matches
from .status import EditOutcome, Status
from .taken import Stretches, TakenStretches
from .tree import THREAD, ThreadTree, longest_increasing_subsequence

_NO_TARGET = "None of its messages is in the thread."
_NO_ANCHOR = "The message or fold that it follows is not in the thread."
_NO_TEXT = "The text that it changes is no longer in the thread."
_CUTS = "It covers only part of a fold."
_OVERLAPS = "Other operations change the same text."
_WITHHELD = "The client no longer sends any of its messages."
_WITHHELD_ANCHOR = "The client no longer sends the message that it follows."
_MAKER_WITHHELD = "It acts on messages of {}, which is suspended."


class Move(NamedTuple):
    """Nodes that a resequence moved from between others; `after` is 0 if they were first."""

    operation: int
    nodes: list[int]
    after: int
    container: int


_KEPT = (
    *("inserted", "folds", "holding", "made_by", "messages", "tags", "changes"),
    *("moves", "moved_by", "suspended", "_withheld", "_hangs_on", "_taken", "_saved"),
)


class ThreadDraft:
    """What replay works on. Nodes are those of `tree`; `purged` keys have no text.

    Like its tree, a draft is open or closed: only an open one can be acted on, and drafts derived
    from a closed one share with it what stays the same. Only for `explained` operations does a
    conflict list the leaves that would work: they may be many, and are useful only while the
    operation can still be refused.
    """

    __slots__ = (  # a copy with its own __dict__ would look up every method again
        *_KEPT,
        *("leaves", "tree", "purged", "explained", "passed_over", "outcomes", "shown"),
    )

    def __init__(
        self, leaves: Sequence[Leaf] = (), *, purged: AbstractSet[Key] = frozenset()
    ) -> None:
        """The closed draft of a thread of originals, before any operation."""
        self.leaves = leaves
        self.tree = ThreadTree(len(leaves))
        self.purged = purged
        self.explained: AbstractSet[int] = frozenset()
        self.passed_over = False
        """Whether an operation named an original beyond the last one, which may still arrive."""
        self.inserted: PersistentMap[Key, int] = persistent_map()
        self.folds: PersistentMap[int, int] = persistent_map()
        """Maps each operation that made a fold to the fold."""
        self.holding: PersistentMap[int, Holding] = persistent_map()
        """The contents of each fold."""
        self.made_by: PersistentMap[int, tuple[int, int]] = persistent_map()
        """Maps inserted leaves to operation and place, and folds to operation and -1."""
        self.messages: PersistentMap[int, tuple[MadeMessage, ...]] = persistent_map()
        """The messages that each operation in the tree shows or inserted."""
        self.tags: PersistentMap[int, tuple[str, ...]] = persistent_map()
        self.changes: PersistentMap[Key, tuple[SpanChange, ...]] = persistent_map()
        self._saved: PersistentMap[int, int] = persistent_map()
        """The tokens that changes take from the text of a leaf, or from what a fold shows."""
        self.moves: PersistentMap[int, tuple[Move, ...]] = persistent_map()
        """The nodes that each resequence moved."""
        self.moved_by: PersistentMap[int, int] = persistent_map()
        self.suspended: PersistentMap[int, None] = persistent_map()
        """Operations that had nothing to act on because the client doesn't send it."""
        self._withheld: PersistentMap[int, int] = persistent_map()
        """Maps leaves that the client doesn't send to the operation that folded them."""
        self._hangs_on: PersistentMap[int, int] = persistent_map()
        self._taken: PersistentMap[tuple[Key, int], Stretches] = persistent_map()
        self.outcomes = Outcomes()
        self.shown = ShownDelta()

    def opened(
        self,
        leaves: Sequence[Leaf] | None = None,
        *,
        explained: AbstractSet[int] = frozenset(),
        plain: bool = False,
    ) -> "ThreadDraft":
        """An open version of this closed draft.

        `leaves` are its leaves, possibly followed by further ones. `plain` is faster if much is
        going to change.
        """
        draft = copy(self)
        for name in _KEPT:
            known = getattr(self, name)
            setattr(draft, name, PlainMap(known) if plain else known.mutate())
        draft.leaves = self.leaves if leaves is None else leaves
        draft.tree = self.tree.opened(len(draft.leaves), plain=plain)
        draft.explained, draft.passed_over = explained, False
        draft.outcomes = self.outcomes.opened(plain=plain)
        draft.shown = self.shown.copy()
        return draft

    def closed(self) -> "ThreadDraft":
        """A closed version of this draft, which can then no longer be acted on."""
        draft = copy(self)
        for name in _KEPT:
            setattr(draft, name, getattr(self, name).finish())
        draft.tree = self.tree.closed()
        draft.outcomes = self.outcomes.closed()
        return draft

    def extended(self, leaves: Sequence[Leaf]) -> "ThreadDraft":
        """This closed draft with further originals at its end."""
        draft = copy(self)
        draft.leaves = leaves
        draft.tree = self.tree.opened(len(leaves)).closed()
        return draft

    def with_outcomes(
        self, outcomes: Mapping[int, EditOutcome], through: int
    ) -> "ThreadDraft":
        """This closed draft with other outcomes of edits up to a number, none of which act."""
        draft = copy(self)
        draft.outcomes = self.outcomes.with_outcomes(outcomes, through)
        return draft

    def leaf(self, key: Key) -> int | None:
        """The node of a leaf, if it is in the tree."""
        node = original_number(key)
        if node > self.tree.count:
            self.passed_over = True
            return None
        return node or self.inserted.get(key)

    def holder(self, key: Key) -> int | None:
        """The node of a leaf, or of the fold that a key names or whose message it names."""
        node = self.leaf(key)
        if node is None:
            place = parse_made_key(key)
            node = self.folds.get(place[0]) if place else None
        return node

    def key(self, node: int) -> Key:
        """The key of a leaf or a fold."""
        if node > 0:
            return original_key(node - 1)
        number, place = self.made_by[node]
        return entry_key(number) if place < 0 else made_key(number, place)

    def existing(self, nodes: Iterable[int]) -> list[int]:
        """The given leaves and folds that are in this draft."""
        return [node for node in nodes if node > 0 or node in self.made_by]

    def withhold(self, operations: Iterable[int]) -> None:
        """Withhold what operations folded from all later ones: the client doesn't send it.

        What stands in its place can still be targeted by an operation recorded after the fold
        that names all of its leaves, because that is how a fold is named.
        """
        for number in operations:
            fold = self.folds.get(number)
            for leaf in self.tree.leaves(fold) if fold else ():
                self._withheld[leaf] = number

    def suspension_reason(self, keys: Iterable[Key], *, is_anchor: bool) -> str:
        """Why these keys name nothing, if the client doesn't send it; otherwise empty."""
        makers = []
        for key in keys:
            if self.leaf(key) in self._withheld:
                return _WITHHELD_ANCHOR if is_anchor else _WITHHELD
            number, _ = parse_made_key(key) or (0, None)
            if number in self.suspended:
                makers.append(number)
        return _MAKER_WITHHELD.format(entry_key(makers[0])) if makers else ""

    def tag(
        self, number: int, targets: Iterable[Key], tags: Iterable[str]
    ) -> EditOutcome:
        """Add tags to the leaves among the targets."""
        leaves = self._present(targets, number)
        if not leaves:
            return EditOutcome(Status.VOID, _NO_TARGET)
        for leaf in leaves:
            self.tags[leaf] = (*dict.fromkeys([*self.tags.get(leaf, ()), *tags]),)
        return _applied_outcome(leaves)

    def fold(
        self, number: int, targets: Iterable[Key], messages: tuple[MadeMessage, ...]
    ) -> EditOutcome:
        """Wrap the largest nodes whose leaves are all targets, if they are siblings."""
        leaves = self._present(targets, number)
        if not leaves:
            return EditOutcome(Status.VOID, _NO_TARGET)
        nodes = self.tree.maximal_nodes(leaves)
        containers = self.tree.containers_of(nodes)
        if len(containers) > 1:
            return self._cut_outcome(number, leaves)
        at_top = THREAD in containers
        if at_top:
            self._count(nodes, -1)
        fold = self.tree.wrap(nodes)
        self.folds[number] = fold
        self.holding[fold] = Holding()
        self.made_by[fold] = (number, -1)
        self.messages[number] = messages
        if at_top:
            self._count([fold], 1)
        return _applied_outcome([fold])

    def insert(
        self, number: int, after: Key | None, messages: tuple[MadeMessage, ...]
    ) -> EditOutcome:
        """Put messages after an anchor and what already hangs on it."""
        anchor = THREAD if after is None else self.holder(after)
        if anchor is None or anchor in self._withheld:
            return EditOutcome(Status.VOID, _NO_ANCHOR)
        previous = self._last_attached(self.tree.outermost(anchor))
        leaves = self.tree.insert(len(messages), after=previous)
        for place, leaf in enumerate(leaves):
            self.inserted[made_key(number, place)] = leaf
            self.made_by[leaf] = (number, place)
            self._hangs_on[leaf] = anchor
        self.messages[number] = messages
        self._count(leaves, 1)
        return _applied_outcome(leaves)

    def resequence(
        self, number: int, order: Iterable[Key], said: Iterable[Key] = ()
    ) -> EditOutcome:
        """Permute the nodes that hold the leaves among the places of these nodes.

        The nodes that hold the leaves `said` count as moved if all others keep their order.
        """
        leaves = self._present(order, number)
        if not leaves:
            return EditOutcome(Status.VOID, _NO_TARGET)
        container, holders = self.tree.common_container(leaves)
        nodes = list(dict.fromkeys(holders))
        before = sorted(nodes, key=self.tree.rank_of)
        taken = frozenset(self._present(said, number))
        named = {
            holder
            for leaf, holder in zip(leaves, holders, strict=True)
            if leaf in taken
        }
        moved = _moved_nodes(before, nodes, named)
        moves: list[Move] = []
        for node in moved:
            if moves and self.tree.next_of(moves[-1].nodes[-1]) == node:
                moves[-1].nodes.append(node)
            else:
                previous = self.tree.previous_of(node)
                moves.append(Move(number, [node], previous, container))
            self.moved_by[node] = number
        self.moves[number] = tuple(moves)
        self.tree.permute(before, nodes)
        return _applied_outcome(moved)

    def change(
        self, number: int, spans: Iterable[Span], *, redacted: bool
    ) -> EditOutcome:
        """Change the spans whose text is there and that no earlier operation changed."""
        holders, clashes = dict[Key, int](), set[int]()
        changes: dict[Key, list[SpanChange]] = {}
        taken = TakenStretches(self._taken)
        for span in spans:
            holder = self._unchanged_node(span)
            if holder is None:
                continue
            clash = taken.take(span, number)
            if clash:
                clashes.add(clash)
                continue
            text = (span.text or MASK) if redacted else span.text
            change = SpanChange(
                span.part, span.start, span.end, text, number, redacted, span.saved
            )
            changes.setdefault(span.key, []).append(change)
            holders[span.key] = holder
        for key, new in changes.items():
            self._change(key, holders[key], new)
        self._taken.update(taken.all())
        if holders:
            return _applied_outcome(dict.fromkeys(holders.values()))
        if clashes:
            keys = tuple(map(entry_key, sorted(clashes)))
            return EditOutcome(Status.CONFLICT, _OVERLAPS, operations=keys)
        return EditOutcome(Status.VOID, _NO_TEXT)

    def _change(self, key: Key, node: int, changes: Sequence[SpanChange]) -> None:
        at_top = [] if self.tree.parent_of(node) else [node]
        self._count(at_top, -1)
        self.changes[key] = (*self.changes.get(key, ()), *changes)
        self._saved[node] = self._saved.get(node, 0) + sum(one.saved for one in changes)
        self._count(at_top, 1)

    def saved(self, key: Key) -> int:
        """The tokens that changes to its text take from a message."""
        changes = self.changes.get(key)
        return sum(change.saved for change in changes) if changes else 0

    def inserted_message(self, leaf: int) -> MadeMessage:
        """The message of an inserted leaf."""
        number, place = self.made_by[leaf]
        return self.messages[number][place]

    def _count(self, nodes: Iterable[int], times: int) -> None:
        """Add what the model sees of nodes at the top to the counts; `times` -1 subtracts it."""
        leaves, saved, roles = self.leaves, self._saved.get, self.shown.roles
        for node in nodes:
            if node > 0:
                role, tokens, _ = leaves[node - 1]
            elif node in self.tree.size:
                number, _ = self.made_by[node]
                tokens = sum([new.tokens for new in self.messages[number]])
                self.shown.folds += times * (tokens - saved(node, 0))
                continue
            else:
                new = self.inserted_message(node)
                role, tokens = new.role, new.tokens
            messages, count = roles.get(role, (0, 0))
            roles[role] = messages + times, count + times * (tokens - saved(node, 0))

    def _present(self, keys: Iterable[Key], number: int) -> list[int]:
        """The distinct leaves among keys that an operation can act on, in order."""
        keys = tuple(keys)
        nodes = list(dict.fromkeys(map(original_number, keys)))
        if not (nodes and 0 not in nodes and max(nodes) <= self.tree.count):
            found = dict.fromkeys(map(self.leaf, keys))
            found.pop(None, None)
            nodes = list(found)  # type: ignore[arg-type]  # None was taken out
        return self._sent(nodes, number) if self._withheld else nodes

    def _sent(self, nodes: Sequence[int], number: int) -> list[int]:
        """The nodes that the client sends, or that stand for what it sends in their place."""
        withheld = self._withheld
        named = Counter(withheld[node] for node in nodes if node in withheld)
        whole = {
            fold
            for fold, count in named.items()
            if fold < number and count == self.tree.size[self.folds[fold]]
        }
        return [
            node for node in nodes if node not in withheld or withheld[node] in whole
        ]

    def _cut_outcome(self, number: int, leaves: Sequence[int]) -> EditOutcome:
        container, holders = self.tree.common_container(leaves)
        between: set[int] = set()
        for node in leaves:
            while (
                node := self.tree.parent_of(node)
            ) != container and node not in between:
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

    def _last_attached(self, outer: int) -> int:
        """The last of the nodes that hang on a node of the thread, or for 0 on its top."""
        known: dict[int, bool] = {}
        previous, following = outer, self.tree.next_of
        node = following(outer) if outer else self.tree.first_of(THREAD)
        while node and not (
            self.tree.is_original(node) or self.tree.originals.get(node)
        ):
            leaves = self.tree.leaves(node)
            if not all(self._is_attached(leaf, outer, known) for leaf in leaves):
                break
            previous, node = node, following(node)
        return previous

    def _is_attached(self, leaf: int, outer: int, known: dict[int, bool]) -> bool:
        passed = []
        while leaf in self._hangs_on and leaf not in known:
            passed.append(leaf)
            leaf = self._hangs_on[leaf]
            if self.tree.outermost(leaf) == outer:
                break
        hangs = known.get(leaf, self.tree.outermost(leaf) == outer)
        known.update(dict.fromkeys(passed, hangs))
        return hangs

    def _unchanged_node(self, span: Span) -> int | None:
        """The node whose text a span covers, if that text is unchanged; else None."""
        if span.key in self.purged or span.part < 0 or not 0 <= span.start < span.end:
            return None
        holder = self.holder(span.key)
        place = parse_made_key(span.key)
        if holder in self._withheld:
            return None
        if holder is None or place is None:
            return holder
        number, k = place
        made = self.messages.get(number, ())
        if k is None or k >= len(made) or not span_matches(made[k].parts, span):
            return None
        return holder


def _applied_outcome(nodes: Iterable[int]) -> EditOutcome:
    return EditOutcome(Status.APPLIED, "", tuple(nodes))


def _moved_nodes(
    before: Sequence[int], after: Sequence[int], said: AbstractSet[int]
) -> list[int]:
    """The nodes that moved, in their old order: those named in `said`, if that explains it.

    Otherwise as few as possible.
    """
    if said and [n for n in before if n not in said] == [
        n for n in after if n not in said
    ]:
        return [node for node in before if node in said]
    stood = {node: place for place, node in enumerate(before)}
    still = {
        after[place]
        for place in longest_increasing_subsequence([stood[node] for node in after])
    }
    return [node for node in before if node not in still]
