"""Exports whose messages name their parents: an index of messages, which are read on request.

The services differ in where the messages are and what they contain; how their parents are used is
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
"""Reads the messages made from one of the export, given its record; none if it says nothing."""


class TreeNode(NamedTuple):
    """One message of an export: its id, its parent's id, its place, and its value."""

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
    """The conversation of messages, each with its parent; None if there are none.

    A message whose parent is missing is a root. Without a known leaf, the thread ends with the
    last message. The events in `beside` come before the first message.
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
    """The items of a branch, followed by events for the messages on no branch."""
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


def with_root(first: TreeNode, nodes: Sequence[TreeNode]) -> list[TreeNode]:
    """The messages with another one above all roots, such as the instructions of a chat."""
    known = {node.id for node in nodes}
    hung = (
        node if node.parent in known else node._replace(parent=first.id)
        for node in nodes
    )
    return [first, *hung]


def list_objects(
    file: BinaryIO, span: ByteSpan, values: Sequence[Any]
) -> Iterator[tuple[ByteSpan, dict[str, Any]]]:
    """The objects in the list at a place, each with its own place."""
    children = json_file.children(file, span.start, [])
    for child, value in zip(children, values, strict=False):
        if isinstance(value, dict):
            yield child.span, value
