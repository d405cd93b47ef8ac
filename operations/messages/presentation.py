"""Nodes, groups and ranges of a thread, in the form of the public contract and the tools."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from operations.domain.context.markers import marker_text
from operations.domain.thread.groups import MessageGroup
from operations.domain.thread.node import EffectiveMessage, FoldNode, MessageNode, Node
from operations.domain.thread.thread import Thread
from operations.log.presentation import OperationOut
from operations.log.selectors import History
from threads.domain.message import Role
from threads.domain.part import Text
from threads.domain.text import Excerpt
from threads.models import Session
from threads.sessions.presentation import address_of, present_original, present_parts
from threads.store.originals import Original, load_messages, load_messages_at

from .reader import MessageReader, MessageText


class TokensOut(BaseModel):
    """Tokens of the originals, and of what the model sees."""

    original: int
    effective: int


class ThreadOut(BaseModel):
    """A window of a thread."""

    session_id: uuid.UUID
    head: int
    """Number of the last entry of the log."""
    message_count: int
    """How many originals there are."""
    total: int
    """How many top-level nodes this view has."""
    nodes: list[dict[str, Any]]
    """Messages and folds."""
    operations: list[OperationOut]
    """The newest 100 operations."""
    operations_total: int
    """How many operations there are."""
    active_tags: list[str]
    tokens: TokensOut


class ThreadPresenter:
    """Presents nodes of one thread; reads the content of all of them in bulk."""

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
        """Nodes with their content; the folds in `unfold` also with their children."""
        children = {
            node.key: self.thread.children(node.key, children_start, children_limit)
            for node in nodes
            if isinstance(node, FoldNode) and node.key in unfold
        }
        words = MessageReader(self.session, self.thread).effective(
            [key for node in nodes for key in _keys_of(node)]
        )
        presented = []
        for node in nodes:
            if isinstance(node, MessageNode):
                presented.append(
                    self._message(
                        node,
                        words,
                        tags=list(node.tags),
                        moved_by=node.moved_by,
                        changed=node.changed,
                    )
                )
                continue
            fold = self._fold(node, words)
            if node.key in children:
                fold["children"] = self.nodes(
                    children[node.key], unfold=unfold, children_limit=children_limit
                )
            presented.append(fold)
        return presented

    def view(
        self, view: str, start: int, limit: int, **unfolding: Any
    ) -> tuple[int, list[dict[str, Any]]]:
        """The number of nodes in a view, and a window of them."""
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
        return [self._message(message, words) for message in shown]

    def _message(
        self,
        message: EffectiveMessage | MessageNode,
        words: Mapping[str, MessageText],
        **extra: Any,
    ) -> dict[str, Any]:
        """A message of the annotated or the effective thread."""
        read = words[message.key]
        if read.original is None:
            made = self._made(message.key, read, message.tokens)
            return {**made, "tags": list(self.thread.tags(message.key)), **extra}
        return {
            "kind": "message",
            **present_original(
                read.original,
                parts=read.parts,
                tags=self.thread.tags(message.key),
                extra=extra,
                address=self._address,
            ),
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
            "usage": None,
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
            "marker": marker_text(node)._asdict(),
            "replacement": [
                self._made(key, words[key], message.tokens)
                for key, message in zip(_keys_of(node), node.messages, strict=True)
            ],
            "moved_by": node.moved_by,
        }


def _keys_of(node: Node) -> list[str]:
    """The keys of the messages that a node shows."""
    if isinstance(node, MessageNode):
        return [node.key]
    return [f"{node.key}.{place}" for place in range(len(node.messages))]


MAX_TITLE_LENGTH = 80
"""Most characters of a group's first message that are used as its title."""
MAX_MESSAGES = 500
"""Most originals in one answer."""


def present_groups(
    session: Session, groups: Sequence[MessageGroup]
) -> list[dict[str, Any]]:
    """Groups, each titled with the first words of its first message."""
    firsts = load_messages_at(session, (group.first for group in groups))
    return [
        {
            "group_id": group.id,
            "first": group.first,
            "last": group.last,
            "title": _title(firsts[group.first]),
            "tokens": group.tokens,
            "status": group.status,
        }
        for group in groups
    ]


def present_range(
    session: Session, thread: Thread, start: int, end: int
) -> list[dict[str, Any]]:
    """The originals `start` to `end` (half-open) as tools return them, with their tags."""
    return [
        present_briefly(original, tags=thread.tags(original.key))
        for original in load_messages(session, start, end)
    ]


def present_briefly(original: Original, *, tags: Sequence[str] = ()) -> dict[str, Any]:
    """An original as tools return it, with each of its texts only once.

    Text is in `content`, reasoning in `thinking`; several results are in `tool_results`, a single
    one is in `content`.
    """
    form = present_original(original, tags=tags)
    parts, results = form.pop("parts"), form.pop("tool_results")
    thoughts = [part["text"] for part in parts if part["type"] == "thinking"]
    if thoughts := [text for text in thoughts if text]:
        form["thinking"] = "\n\n".join(thoughts)
    if len(results) > 1 or (results and form["content"] != results[0]["content"]):
        form["tool_results"] = results
    elif results and results[0]["is_error"]:
        form["is_error"] = True
    beside = ("id", "usage", "weight", "parsing_strategy")
    return {name: value for name, value in form.items() if name not in beside}


def present_excerpt(original: Original, found: Excerpt) -> dict[str, Any]:
    """An original as a search lists it: its identity, and an excerpt around the match."""
    form = present_original(original)
    before, behind = "…" * found.cut_before, "…" * found.cut_after
    names = ("key", "group_id", "role", "tokens")
    return {
        **{name: form[name] for name in names},
        "excerpt": f"{before}{found.text}{behind}",
    }


def _title(original: Original) -> str:
    texts = (part.text for part in original.parts if isinstance(part, Text))
    words = " ".join(" ".join(texts).split())
    short = (
        words if len(words) <= MAX_TITLE_LENGTH else f"{words[: MAX_TITLE_LENGTH - 1]}…"
    )
    return short or f"({original.role})"
