"""Nodes of a thread as the public contract gives them."""

from collections.abc import Mapping, Sequence
from typing import Any

from operations.domain.context.markers import words_of
from operations.domain.thread.node import EffectiveMessage, FoldNode, MessageNode, Node
from operations.domain.thread.thread import Thread
from operations.log.selectors import History
from threads.domain.message import Role
from threads.models import Session
from threads.sessions.presentation import address_of, present_original, present_parts
from threads.store.selectors import load_messages

from .reader import MessageReader, MessageText


class ThreadPresenter:
    """Presents nodes of one thread, with the words of all of them read at once."""

    def __init__(
        self,
        session: Session,
        thread: Thread,
        history: History,
        *,
        inline: bool = False,
    ) -> None:
        self.session, self.thread, self.history = session, thread, history
        self._address = address_of(inline)

    def nodes(
        self,
        nodes: Sequence[Node],
        *,
        unfold: frozenset[str] = frozenset(),
        children_start: int = 0,
        children_limit: int = 100,
    ) -> list[dict[str, Any]]:
        """Nodes with what they read; the folds in `unfold` with what they hold, too."""
        children = {
            node.key: self.thread.children(node.key, children_start, children_limit)
            for node in nodes
            if isinstance(node, FoldNode) and node.key in unfold
        }
        words = MessageReader(self.session, self.thread).effective(
            [key for node in nodes for key in _keys_of(node)],
        )
        presented = []
        for node in nodes:
            if isinstance(node, MessageNode):
                presented.append(self._message(node, words))
                continue
            fold = self._fold(node, words)
            if node.key in children:
                fold["children"] = self.nodes(
                    children[node.key],
                    unfold=unfold,
                    children_limit=children_limit,
                )
            presented.append(fold)
        return presented

    def view(
        self, view: str, start: int, limit: int, **unfolding: Any
    ) -> tuple[int, list[dict[str, Any]]]:
        """How many nodes a view has, and a window of them."""
        if view == "original":
            rows = load_messages(self.session, start, start + limit)
            return self.thread.message_count, [
                {"kind": "message", **present_original(row, address=self._address)}
                for row in rows
            ]
        if view == "effective":
            shown = list(self.thread.effective())
            return len(shown), self.shown(shown[start : start + limit])
        nodes = self.thread.window(start, limit)
        return self.thread.total, self.nodes(nodes, **unfolding)

    def shown(self, shown: Sequence[EffectiveMessage]) -> list[dict[str, Any]]:
        """Messages of the effective thread."""
        words = MessageReader(self.session, self.thread).effective(
            [message.key for message in shown]
        )
        return [self._shown(message, words) for message in shown]

    def _shown(
        self, message: EffectiveMessage, words: Mapping[str, MessageText]
    ) -> dict[str, Any]:
        read = words[message.key]
        if read.original is not None:
            return {
                "kind": "message",
                **present_original(
                    read.original,
                    parts=read.parts,
                    tags=self.thread.tags(message.key),
                    address=self._address,
                ),
            }
        return self._made(message.key, read, message.tokens)

    def _message(
        self, node: MessageNode, words: Mapping[str, MessageText]
    ) -> dict[str, Any]:
        read = words[node.key]
        extra = {"moved_by": node.moved_by, "changed": node.changed}
        if read.original is not None:
            return {
                "kind": "message",
                **present_original(
                    read.original,
                    parts=read.parts,
                    tags=node.tags,
                    extra=extra,
                    address=self._address,
                ),
            }
        return {
            **self._made(node.key, read, node.tokens),
            "tags": list(node.tags),
            **extra,
        }

    def _made(self, key: str, read: MessageText, tokens: int) -> dict[str, Any]:
        operation = key.split(".")[0]
        row = self.history.rows[int(operation[1:])]
        return {
            "kind": "inserted",
            "key": key,
            "id": None,
            "short_id": None,
            "index": None,
            **present_parts(Role(read.role), read.parts, address=self._address),
            "operation_id": str(row.id),
            "parsing_strategy": self.session.parsing_strategy,
            "group_id": None,
            "status": "complete",
            "tags": [],
            "tokens": tokens,
            "weight": None,
            "created_at": row.created_at.isoformat(),
        }

    def _fold(self, node: FoldNode, words: Mapping[str, MessageText]) -> dict[str, Any]:
        row = self.history.rows[int(node.operation[1:])]
        return {
            "kind": "fold",
            "key": node.key,
            "operation_id": str(row.id),
            "type": node.kind,
            "first": node.first,
            "last": node.last,
            "count": node.leaves,
            "tokens_before": node.tokens_before,
            "tokens_after": node.tokens_after,
            "marker": words_of(node)._asdict(),
            "replacement": [
                self._made(key, words[key], message.tokens)
                for key, message in zip(_keys_of(node), node.messages, strict=True)
            ],
            "moved_by": node.moved_by,
        }


def _keys_of(node: Node) -> list[str]:
    """The keys of the messages that a node reads."""
    if isinstance(node, MessageNode):
        return [node.key]
    return [f"{node.key}.{place}" for place in range(len(node.messages))]
