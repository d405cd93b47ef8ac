"""A thread: the messages as they are shown, made by `replay` and immutable.

All arguments and results are named by keys. Only what is asked for is made into objects, so a
window into 100,000 messages costs what it shows. Anything that takes a pass over all messages is
computed once, on first use.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import chain, islice

from contextstudio.accounts.domain.errors import Invalid, NotFound
from operations.domain.log.log import Log
from operations.domain.log.mask import merge_masks
from operations.domain.log.numbered import Numbered
from operations.domain.log.operation import (
    Edit,
    Fold,
    Insert,
    Resequence,
    messages_of,
    named_keys,
)
from operations.domain.tree.holding import HeldLeaves
from operations.domain.tree.key import (
    Key,
    entry_key,
    entry_number,
    made_key,
    original_index,
    original_key,
    parse_made_key,
)
from operations.domain.tree.leaf import Leaf, MadeMessage
from operations.domain.tree.persistent_map import changed_names
from operations.domain.tree.span import SpanChange
from operations.domain.tree.status import WITHDRAWN, EditOutcome, Report, Status
from operations.domain.tree.tree import THREAD

from .node import EffectiveMessage, FoldNode, FoldTokens, Mark, MovedNodes, Node, Tokens
from .nodes import Nodes
from .playback import Playback, ThreadVersion
from .ranges import inserted_between, nodes_between

_FEW = 2_000
"""Up to this many withdrawn edits are sorted to find the newest. If there are more, some are sure
to be near the end of the log, and are found faster by walking it backwards."""


class Thread:
    """The nodes of a session under a log and active tags."""

    def __init__(
        self,
        leaves: Sequence[Leaf],
        log: Log,
        *,
        active_tags: frozenset[str],
        playback: Playback,
        grown: "Thread | None" = None,
    ) -> None:
        """Wrap a finished draft: see `replay`.

        `grown` is a thread that lacks only further originals at the end.
        """
        self.leaves = leaves
        self.log = log
        self.active_tags = active_tags
        self.playback = playback
        self.message_count = len(leaves)
        self._draft = playback.stages[-1].draft
        self._tree = self._draft.tree
        self._outcomes = Numbered(self._draft.outcomes.by_number, log.head)
        self._made = Nodes(leaves, log, self._draft)
        self.lineage: object = ThreadVersion() if grown is None else grown.lineage
        """Identifies threads that differ only in further originals at the end."""
        if grown is not None:
            self._take_over(grown)

    def _take_over(self, grown: "Thread") -> None:
        """Take over what was computed for the thread that this one extends."""
        known, new = (
            grown.__dict__,
            range(grown.message_count + 1, len(self.leaves) + 1),
        )
        for name in ("reports", "top_folds", "folds_at_top", "tokens_held"):
            if name in known:
                self.__dict__[name] = known[name]
        if "_order" in known:
            self._order = [*grown._order, *new]
        if "keys" in known:
            self.keys = [*grown.keys, *map(self._draft.key, new)]
        if "_standing" in known:
            self._standing = [
                *grown._standing,
                *((self._draft.key(node), self._made.shown(node)) for node in new),
            ]

    @property
    def head(self) -> int:
        """The number of the last entry of the log."""
        return self.log.head

    @property
    def total(self) -> int:
        """How many nodes are at the top of the thread."""
        return len(self._order)

    def window(self, start: int = 0, limit: int = 100) -> list[Node]:
        """The nodes of the thread from a position on."""
        return [self._made.node(node) for node in self._order[start : start + limit]]

    def node(self, key: Key) -> Node:
        """The message or fold with a key. Raises NotFound."""
        return self._made.node(self._find(key))

    def children(self, key: Key, start: int = 0, limit: int = 100) -> list[Node]:
        """The nodes that a fold holds, from a place on. Raises NotFound."""
        nodes = islice(self._tree.nodes(self._fold(key)), start, start + limit)
        return [self._made.node(node) for node in nodes]

    def holds(self, key: Key) -> bool:
        """Whether a leaf, a fold, or a message that a fold shows is in the thread."""
        return self._draft.holder(key) is not None

    def top_key(self, key: Key) -> Key:
        """The key of the node at the top that holds a key, or the key itself. Raises NotFound."""
        return self._draft.key(self._tree.outermost(self._find(key)))

    def child_keys(self, key: Key) -> list[Key]:
        """The keys of the nodes that a fold holds. Raises NotFound."""
        return [self._draft.key(node) for node in self._tree.nodes(self._fold(key))]

    def position(self, key: Key) -> int:
        """The position of the node at the top that holds a key. Raises NotFound."""
        return self._positions[self._tree.outermost(self._find(key))]

    def path(self, key: Key) -> list[Key]:
        """The folds around a message or a fold, from the outermost inwards. Raises NotFound."""
        return [
            self._draft.key(fold) for fold in self._made.folds_around(self._find(key))
        ]

    def leaf_keys(self, key: Key) -> list[Key]:
        """The leaves of a fold in order, or a leaf itself. Raises NotFound."""
        return [self._draft.key(leaf) for leaf in self._tree.leaves(self._find(key))]

    def indexes(self, key: Key) -> list[int]:
        """The indexes of the originals that a fold holds, or of an original itself.

        Raises NotFound.
        """
        leaves = self._tree.leaves(self._find(key))
        return [leaf - 1 for leaf in leaves if leaf > 0]

    def saved_by(self, key: Key) -> int:
        """The tokens of what a fold holds, as it would be shown, minus its own. Raises NotFound."""
        fold, tokens = self._fold(key), self._made.tokens_shown
        return sum(map(tokens, self._tree.nodes(fold))) - tokens(fold)

    def tokens_shown(self, keys: Iterable[Key]) -> int:
        """The tokens of leaves as shown; where a fold holds only such leaves, those it shows.

        Leaves that are not in the thread count 0.
        """
        leaves = (self._draft.leaf(key) for key in keys)
        present = [leaf for leaf in dict.fromkeys(leaves) if leaf is not None]
        summits = self._tree.maximal_nodes(present) if present else ()
        return sum(map(self._made.tokens_shown, summits))

    def effective(self) -> Iterator[EffectiveMessage]:
        """What the model sees, in order."""
        return chain.from_iterable(shown for _, shown in self.shown_nodes())

    def effective_reversed(self) -> Iterator[EffectiveMessage]:
        """What the model sees, last message first."""
        for node in reversed(self._order):
            yield from reversed(self._made.shown(node))

    def shown_at(self, position: int) -> list[EffectiveMessage]:
        """What the model sees of the node at a position; empty for a snip."""
        return self._made.shown(self._order[position])

    def held_at(self, position: int) -> HeldLeaves | None:
        """The counted leaves of the fold at a position; None for a message."""
        node = self._order[position]
        return self._made.held_leaves(node) if node in self._tree.size else None

    def shown(self, key: Key) -> list[EffectiveMessage]:
        """What the model sees of a node at the top. Raises NotFound."""
        return self._made.shown(self._find(key))

    def shown_nodes(
        self, start: int = 0
    ) -> Iterator[tuple[Key, list[EffectiveMessage]]]:
        """The nodes at the top from a position on, each with what the model sees of it.

        For a snip that is nothing.
        """
        return islice(self._standing, start, None)

    @cached_property
    def _standing(self) -> list[tuple[Key, list[EffectiveMessage]]]:
        key, shown = self._draft.key, self._made.shown
        return [(key(node), shown(node)) for node in self._order]

    @cached_property
    def tokens(self) -> Tokens:
        """Token counts of the originals and of what the model sees."""
        return self._made.tokens(self.playback.originals.by_role)

    @cached_property
    def tokens_sent(self) -> int:
        """The tokens that the client sends: the originals after its own edits."""
        total, folded = self.tokens.original, set[int]()
        for recorded in self.log.client_edits:
            if self._outcomes[recorded.entry.number].status is Status.APPLIED:
                total += sum(new.tokens for new in messages_of(recorded.edit))
                if isinstance(recorded.edit, Fold):
                    indexes = map(original_index, recorded.edit.targets)
                    folded.update(index or 0 for index in indexes)
        return total - sum(self.leaves[index].tokens for index in folded)

    def tags(self, key: Key) -> tuple[str, ...]:
        """The tags of a leaf, in the order in which they were given. Raises NotFound."""
        return self._draft.tags.get(self._find(key), ())

    def made_message(self, key: Key) -> MadeMessage | None:
        """The message `o<number>.<k>` in its current words, whether or not it is in the thread."""
        number, place = parse_made_key(key) or (0, None)
        recorded = self.log.edits.get(number)
        messages = messages_of(recorded.edit) if recorded else ()
        return messages[place] if place is not None and place < len(messages) else None

    def role(self, key: Key) -> str:
        """The role of an original or of a message that an operation made. Raises Invalid."""
        index, made = original_index(key), self.made_message(key)
        if made is not None:
            return made.role
        if index is None or index >= self.message_count:
            raise Invalid(f"There is no message {key}.", code="unknown_key")
        return self.leaves[index].role

    def spans(self, key: Key) -> tuple[SpanChange, ...]:
        """The changes to the text of a message, by part and place, without overlaps.

        Redactions that are on mask it even if their condition does not hold.
        """
        changes = self._draft.changes.get(key, ())
        if not changes and not self.log.masks:
            return ()
        made, masks = self.made_message(key), self.log.masks
        laid = masks.changes_on(key, made.parts if made else ())
        return tuple(merge_masks(masks.mask_changes(changes), laid))

    def moved_by(self, key: Key) -> Key | None:
        """The resequence that last moved a node. Raises NotFound."""
        number = self._draft.moved_by.get(self._find(key))
        return None if number is None else entry_key(number)

    def keys_between(self, one: Key, other: Key) -> list[Key]:
        """The nodes from one to another, in the lowest container that holds both.

        Raises NotFound.
        """
        nodes = nodes_between(self._tree, self._find(one), self._find(other))
        return [self._draft.key(node) for node in nodes]

    def resolve_range(self, first: int, last: int) -> list[Key]:
        """The leaves that an inclusive range of indexes means.

        First the originals by index, then, in the order of the thread, the inserted messages
        whose nearest originals on both sides are in the range. Raises Invalid.
        """
        if not 0 <= first <= last < self.message_count:
            raise Invalid(
                f"There is no range {first} to {last}: there are {self.message_count} messages.",
                code="range",
            )
        between = inserted_between(self._draft, first + 1, last + 1)
        keys = map(original_key, range(first, last + 1))
        return [*keys, *map(self._draft.key, between)]

    @property
    def outcomes(self) -> Mapping[int, EditOutcome]:
        """The outcome of each edit, in the order of the log. `report` also says what hides it."""
        return self._outcomes

    @cached_property
    def reports(self) -> list[Report]:
        """The report of each edit, in the order of the log."""
        return [self.report(number) for number in self._outcomes]

    @property
    def status_counts(self) -> Counter[Status]:
        """How many edits have each status, without making reports."""
        return self._draft.outcomes.statuses

    @property
    def marked_edits(self) -> list[int]:
        """The edits that are proposed, off, unmet or in conflict, in the order of the log."""
        return sorted(self._draft.outcomes.marked)

    def newest_edits(self, statuses: AbstractSet[Status]) -> Iterator[int]:
        """The edits with one of these statuses, the newest first."""
        wanted = sum(self.status_counts[status] for status in statuses)
        withdrawn = self._draft.outcomes.withdrawn
        numbers: Iterable[int] = reversed(self._outcomes)
        if statuses <= WITHDRAWN and len(withdrawn) <= _FEW:
            numbers = sorted(withdrawn, reverse=True)
        found = (n for n in numbers if self._outcomes[n].status in statuses)
        return islice(found, wanted)

    @property
    def structural_edits(self) -> Iterable[int]:
        """The edits that fold, insert or move something in the thread."""
        return {*self._draft.messages, *self._draft.moves}

    @property
    def inserted_keys(self) -> Iterable[Key]:
        """The keys of the inserted messages in the thread."""
        return self._draft.inserted

    @property
    def inserted_sizes(self) -> dict[Key, tuple[str, int]]:
        """Role and tokens of each inserted message in the thread."""
        draft, found = self._draft, {}
        for key in draft.inserted:
            number, place = draft.made_by[draft.inserted[key]]
            new = draft.messages[number][place]
            found[key] = new.role, new.tokens
        return found

    def status(self, number: int) -> Status | None:
        """The status of one edit; None if there is no such edit."""
        outcome = self._outcomes.get(number)
        return None if outcome is None else outcome.status

    def revisited_since(self, earlier: ThreadVersion) -> Iterable[int]:
        """The edits, in order, whose outcome may differ from that in an earlier thread."""
        for version, numbers in self.playback.revisited:
            if version is earlier and numbers is not None:
                return sorted(numbers)
        return self._outcomes

    def report(self, number: int) -> Report:
        """The report of one edit."""
        outcome = self._outcomes[number]
        outer = {self._tree.outermost(node) for node in outcome.nodes}
        own = any(not self._tree.parent_of(node) for node in outcome.nodes)
        hidden_by = None if own or len(outer) != 1 else self._draft.key(outer.pop())
        return Report(
            number,
            entry_key(number),
            self.log.edits[number].edit.kind,
            outcome.status,
            outcome.reason,
            hidden_by,
            outcome.operations,
            outcome.needs,
        )

    @cached_property
    def keys(self) -> list[Key]:
        """The keys of all nodes at the top."""
        draft = self._draft
        names = {draft.inserted[key]: key for key in draft.inserted}
        return [
            names[node] if node in names else draft.key(node) for node in self._order
        ]

    @cached_property
    def top_folds(self) -> list[Key]:
        """The keys of the folds at the top, in order."""
        size = self._tree.size
        return [self._draft.key(node) for node in self._order if node in size]

    @cached_property
    def folds_at_top(self) -> list[FoldNode]:
        """The folds at the top, in order."""
        found = map(self.node, self.top_folds)
        return [node for node in found if isinstance(node, FoldNode)]

    @cached_property
    def tokens_held(self) -> list[FoldTokens]:
        """The tokens held by the folds at the top, in order, without making their nodes."""
        draft, edits, found = self._draft, self.log.edits, list[FoldTokens]()
        for node in self._order:
            if node < 0 and node in self._tree.size:
                number, _ = draft.made_by[node]
                kind, tokens = (
                    edits[number].edit.kind,
                    self._made.held_leaves(node).tokens,
                )
                found.append(FoldTokens(entry_key(number), kind, tokens))
        return found

    @property
    def folds(self) -> list[Key]:
        """The keys of all folds, in the order in which they were made."""
        return [self._draft.key(fold) for fold in sorted(self._tree.size, reverse=True)]

    @property
    def rewritten_keys(self) -> set[Key]:
        """The keys of messages whose text may be changed."""
        return {*self._draft.changes, *self.log.masks.keys}

    @property
    def annotated_keys(self) -> list[Key]:
        """The keys of messages that are inserted, tagged, moved, purged, or have changed text."""
        draft = self._draft
        nodes = {*draft.tags, *draft.moved_by}
        keys = {*map(draft.key, nodes), *draft.inserted, *draft.changes, *draft.purged}
        return sorted(key for key in keys if self.holds(key))

    def touched_since(self, earlier: "Thread") -> set[Key]:
        """The keys of messages whose text or marks may differ from those in an earlier thread."""
        draft, before = self._draft, earlier._draft
        nodes = changed_names(draft.tags, before.tags)
        nodes |= changed_names(draft.moved_by, before.moved_by)
        keys = {
            one.key(node) for one in (draft, before) for node in one.existing(nodes)
        }
        keys |= changed_names(draft.changes, before.changes)
        keys |= self.log.purged ^ earlier.log.purged
        for number in changed_names(draft.messages, before.messages):
            made = (draft.messages.get(number, ()), before.messages.get(number, ()))
            keys.update(made_key(number, place) for place in range(max(map(len, made))))
        masks, others = self.log.masks, earlier.log.masks
        if masks is not others and (masks or others):
            keys.update(self.annotated_keys, earlier.annotated_keys)
        return keys

    @cached_property
    def moves(self) -> list[MovedNodes]:
        """The moves whose nodes no later resequence moved again."""
        numbers = sorted(self._draft.moves)
        return [moved for number in numbers for moved in self._moved(number)]

    def moved_within(self, key: Key) -> set[Key]:
        """The folds in which an operation moved nodes that no later operation moved again."""
        moved = self._moved(entry_number(key) or 0)
        return {one.within for one in moved if one.within is not None}

    def _moved(self, number: int) -> Iterator[MovedNodes]:
        draft = self._draft
        for _, nodes, after, container in draft.moves.get(number, ()):
            keys = [draft.key(node) for node in nodes if draft.moved_by[node] == number]
            if keys:
                yield MovedNodes(
                    operation=entry_key(number),
                    keys=tuple(keys),
                    after=draft.key(after) if after else None,
                    within=draft.key(container) if container else None,
                )

    @cached_property
    def marks(self) -> dict[Key, list[Mark]]:
        """Edits that are proposed, off, unmet or in conflict, by the node where they would be.

        An edit that would fold or move only messages of one fold is marked inside it, all others
        at the top.
        """
        marks: dict[Key, list[Mark]] = {}
        for number in self.marked_edits if self._order else ():
            edit = self.log.edits[number].edit
            nodes = [self._find(key) for key in named_keys(edit) if self.holds(key)]
            at_top = isinstance(edit, Insert) and edit.after is None
            if nodes or at_top:
                node = self._draft.key(self._first_of(nodes, edit))
                is_after = isinstance(edit, Insert) and not at_top
                marks.setdefault(node, []).append(
                    Mark(operation=entry_key(number), is_after=is_after)
                )
        return marks

    def _first_of(self, nodes: Sequence[int], edit: Edit) -> int:
        """The first of the nodes that an edit would act on, in the container where they meet."""
        if isinstance(edit, Fold | Resequence):
            _, nodes = self._tree.common_container(nodes)
            return min(nodes, key=self._tree.rank_of)
        places = (self._positions[self._tree.outermost(node)] for node in nodes)
        return self._order[min(places, default=0)]

    @cached_property
    def _order(self) -> list[int]:
        return list(self._tree.nodes(THREAD))

    @cached_property
    def _positions(self) -> dict[int, int]:
        return {node: place for place, node in enumerate(self._order)}

    def _find(self, key: Key) -> int:
        node = self._draft.holder(key)
        if node is None:
            raise NotFound(f"{key} is not in the thread.")
        return node

    def _fold(self, key: Key) -> int:
        fold = self._find(key)
        if fold not in self._tree.size:
            raise NotFound(f"{key} is not a fold.")
        return fold
