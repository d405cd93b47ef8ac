"""Claude.ai's data export: conversations of messages that may branch.

`conversations.json` is a list of conversations; `projects.json` and `users.json` beside it
hold none. A message says which one it follows (`parent_message_uuid`, in newer exports): the
way to the last one is the conversation, others are branches.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO, NamedTuple

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.format import Format
from threads.domain.formats.io import fields, json_file, source
from threads.domain.formats.io.folder import Folder, Gathered, Member
from threads.domain.formats.io.source import ByteSpan
from threads.domain.formats.kit.branches import branches
from threads.domain.formats.kit.items import Item, Opener, ReadFile, items_in, opened
from threads.domain.formats.kit.transcripts import at_least_one, warn_first
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role
from threads.domain.part import ToolResult
from threads.domain.transcript import Event, Transcript, Warning

from . import export_folder
from .claude_ai_content import read_runs

NAME = "claude_ai"
LABEL = "a Claude.ai conversation"
FILES = re.compile(r"conversations(?:-\d+)?\.json")
OWN = re.compile(r"(?:projects|users|memories)\.json|projects/[^/]+\.json")
ROLES = {"human": Role.USER, "user": Role.USER, "assistant": Role.ASSISTANT}
LEAVES = ("current_leaf_message_uuid", "current_leaf_message_id")


@dataclass(frozen=True, slots=True)
class MessageIndex:
    """What is held of a conversation: a place and a few words a message."""

    ids: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    spans: list[ByteSpan] = field(default_factory=list)
    runs: list[int] = field(default_factory=list)
    """How many messages of the API each one is; 0 where it says nothing."""
    words: list[str] = field(default_factory=list)
    """The first words of a person."""


class ApiMessage(NamedTuple):
    """One message of the API: which of the export's, and which run of its parts."""

    number: int
    run: int


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """The conversations of conversations.json, or of one conversation saved alone."""
    return _read(file, opened(file), "", {})


def gather(folder: Folder) -> list[Gathered]:
    """Each export of the folder; a conversation in a project begins with that one's record."""
    return export_folder.gather(folder, FILES, _score, _gather)


def _gather(folder: Folder, root: str, members: list[Member]) -> Gathered:
    own = {
        name: member
        for name, member in folder.members.items()
        if name.startswith(root) and OWN.fullmatch(name.removeprefix(root))
    }
    projects: dict[str, str] = {}
    for name, member in own.items():
        if "projects" in name.removeprefix(root):
            with member.open() as file:
                projects |= _projects(file, name)
    found: list[Transcript] = []
    for member in members:
        with member.open() as file:
            found += _read(file, member.open, member.name, projects)
    return Gathered(found, frozenset({member.name for member in members} | own.keys()))


def _projects(file: BinaryIO, name: str) -> dict[str, str]:
    """Where each project of a file stands, by its id."""
    found = {}
    for span in json_file.held_objects(file, "projects", []):
        uuid = fields.text(json_file.known_value(file, span, []), "uuid")
        found[uuid] = f"{name}#{span.record}"
    return found


def _read(
    file: BinaryIO, opener: Opener, member: str, projects: dict[str, str]
) -> list[Transcript]:
    skipped: list[Warning] = []
    found = [
        replace(transcript, member=member)
        for span in json_file.held_objects(file, "conversations", skipped)
        for transcript in _conversation(file, span, opener, projects, skipped)
    ]
    return warn_first(at_least_one(found, skipped, LABEL), skipped)


def _conversation(
    file: BinaryIO,
    span: ByteSpan,
    opener: Opener,
    projects: dict[str, str],
    skipped: list[Warning],
) -> Iterator[Transcript]:
    """The conversation of one object, and its branches; none where it says nothing."""
    file = json_file.in_memory(file, span)
    said = fields.mapping(json_file.known_value(file, span, skipped))
    if not fields.items(said, "chat_messages"):
        return
    known = _index(file, span, said, skipped)
    leaf = next((n for n, id_ in enumerate(known.ids) if id_ == _leaf(said)), -1)
    leaf = len(known.ids) - 1 if leaf < 0 else leaf
    found = branches(known.parents, leaf, lambda nodes: _spoken(known, nodes))
    id_ = fields.word(said, "uuid", limit=200)
    project = projects.get(fields.text(fields.mapping(said, "project"), "uuid"), "")
    title = fields.text(said, "name").strip() or fields.first(known.words).strip()
    for branch in found:
        items = items_in(opener, _reading(known, branch.nodes, branch.left, project))
        yield Transcript(
            format=NAME,
            title=branch.title(fields.one_line(title) or "Claude.ai conversation"),
            items=items,
            external_id=branch.external_id(id_, known.ids),
            strategy="anthropic",
            model=fields.word(said, "model"),
            parent=branch.parent(id_, known.ids, found),
            warnings=items.warnings,
        )


def _leaf(said: dict[str, Any]) -> str:
    return fields.text(said, *LEAVES)


def _index(
    file: BinaryIO, span: ByteSpan, said: dict[str, Any], skipped: list[Warning]
) -> MessageIndex:
    """The messages of a conversation, by their places and their parents."""
    known = MessageIndex()
    messages = fields.items(said, "chat_messages")
    numbers: dict[str, int] = {}
    is_tree = any(fields.text(one, "parent_message_uuid") for one in messages)
    for number, (place, message) in enumerate(
        zip(_places(file, span, skipped), messages, strict=False)
    ):
        uuid = fields.text(message, "uuid")
        parent = fields.text(message, "parent_message_uuid")
        known.ids.append(uuid or str(number))
        known.parents.append(numbers.get(parent, -1) if is_tree else number - 1)
        known.spans.append(place)
        runs = read_runs(fields.mapping(message))
        known.runs.append(len(runs))
        is_human = fields.text(message, "sender") == "human"
        if is_human and runs and not known.words:
            known.words.append(Message(role=Role.USER, parts=runs[0]).text)
        numbers.setdefault(uuid, number)
    return known


def _places(
    file: BinaryIO, span: ByteSpan, skipped: list[Warning]
) -> Iterator[ByteSpan]:
    """Where the messages of a conversation stand."""
    try:
        for child in source.children(file, span.start):
            if child.key == "chat_messages":
                for inner in source.children(file, child.span.start):
                    yield inner.span
                return
    except Invalid as error:
        skipped.append(Warning(error.code, f"At byte {span.start:,}: {error.message}"))


def _spoken(known: MessageIndex, nodes: Sequence[int]) -> list[ApiMessage]:
    return [ApiMessage(node, run) for node in nodes for run in range(known.runs[node])]


def _reading(
    known: MessageIndex, nodes: Sequence[int], left: Sequence[int], project: str
) -> ReadFile:
    """How the items of a way are read; `left` are messages on no way, given as events."""

    def read(file: BinaryIO, warnings: list[Warning]) -> Iterator[Item]:
        if project:
            yield Event("project", project)
        for node in nodes:
            message = fields.mapping(
                json_file.known_value(file, known.spans[node], warnings)
            )
            yield from _items(known, node, message)
        for node in left:
            message = fields.mapping(
                json_file.known_value(file, known.spans[node], warnings)
            )
            yield _event(known, node, message, "branch/")

    return read


def _items(known: MessageIndex, node: int, message: dict[str, Any]) -> Iterator[Item]:
    """The messages of the API that one of the export's is; an event where it says nothing."""
    runs = read_runs(message)
    if not runs:
        yield _event(known, node, message, "empty/")
    role = ROLES.get(fields.text(message, "sender"), Role.ASSISTANT)
    uuid = fields.word(message, "uuid", limit=120)
    for number, parts in enumerate(runs):
        is_result = isinstance(parts[0], ToolResult)
        yield Message(
            role=Role.USER if is_result else role,
            parts=parts,
            source_id=(f"{uuid}/{number}" if number and uuid else uuid) or None,
            created_at=fields.moment(message.get("created_at")),
            model=fields.word(message, "model") or None,
            records=(known.spans[node].record,),
        )


def _event(
    known: MessageIndex, node: int, message: dict[str, Any], before: str
) -> Event:
    kind = before + (fields.text(message, "sender") or "message")
    stamp = fields.moment(message.get("created_at"))
    return Event(kind, known.spans[node].record, stamp)


def _score(sample: Sample) -> float:
    rows = [*sample.rows, *fields.items(sample.object, "conversations")]
    held = [
        row
        for row in rows
        if isinstance(fields.mapping(row).get("chat_messages"), list)
    ]
    return 0.95 if any("uuid" in row or "name" in row for row in held) else 0


FORMAT = Format(NAME, LABEL, _score, read, gather=gather)
