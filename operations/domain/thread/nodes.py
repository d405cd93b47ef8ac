"""The nodes of a tree as values, made on request."""

from collections.abc import Mapping, Sequence

from operations.domain.log.log import Log
from operations.domain.tree.draft import ThreadDraft
from operations.domain.tree.holding import HeldLeaves
from operations.domain.tree.key import Key, entry_key, made_key, original_key
from operations.domain.tree.leaf import Leaf, MadeMessage

from .node import EffectiveMessage, FoldNode, MessageNode, Node, Tokens


class Nodes:
    """Reads nodes from a finished draft. Node numbers are those of its tree."""

    def __init__(self, leaves: Sequence[Leaf], log: Log, draft: ThreadDraft) -> None:
        """`leaves` are the originals."""
        self._leaves = leaves
        self._log = log
        self._draft = draft
        self._tree = draft.tree
        self._children: dict[int, tuple[int, int]] = {}

    def node(self, node: int) -> Node:
        """A message or a fold in the thread."""
        return self._fold(node) if node in self._tree.size else self._message(node)

    def shown(self, node: int) -> list[EffectiveMessage]:
        """What the model sees of a node at the top."""
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
        new = self._draft.inserted_message(node)
        return [self._shown(self._draft.key(node), new.role, new.tokens, new)]

    def held_leaves(self, fold: int) -> HeldLeaves:
        """The leaves of a fold, counted. Inner folds are counted once, for all versions."""
        holding, tree = self._draft.holding, self._tree
        if (known := holding[fold].held) is not None:
            return known
        waiting = [(fold, list(tree.nodes(fold)))]
        for _, nodes in waiting:  # grows while it is iterated
            inner = (node for node in nodes if node < 0 and node in tree.size)
            waiting += [
                (node, list(tree.nodes(node)))
                for node in inner
                if holding[node].held is None
            ]
        for outer, nodes in reversed(waiting):
            holding[outer].held = self._counted(nodes)
        return self.held_leaves(fold)

    def _counted(self, nodes: Sequence[int]) -> HeldLeaves:
        """The counts of a fold of these nodes."""
        leaves, holding = self._leaves, self._draft.holding
        tokens, indexes, groups = 0, list[int](), set[int]()
        for node in nodes:
            if node > 0:
                _, own, group = leaves[node - 1]
                tokens += own
                indexes.append(node - 1)
                groups.add(group)
            elif node in holding and (inner := holding[node].held) is not None:
                tokens += inner.tokens
                indexes += [i for i in (inner.first, inner.last) if i is not None]
                groups |= inner.groups
            else:
                tokens += self._draft.inserted_message(node).tokens
        first, last = min(indexes, default=None), max(indexes, default=None)
        return HeldLeaves(tokens, first, last, frozenset(groups))

    def tokens_shown(self, node: int) -> int:
        """The tokens of what the model sees of a node at the top."""
        if not self._tree.is_original(node):
            return sum(shown.tokens for shown in self.shown(node))
        tokens = self._leaves[node - 1].tokens
        return tokens - self._draft.saved(original_key(node - 1))

    def _shown(
        self,
        key: Key,
        role: str,
        tokens: int,
        new: MadeMessage | None,
        index: int | None = None,
    ) -> EffectiveMessage:
        if key in self._draft.changes:
            tokens -= self._draft.saved(key)
        return EffectiveMessage(key, role, tokens, index, new)

    def folds_around(self, node: int) -> list[int]:
        """The folds around a node, from the outermost inwards."""
        folds = []
        while node := self._tree.parent_of(node):
            folds.append(node)
        return folds[::-1]

    def tokens(self, originals: Mapping[str, tuple[int, int]]) -> Tokens:
        """Token counts of the originals and of what the model sees.

        `originals` maps each role to the number and the tokens of its messages.
        """
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
            new = self._draft.inserted_message(node)
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
            depth=len(self.folds_around(node)),
        )

    def _fold(self, node: int) -> FoldNode:
        held, (children, folds) = self.held_leaves(node), self._children_of(node)
        shown = self.shown(node)
        number, _ = self._draft.made_by[node]
        key = entry_key(number)
        return FoldNode(
            key=key,
            operation=key,
            kind=self._log.edits[number].edit.kind,
            first=held.first,
            last=held.last,
            count=self._tree.originals[node],
            leaves=self._tree.size[node],
            children=children,
            folds=folds,
            tokens_before=held.tokens,
            tokens_after=sum(message.tokens for message in shown),
            messages=self._draft.messages[number],
            moved_by=self._moved_by(node),
            changed=any(message.key in self._draft.changes for message in shown),
            depth=len(self.folds_around(node)),
        )

    def _moved_by(self, node: int) -> Key | None:
        number = self._draft.moved_by.get(node)
        return None if number is None else entry_key(number)

    def _children_of(self, fold: int) -> tuple[int, int]:
        """How many nodes a fold holds directly, and how many of these are folds."""
        if fold not in self._children:
            nodes, size = list(self._tree.nodes(fold)), self._tree.size
            folds = sum(node < 0 and node in size for node in nodes)
            self._children[fold] = len(nodes), folds
        return self._children[fold]
