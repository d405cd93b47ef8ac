"""Cline's and Roo Code's conversations: Anthropic's messages with the tools' own notes.

- Cline's SDK (2026): `<id>.messages.json`, an object with `system_prompt` and `messages`, beside a
  manifest `<id>.json`.
- Cline before its SDK, and Roo Code: `tasks/<id>/api_conversation_history.json`, a list of messages
  with `ts`. Old versions wrote calls as XML in the text; they stay text.

Sources: github.com/cline/cline; github.com/RooCodeInc/Roo-Code,
`src/core/task-persistence/apiMessages.ts`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath
from typing import Any, BinaryIO

from threads.domain.formats import blocks
from threads.domain.formats.format import Format
from threads.domain.formats.io import fields, json_file
from threads.domain.formats.io.folder import Folder, Gathered, Member
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.io.source import ByteSpan
from threads.domain.formats.kit.items import Item, Items, attempt, items_in
from threads.domain.formats.kit.transcripts import require_transcripts, transcript_of
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role
from threads.domain.transcript import (
    Compaction,
    Event,
    Parent,
    Relation,
    Transcript,
    Warning,
)

from .cline_items import ClineItems

NAME = "cline"
LABEL = "a Cline conversation"
HISTORY = "api_conversation_history.json"
MESSAGES = ".messages.json"
COMPACTED = ".compaction.json"
_SIDECARS = ("history_item.json", "task_metadata.json", "ui_messages.json")
_NOTES = {"modelInfo", "metrics", "condenseParent", "condenseId"}
_NOTES |= {"truncationId", "isSummary"}


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """The conversation of a file. Raises Invalid if it holds no message."""
    reading = Items(partial(_items, file))
    session_id = json_file.get(file, json_file.members(file, 0, []), "sessionId")
    transcript = _transcript(reading, session_id)
    return require_transcripts([transcript], reading.warnings, LABEL)


def gather(folder: Folder) -> list[Gathered]:
    """Conversations with the files beside them: manifests, displayed messages, task metadata."""
    found = [_task(member, folder) for member in folder.named(HISTORY)]
    compacted = folder.named(COMPACTED)
    found += [_session(one, folder, compacted) for one in folder.named(MESSAGES)]
    return [one for one in found if one is not None]


def _task(member: Member, folder: Folder) -> Gathered | None:
    """The conversation of a task's folder, whose name is its id."""
    place = PurePosixPath(member.name)
    if place.name != HISTORY:
        return None
    stem = member.name.removesuffix(HISTORY)
    names = (f"{stem}{name}" for name in _SIDECARS)
    sidecars = [folder.members[name] for name in names if name in folder.members]
    id_ = place.parent.name if place.parent.name not in ("", "tasks") else None
    return _gathered(member, sidecars, id_)


def _session(
    member: Member, folder: Folder, compacted: list[Member]
) -> Gathered | None:
    """The conversation of a session, with its title and origin from its manifest."""
    stem = member.name.removesuffix(MESSAGES)
    sidecars = [one for one in compacted if one.name.startswith(f"{stem}.")]
    told: dict[str, Any] = {}
    if manifest := folder.members.get(f"{stem}.json"):
        sidecars.insert(0, manifest)
        with manifest.open() as file:
            span = ByteSpan(0, manifest.size)
            told = fields.mapping(json_file.known_value(file, span, []))
    with member.open() as file:
        id_ = json_file.get(file, json_file.members(file, 0, []), "sessionId")
    notes = fields.mapping(told, "metadata")
    fork = fields.word(fields.mapping(notes, "fork"), "forkedFromSessionId")
    return _gathered(
        member,
        sidecars,
        id_ or fields.text(told, "session_id"),
        title=fields.text(notes, "title"),
        parent=Parent(external_id=fork, relation=Relation.BRANCH) if fork else None,
    )


def _gathered(
    member: Member, sidecars: list[Member], id_: Any, **said: Any
) -> Gathered | None:
    """The conversation of a file and the files beside it; None if it holds no message."""
    compacted = member.name.removesuffix(MESSAGES) + COMPACTED
    shorter = next((one for one in sidecars if one.name == compacted), None)

    def items(file: BinaryIO, warnings: list[Warning]) -> Iterator[Item]:
        for one in sidecars:
            if one is not shorter:
                yield Event("sidecar", f"{one.name}#bytes:0-{one.size}")
        own = _items(file, warnings)
        yield from with_compaction(own, shorter, warnings) if shorter else own

    reading = items_in(member.open, items)
    transcript = _transcript(reading, id_, member=member.name, **said)
    names = frozenset({member.name, *(one.name for one in sidecars)})
    return Gathered([transcript], names) if transcript else None


def with_compaction(
    items: Iterable[Item], shorter: Member, warnings: list[Warning]
) -> Iterator[Item]:
    """The items of a session, then the compaction that shows what the model sees since then.

    Messages at the end of both the session and the compacted context are kept. All others, up to
    the last one that is in the compacted context, are replaced. Without a common message, nothing
    is replaced.
    """
    ids: list[str | None] = []
    words: list[int] = []
    for item in items:
        if isinstance(item, Message):
            ids.append(None if item.role is Role.SYSTEM else item.source_id or "")
            words.append(hash(repr(item.parts)))
        yield item
    place = f"{shorter.name}#bytes:0-{shorter.size}"
    with shorter.open() as file:
        context = [one for one in _items(file, warnings) if isinstance(one, Message)]
    seen = [one for one in context if one.role is not Role.SYSTEM]
    known = {one.source_id for one in seen if one.source_id}
    end = max((n + 1 for n, id_ in enumerate(ids) if id_ in known), default=0)
    while seen and end and words[end - 1] == hash(repr(seen[-1].parts)):
        seen.pop()
        end -= 1
    replaced = tuple(number for number in range(end) if ids[number] is not None)
    if seen and replaced:
        inside = tuple(replace(one, records=(place,)) for one in seen)
        yield Compaction(replaces=replaced, messages=inside, record=place)
    else:
        yield Event("sidecar", place)


def _transcript(reading: Items, id_: Any, **said: Any) -> Transcript | None:
    models = (item.model for item in reading if isinstance(item, Message))
    return transcript_of(
        reading,
        format=NAME,
        external_id=fields.as_word(id_, 255) or None,
        strategy="anthropic",
        model=next(filter(None, models), ""),
        **said,
    )


def _items(file: BinaryIO, warnings: list[Warning]) -> Iterator[Item]:
    """The messages of a list, or of an object with its system prompt and other members."""
    found = json_file.members(file, 0, warnings)
    items = ClineItems()
    for name, span in found.items():
        if name == "system_prompt":
            row = json_file.element(file, span, warnings)
            yield from attempt(partial(_system, items, row), row, warnings)
        elif name != "messages":
            yield Event(name, span.record)
    start = found["messages"].start if "messages" in found else 0
    for row in [] if found and not start else json_file.elements(file, start, warnings):
        yield from attempt(partial(items.take, row), row, warnings)
    yield from items.rest()


def _system(items: ClineItems, row: Element) -> Iterator[Item]:
    if parts := blocks.read_content(row.value, ("system_prompt",)):
        said = Message(role=Role.SYSTEM, parts=parts, records=(row.record,))
        yield items.system(said)


def _score(sample: Sample) -> float:
    """By the SDK's members; else by messages with a time, surer if they have the tool's notes."""
    if {"version", "sessionId", "agent", "messages"} <= sample.object.keys():
        return 0.95
    found = [row for row in sample.elements if "ts" in row and "role" in row]
    if any(row.keys() & _NOTES for row in found):
        return 0.95
    has_blocks = any(isinstance(row.get("content"), list) for row in found)
    return 0.85 if has_blocks else 0


FORMAT = Format(NAME, LABEL, _score, read, gather=gather)
