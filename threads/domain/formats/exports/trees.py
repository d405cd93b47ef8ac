"""Exports whose messages name their parents: an index of the messages, read again when asked for.

The services differ in where the messages lie and what one says; what comes of their parents is
the same.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, BinaryIO, NamedTuple

from threads.domain.formats.io import fields, json_file
from threads.domain.formats.io.source import BROKEN, ByteSpan
from threads.domain.formats.kit.items import Item
from threads.domain.message import Message, Role
from threads.domain.transcript import Event, Warning

from .conversations import ConversationTree

ReadMessages = Callable[[dict[str, Any], str], Sequence[Message]]
"""The messages of an export's message, given its record; none where it says nothing."""


class TreeNode(NamedTuple):
    """One message of an export: its id, the one it follows, its place, and what stands there."""

    id: str
    parent: str
    span: ByteSpan
    value: dict[str, Any]


def conversation_of(
    nodes: Iterable[TreeNode],
    read: ReadMessages,
    *,
    id: str,
    title: str,
    model: str = "",
    leaf: str = "",
    beside: Sequence[Event] = (),
) -> ConversationTree | None:
    """The conversation of messages, each under its parent; None where there are none.

    A message whose parent isn't there begins anew. Without a leaf that is known the thread ends
    with the last message. `beside` stands before the first one.
    """
    found = list(nodes)
    if not found:
        return None
    places: dict[str, int] = {}
    for place, node in enumerate(found):
        places.setdefault(node.id, place)
    said = [read(node.value, node.span.record) for node in found]
    users = (m for messages in said for m in messages if m.role is Role.USER)
    models = (m.model for messages in said for m in messages if m.model)
    return ConversationTree(
        id=id,
        title=title.strip() or fields.first(message.text for message in users),
        model=model or next(models, ""),
        ids=[node.id or str(place) for place, node in enumerate(found)],
        parents=[places.get(node.parent, -1) for node in found],
        leaf=places.get(leaf, len(found) - 1),
        spoken=partial(_spoken, [len(messages) for messages in said]),
        read=partial(_read, [node.span for node in found], read, beside),
    )


def _spoken(counts: Sequence[int], nodes: Sequence[int]) -> Sequence[object]:
    return [(node, nth) for node in nodes for nth in range(counts[node])]


def _read(
    spans: Sequence[ByteSpan],
    read: ReadMessages,
    beside: Sequence[Event],
    nodes: Sequence[int],
    left: Sequence[int],
    file: BinaryIO,
    warnings: list[Warning],
) -> Iterator[Item]:
    """The items of a branch; what lies on none is given behind it."""
    yield from beside
    for node in nodes:
        row = json_file.element(file, spans[node], warnings)
        made = (
            read(fields.mapping(row.value), row.record)
            if row.value is not BROKEN
            else ()
        )
        yield from made
        if not made:
            yield Event("empty", row.record)
    for node in left:
        yield Event("branch/message", spans[node].record)


def below(first: TreeNode, nodes: Sequence[TreeNode]) -> list[TreeNode]:
    """The messages with another one before all that begin anew: the instructions of a chat."""
    known = {node.id for node in nodes}
    hung = (
        node if node.parent in known else node._replace(parent=first.id)
        for node in nodes
    )
    return [first, *hung]


def listed(
    file: BinaryIO, span: ByteSpan, values: Sequence[Any]
) -> Iterator[tuple[ByteSpan, dict[str, Any]]]:
    """The elements of the list at a place that are objects, each with its own place."""
    children = json_file.children(file, span.start, [])
    for child, value in zip(children, values, strict=False):
        if isinstance(value, dict):
            yield child.span, value
