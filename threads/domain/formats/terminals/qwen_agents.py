"""Qwen Code's sub-agents with what is noted beside them: the call and the agent that started each.

Source: github.com/QwenLM/qwen-code, `AgentMeta` in `packages/core/src/agents/agent-transcript.ts`.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.claude_code.folder import ItemsWithEvents
from threads.domain.formats.claude_code.record import is_of_qwen
from threads.domain.formats.format import Reader
from threads.domain.formats.io import fields, json_text
from threads.domain.formats.io.folder import Folder, Gathered, Member
from threads.domain.formats.sample import HEAD, Sample
from threads.domain.transcript import Event, Transcript

META = ".meta.json"
MAX_META_BYTES = 1 << 20
"""The most bytes read of a `.meta.json`."""


def gather(folder: Folder, read: Reader) -> list[Gathered]:
    """The sub-agents that have a `.meta.json`; all other files are left for `read`."""
    found = []
    for meta in folder.named(META):
        member = folder.members.get(f"{meta.name.removesuffix(META)}.jsonl")
        if member is not None and _is_of_qwen(member):
            transcripts = list(_linked(member, meta, read))
            names = frozenset({member.name, meta.name})
            found.append(Gathered(transcripts, names))
    return [one for one in found if one.transcripts]


def _is_of_qwen(member: Member) -> bool:
    with member.open() as stream:
        sample = Sample(stream.read(HEAD), member.name)
    return any(map(is_of_qwen, sample.records))


def _linked(member: Member, meta: Member, read: Reader) -> Iterator[Transcript]:
    """A sub-agent's conversations, the first with its call; none of a file that isn't one's."""
    told = _read_meta(meta)
    try:
        first, *others = read(member.open(), member.name)
    except Invalid:
        return
    if first.parent is None:
        return
    session_id, call_id = first.parent.external_id, fields.word(told, "toolUseId")
    caller = fields.word(told, "parentAgentId", limit=200)
    parent = replace(
        first.parent,
        external_id=f"{session_id}/{caller}" if caller else session_id,
        call_id=call_id or None,
    )
    note = Event("sidecar", f"{meta.name}#bytes:0-{meta.size}")
    title = fields.one_line(fields.text(told, "description")) or first.title
    items = ItemsWithEvents(first.items, (note,))
    yield replace(first, title=title, items=items, parent=parent, member=member.name)
    for other in others:
        yield replace(other, member=member.name)


def _read_meta(meta: Member) -> dict[str, Any]:
    """The contents of a `.meta.json`; empty if it can't be read."""
    try:
        with meta.open() as stream:
            return fields.mapping(json_text.parse(stream.read(MAX_META_BYTES)))
    except Invalid:
        return {}
