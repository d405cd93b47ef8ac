"""The nodes of a tree as values, made when they are asked for."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from operations.domain.log.log import Log
from operations.domain.tree.draft import ThreadDraft
from operations.domain.tree.key import Key, entry_key, made_key, original_key
from operations.domain.tree.leaf import Leaf, New

from .node import EffectiveMessage, FoldNode, MessageNode, Node, Tokens


class _Extent(NamedTuple):
    """What a fold holds, as `FoldNode` has it; `tokens` are those of its leaves."""

    first: int | None
    last: int | None
    children: int
    folds: int
    tokens: int


class Nodes:
    """Reads nodes off a draft that nothing acts on any more. Nodes are those of its tree."""

    def __init__(self, leaves: Sequence[Leaf], log: Log, draft: ThreadDraft) -> None:
        """Of the originals `leaves` under a log."""
        self._leaves = leaves
        self._log = log
        self._draft = draft
        self._tree = draft.tree
        self._extents: dict[int, _Extent] = {}

    def node(self, node: int) -> Node:
        """A message or a fold, as it stands in the thread."""
        return self._fold(node) if node in self._tree.size else self._message(node)

    def shown(self, node: int) -> list[EffectiveMessage]:
        """What the model sees of a node that stands at the top."""
        if node > 0:
            role, tokens, _ = self._leaves[node - 1]
            key = original_key(node - 1)
            return [self._shown(key, role, tokens, None, node - 1)]
        if node in self._tree.size:
            number, _ = self._draft.made_by[node]
            return [
                self._shown(made_key(number, place), new.role, new.tokens, new)
                for place, new in enumerate(self._draft.messages[number])
            ]
        new = self._draft.made(node)
        return [self._shown(self._draft.key(node), new.role, new.tokens, new)]

    def tokens_held(self, fold: int) -> int:
        """The tokens of the leaves of a fold."""
        return self._extent_of(fold).tokens

    def tokens_shown(self, node: int) -> int:
        """The tokens of what the model sees of a node that stands at the top."""
        if not self._tree.is_original(node):
            return sum(shown.tokens for shown in self.shown(node))
        tokens = self._leaves[node - 1].tokens
        return tokens - self._draft.saved(original_key(node - 1))

    def _shown(
        self,
        key: Key,
        role: str,
        tokens: int,
        new: New | None,
        index: int | None = None,
    ) -> EffectiveMessage:
        if key in self._draft.changes:
            tokens -= self._draft.saved(key)
        return EffectiveMessage(key, role, tokens, index, new)

    def around(self, node: int) -> list[int]:
        """The folds around a node, from the outermost in."""
        folds = []
        while node := self._tree.parent_of(node):
            folds.append(node)
        return folds[::-1]

    def tokens(self, originals: Mapping[str, tuple[int, int]]) -> Tokens:
        """Token counts of the originals, given as messages and tokens by role, and of what the
        model sees."""
        shown = self._draft.shown
        by_role: dict[str, int] = {}
        for role in originals.keys() | shown.roles.keys():
            messages, tokens = originals.get(role, (0, 0))
            more, other = shown.roles.get(role, (0, 0))
            if messages + more:
                by_role[role] = tokens + other
        original = sum(tokens for _, tokens in originals.values())
        return Tokens(
            original, sum(by_role.values()) + shown.folds, by_role, shown.folds
        )

    def _message(self, node: int) -> MessageNode:
        key = self._draft.key(node)
        if self._tree.is_original(node):
            role, tokens, group = self._leaves[node - 1]
            index, new, operation = node - 1, None, None
        else:
            new = self._draft.made(node)
            role, tokens, group, index = new.role, new.tokens, None, None
            operation = entry_key(self._draft.made_by[node][0])
        return MessageNode(
            key=key,
            index=index,
            role=role,
            tokens=tokens,
            saved=self._draft.saved(key),
            group=group,
            operation=operation,
            message=new,
            moved_by=self._moved_by(node),
            tags=self._draft.tags.get(node, ()),
            changed=key in self._draft.changes,
            depth=len(self.around(node)),
        )

    def _fold(self, node: int) -> FoldNode:
        extent = self._extent_of(node)
        shown = self.shown(node)
        number, _ = self._draft.made_by[node]
        key = entry_key(number)
        return FoldNode(
            key=key,
            operation=key,
            kind=self._log.edits[number].edit.kind,
            first=extent.first,
            last=extent.last,
            count=self._tree.originals[node],
            leaves=self._tree.size[node],
            children=extent.children,
            folds=extent.folds,
            tokens_before=extent.tokens,
            tokens_after=sum(message.tokens for message in shown),
            messages=self._draft.messages[number],
            moved_by=self._moved_by(node),
            changed=any(message.key in self._draft.changes for message in shown),
            depth=len(self.around(node)),
        )

    def _moved_by(self, node: int) -> Key | None:
        number = self._draft.moved_by.get(node)
        return None if number is None else entry_key(number)

    def _extent_of(self, fold: int) -> _Extent:
        """What a fold holds; each fold in it is summed up once, after those that it holds."""
        extents, size = self._extents, self._tree.size
        waiting: list[tuple[int, list[int]]] = []
        unknown = [] if fold in extents else [fold]
        for outer in unknown:  # grows while it is walked
            nodes = list(self._tree.nodes(outer))
            waiting.append((outer, nodes))
            unknown += [n for n in nodes if n < 0 and n in size and n not in extents]
        while waiting:
            inner, nodes = waiting.pop()
            extents[inner] = self._extent(nodes)
        return extents[fold]

    def _extent(self, nodes: Sequence[int]) -> _Extent:
        """Of a fold that holds these."""
        extents, leaves = self._extents, self._leaves
        folds = tokens = 0
        indexes: list[int] = []
        for node in nodes:
            if node > 0:
                tokens += leaves[node - 1].tokens
                indexes.append(node - 1)
            elif node in extents:
                folds += 1
                inner = extents[node]
                tokens += inner.tokens
                indexes += [i for i in (inner.first, inner.last) if i is not None]
            else:
                tokens += self._draft.made(node).tokens
        first, last = min(indexes, default=None), max(indexes, default=None)
        return _Extent(first, last, len(nodes), folds, tokens)
