"""Sessions of Gemini CLI: one JSON document, or since 0.39 appended JSON Lines.

A record by the model holds its calls and their results: it becomes an assistant message followed by
a tool message. If its content consists of the API's parts, these are authoritative; in older files,
thoughts and calls are beside the content. No system prompt and no tool definitions are stored.

A sub-agent's session is in a folder named after its parent, `chats/<session>/<id>.jsonl`; the call
that started it names it in `agentId`.

Source: chatRecordingService.ts and sessionUtils.ts of google-gemini/gemini-cli.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import PurePath
from typing import Any, BinaryIO

from threads.domain.formats.format import Format
from threads.domain.formats.io import fields
from threads.domain.formats.io.folder import Folder, Gathered, Member
from threads.domain.formats.kit.items import Items, Opener, already_open
from threads.domain.formats.kit.transcripts import first_messages, refusal, title_of
from threads.domain.formats.sample import HEAD, Sample
from threads.domain.message import Role
from threads.domain.transcript import Parent, Relation, Transcript

from .cli_index import CliIndex, agents, read_index
from .cli_session import read_items

NAME = "gemini_cli"
INJECTED = ("<session_context>", "<hook_context>", "/", "?")
"""How user texts begin that no person typed, or that are commands."""


def read(file: BinaryIO, name: str) -> list[Transcript]:
    """The conversation of a session file. Raises Invalid if it holds no message."""
    index = read_index(file)
    found = _conversation(index, already_open(file), name)
    if found is None:
        raise refusal(index.warnings)
    return [found]


def gather(folder: Folder) -> list[Gathered]:
    """The sessions that have sub-agents, with their sub-agents."""
    abouts = {
        one.name: _about(one)
        for end in (".json", ".jsonl")
        for one in folder.named(end)
    }
    names = {
        id_: name
        for name, about in abouts.items()
        if (id_ := fields.text(about, "sessionId"))
    }
    inside: dict[str, list[str]] = {}
    for name, about in abouts.items():
        parent = names.get(_parent_id(about, name), name)
        if parent != name:
            inside.setdefault(parent, []).append(name)
    children = {name for found in inside.values() for name in found}
    families = [
        list(_family(folder, name, inside)) for name in inside if name not in children
    ]
    return [
        Gathered(found, frozenset(one.member for one in found))
        for found in families
        if found
    ]


def _about(member: Member) -> dict[str, Any]:
    """The first record of a session file; empty if it isn't one."""
    with member.open() as file:
        sample = Sample(file.read(HEAD))
    return next((row for row in sample.rows if is_session(row)), {})


def _family(
    folder: Folder, name: str, inside: dict[str, list[str]], call_id: str = ""
) -> Iterator[Transcript]:
    """A session and those of its sub-agents, with the calls that started them."""
    member = folder.members[name]
    with member.open() as file:
        index = read_index(file)
        calls = agents(index, file)
    if found := _conversation(index, member.open, name, member=name):
        parent = found.parent and replace(found.parent, call_id=call_id or None)
        yield replace(found, parent=parent)
    for child in inside.get(name, ()):
        with folder.members[child].open() as file:
            id_ = fields.text(read_index(file).about, "sessionId")
        yield from _family(folder, child, inside, calls.get(id_, ""))


def is_session(row: dict[str, Any]) -> bool:
    """Whether a record is the beginning of a session."""
    return "sessionId" in row and "projectHash" in row


def _score(sample: Sample) -> float:
    rows = (sample.object, *sample.records)
    return 0.95 if any(is_session(row) or "$rewindTo" in row for row in rows) else 0


def _conversation(
    index: CliIndex, open_: Opener, name: str, *, member: str = ""
) -> Transcript | None:
    """The conversation of a session file; None if it holds no message."""
    items = Items(partial(read_items, index, open_), given=index.warnings)
    opening = first_messages(items)
    if not opening:
        return None
    about = index.about
    owner = _parent_id(about, name)
    typed = (
        fields.one_line(message.text)
        for message in opening
        if message.role is Role.USER and not message.text.strip().startswith(INJECTED)
    )
    return Transcript(
        format=NAME,
        title=fields.first((fields.one_line(fields.text(about, "summary")), *typed))
        or title_of(opening),
        items=items,
        external_id=fields.word(about, "sessionId", limit=255) or None,
        strategy="gemini",
        model=next((message.model for message in opening if message.model), ""),
        member=member,
        parent=Parent(external_id=owner, relation=Relation.SUBAGENT) if owner else None,
        warnings=items.warnings,
    )


def _parent_id(about: dict[str, Any], name: str) -> str:
    """The id of a sub-agent's parent session, which names its folder; empty for others."""
    folder = PurePath(name).parent.name
    is_inside = about.get("kind") == "subagent" and folder != "chats"
    return folder if is_inside else ""


FORMAT = Format(NAME, "a Gemini CLI session", _score, read, gather=gather)
