"""ChatGPT's data export: conversations as trees, alone or with the export's other files.

`conversations.json` is a list of conversations (large accounts get `conversations-000.json` and so
on). Each holds its messages as nodes of a tree (`mapping`), and the leaf that was last viewed
(`current_node`). The path to that leaf is the conversation; regenerated answers and edited
questions are branches, which are conversations of their own.
"""

import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from sys import intern
from typing import Any, BinaryIO, NamedTuple

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.arguments import read_call
from threads.domain.formats.io import fields, json_file, source
from threads.domain.formats.io.source import ByteSpan
from threads.domain.formats.kit.items import Item
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role
from threads.domain.part import Part, Thinking, ToolCall, ToolResult
from threads.domain.transcript import Event, Warning

from .chatgpt_content import Assets, assets_of, plain_text, read_parts
from .conversations import ConversationTree, ExportFormat

OWN = re.compile(
    r"chat\.html|(?:user|message_feedback|shared_conversations|group_chats|shopping|sora"
    r"|model_comparisons|user_settings|export_manifest)\.json"
    r"|(?:file[-_]|dalle-generations/|user-|textdocs/|[\w-]+/audio/)(?s:.*)"
)
"""The export's other files, which hold no conversations."""
EVENT, PLAIN, USER, CALL, RESULT = range(5)
ROLES = {role.value: role for role in Role} | {"function": Role.TOOL}
UNFINISHED = frozenset({"in_progress", "finished_partial_completion"})
FAILED = frozenset({"failed_with_in_kernel_exception", "failed_with_system_exception"})
NO_RESULT = (Thinking, ToolCall, ToolResult)
"""Kinds of parts that a result can't hold."""


class NodeTurn(NamedTuple):
    """Nodes that form one message or event; `call` is the node that a result answers, or -1."""

    kind: int
    nodes: tuple[int, ...]
    call: int = -1


@dataclass(slots=True)
class NodeTree:
    """An index of a conversation: numbers and short strings per node, without contents."""

    ids: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    starts: "array[int]" = field(default_factory=lambda: array("Q"))
    ends: "array[int]" = field(default_factory=lambda: array("Q"))
    kinds: bytearray = field(default_factory=bytearray)
    tools: list[str] = field(default_factory=list)
    """For each node, a call's recipient or a result's author."""
    leaf: int = -1
    words: str = ""
    """The user's first text."""
    model: str = ""

    def span(self, node: int) -> ByteSpan:
        """The place of a node in the file."""
        return ByteSpan(self.starts[node], self.ends[node])


def _index(
    file: BinaryIO,
    span: ByteSpan,
    said: dict[str, Any],
    assets: Assets,
    skipped: list[Warning],
) -> ConversationTree | None:
    if not fields.mapping(said, "mapping"):
        return None
    try:
        start = next(
            child.span.start
            for child in source.children(file, span.start)
            if child.key == "mapping"
        )
        tree = _tree(file, start, said)
    except (Invalid, StopIteration):  # a duplicate key: not the value parsed
        words = f"The conversation at byte {span.start:,} can't be read."
        skipped.append(Warning("json_invalid", words))
        return None
    return ConversationTree(
        id=fields.word(said, "conversation_id", "id", limit=200) or tree.ids[0][:200],
        title=fields.text(said, "title").strip() or tree.words.strip(),
        model=tree.model or fields.word(said, "default_model_slug"),
        ids=tree.ids,
        parents=tree.parents,
        leaf=tree.leaf,
        spoken=lambda nodes: [t for t in _turns(tree, nodes) if t.kind != EVENT],
        read=partial(_read, tree, assets),
    )


def _tree(file: BinaryIO, start: int, conversation: dict[str, Any]) -> NodeTree:
    """The tree of the conversation whose `mapping` begins at `start`. Raises Invalid."""
    mapping = fields.mapping(conversation, "mapping")
    tree = NodeTree()
    numbers: dict[str, int] = {}
    latest = float("-inf")
    for child in source.children(file, start):
        message = fields.mapping(mapping.get(str(child.key)), "message")
        number = numbers.setdefault(str(child.key), len(tree.ids))
        if number < len(tree.ids):
            # Of duplicate keys, the last counts: its value is the one that was parsed.
            tree.starts[number], tree.ends[number] = child.span
            continue
        kind, tool, text = _kind(message)
        tree.ids.append(str(child.key))
        tree.starts.append(child.span.start)
        tree.ends.append(child.span.end)
        tree.kinds.append(kind)
        tree.tools.append(intern(tool))
        tree.parents.append(-1)
        tree.words = tree.words or (text if kind == USER else "")
        metadata = fields.mapping(message, "metadata")
        tree.model = tree.model or fields.word(metadata, "model_slug")
        moment = fields.moment(message.get("create_time"))
        age = moment.timestamp() if moment else float("-inf")
        if kind != EVENT and age >= latest:
            latest, tree.leaf = age, number
    for number, id_ in enumerate(tree.ids):
        parent = fields.text(mapping.get(id_), "parent")
        tree.parents[number] = numbers.get(parent, -1)
    tree.leaf = numbers.get(fields.text(conversation, "current_node"), tree.leaf)
    return tree


def _turns(tree: NodeTree, nodes: Sequence[int]) -> list[NodeTurn]:
    """The messages and events on a path, in order.

    The export has no call ids: a result answers the first open call of its tool since the user
    last spoke, else the first open call. Further consecutive results of the same tool are merged.
    """
    found: list[NodeTurn] = []
    calls: list[int] = []
    last = -1  # the index in `found` of the last message
    for node in nodes:
        kind = tree.kinds[node]
        turn = NodeTurn(kind, (node,))
        if kind == RESULT:
            named = (c for c in calls if tree.tools[c] == tree.tools[node])
            call = next(named, -1)
            if call < 0 and _continues(tree, found, last, node):
                found[last] = found[last]._replace(nodes=(*found[last].nodes, node))
                continue
            call = calls[0] if call < 0 and calls else call
            calls = [other for other in calls if other != call]
            turn = turn._replace(call=call)
        elif kind == CALL:
            calls.append(node)
        elif kind == USER:
            calls = []
        last = len(found) if kind != EVENT else last
        found.append(turn)
    return found


def _read(
    tree: NodeTree,
    assets: Assets,
    nodes: Sequence[int],
    left: Sequence[int],
    file: BinaryIO,
    warnings: list[Warning],
) -> Iterator[Item]:
    """The items of a path; `left` are the nodes on no path, which become events."""

    def message_of(node: int) -> dict[str, Any]:
        value = json_file.known_value(file, tree.span(node), warnings)
        return fields.mapping(value, "message")

    for turn in _turns(tree, nodes):
        yield _item(tree, turn, list(map(message_of, turn.nodes)), assets)
    for node in left:
        yield _event(tree, node, message_of(node), "branch/")


def _item(
    tree: NodeTree, turn: NodeTurn, messages: list[dict[str, Any]], assets: Assets
) -> Item:
    """The message of a turn: the parts of its nodes, in order."""
    first = messages[0]
    if turn.kind == EVENT:
        return _event(tree, turn.nodes[0], first)
    parts: list[Part] = []
    records: list[str] = []
    for node, message in zip(turn.nodes, messages, strict=True):
        found, others = read_parts(message, assets)
        parts += found
        records += [tree.span(node).record, *others]
    metadata = fields.mapping(first, "metadata")
    author = fields.mapping(first, "author")
    return Message(
        role=ROLES.get(fields.text(author, "role"), Role.ASSISTANT),
        parts=_parts(tree, turn, tuple(parts), any(map(_failed, messages))),
        name=(fields.word(author, "name") or None) if turn.kind != RESULT else None,
        model=fields.word(metadata, "model_slug") or None,
        source_id=fields.word(first, "id") or tree.ids[turn.nodes[0]][:128] or None,
        created_at=fields.moment(first.get("create_time")),
        partial=fields.text(messages[-1], "status") in UNFINISHED,
        records=tuple(records),
    )


def _parts(
    tree: NodeTree, turn: NodeTurn, parts: tuple[Part, ...], is_error: bool
) -> tuple[Part, ...]:
    if turn.kind == CALL:
        node = turn.nodes[0]
        text = plain_text(parts)
        call = read_call(tree.ids[node], tree.tools[node], text)
        # Code for an interpreter stays code, even if it happens to be JSON.
        if not isinstance(call.arguments, dict):
            call = ToolCall(call.id, call.name, text)
        others = (part for part in parts if isinstance(part, Thinking))
        return (*others, call)
    if turn.kind == RESULT:
        call_id = tree.ids[turn.call if turn.call >= 0 else turn.nodes[0]]
        content = tuple(p for p in parts if not isinstance(p, NO_RESULT))
        name = tree.tools[turn.nodes[0]] or None
        return (ToolResult(call_id, content, name, is_error),)
    return parts


def _event(
    tree: NodeTree, node: int, message: dict[str, Any], before: str = ""
) -> Event:
    role = fields.text(fields.mapping(message, "author"), "role")
    kind = fields.text(fields.mapping(message, "content"), "content_type")
    name = "/".join(word for word in (role, kind) if word) or "node"
    stamp = fields.moment(message.get("create_time"))
    return Event(before + name, tree.span(node).record, stamp)


def _kind(message: dict[str, Any]) -> tuple[int, str, str]:
    """The kind of a node, its tool, and its text."""
    parts, _ = read_parts(message, lambda _: None)
    author = fields.mapping(message, "author")
    role = fields.text(author, "role")
    text = plain_text(parts)
    recipient = fields.text(message, "recipient")
    if role == "assistant" and recipient not in ("", "all"):
        return CALL, recipient, text
    if role in ("tool", "function") and message:
        return RESULT, fields.text(author, "name"), text
    if not parts:
        return EVENT, "", ""
    metadata = fields.mapping(message, "metadata")
    hidden = metadata.get("is_visually_hidden_from_conversation")
    return (USER if role == "user" and not hidden else PLAIN), "", text


def _continues(tree: NodeTree, found: list[NodeTurn], last: int, node: int) -> bool:
    """Whether a result continues the one before it."""
    if last < 0 or found[last].kind != RESULT:
        return False
    return tree.tools[found[last].nodes[0]] == tree.tools[node]


def _failed(message: dict[str, Any]) -> bool:
    kind = fields.text(fields.mapping(message, "content"), "content_type")
    run = fields.mapping(fields.mapping(message, "metadata"), "aggregate_result")
    return kind == "system_error" or fields.text(run, "status") in FAILED


def _score(sample: Sample) -> float:
    """By a tree of nodes with messages; `current_node` comes after it, often beyond the sample."""
    for row in [*sample.rows, *fields.items(sample.object, "conversations")]:
        mapping = fields.mapping(row).get("mapping")
        if not isinstance(mapping, dict):
            continue
        names = {name for node in mapping.values() for name in fields.mapping(node)}
        if "current_node" in row or names & {"message", "parent", "children"}:
            return 0.95
    return 0


EXPORT = ExportFormat(
    name="chatgpt",
    label="a ChatGPT conversation",
    score=_score,
    index=_index,
    own=OWN,
    beside=assets_of,
    untitled="ChatGPT conversation",
    strategy="openai",
)
FORMAT = EXPORT.format
