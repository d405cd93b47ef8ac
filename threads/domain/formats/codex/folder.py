"""Codex's folder of sessions: sub-agents with the calls that began them.

A sub-agent's rollout names its parent; which call it was stands in the parent's: in what
`spawn_agent` answered, or in an event about the sub-agent.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import PurePath
from typing import Any

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.io import fields, json_text, source
from threads.domain.formats.io.folder import Folder, Gathered, Member
from threads.domain.transcript import Relation

from .index import RolloutIndex, lines_with, parent_of
from .record import parse_record
from .session import has_words, transcripts

ROLLOUT = re.compile(
    r"rollout-.*-(?P<id>[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl"
)
HEAD = 5
"""Lines at the top among which a rollout says whose it is."""


def gather(folder: Folder) -> list[Gathered]:
    """The sub-agents whose calls are found in the folder; all else is read by itself."""
    rollouts: dict[str, Member] = {}
    for member in folder.named(".jsonl"):
        if match := ROLLOUT.fullmatch(PurePath(member.name).name):
            rollouts[match["id"]] = member
    return list(_sub_agents(rollouts))


def _sub_agents(rollouts: dict[str, Member]) -> Iterator[Gathered]:
    for id_, member in rollouts.items():
        caller = rollouts.get(_caller(member))
        if caller is None or (call_id := _call(caller, id_)) is None:
            continue
        with member.open() as file:
            index = RolloutIndex(file)
        if index.parent is not None:
            index.parent = replace(index.parent, call_id=call_id)
        found = transcripts(index, index.external_id or id_, member.open)
        if not has_words(found[0].items):
            continue
        named = [replace(one, member=member.name) for one in found]
        yield Gathered(named, frozenset({member.name}))


def _caller(member: Member) -> str:
    """The session that called a sub-agent; empty for any other rollout."""
    with member.open() as file:
        for line in islice(source.lines(file), HEAD):
            record = parse_record(line.data or b"")
            if record is not None and record.kind == "session_meta":
                parent = parent_of(record.payload)
                is_called = parent and parent.relation is Relation.SUBAGENT
                return parent.external_id if parent and is_called else ""
    return ""


def _call(caller: Member, id_: str) -> str | None:
    """The call that began a sub-agent, by the lines of its caller's that name it."""
    with caller.open() as file:
        for data in lines_with(file, re.compile(re.escape(id_.encode()))):
            record = parse_record(data)
            payload = record.payload if record else {}
            if fields.text(payload, "agent_thread_id") == id_:
                return fields.text(payload, "event_id") or None
            if _answer(payload) == id_:
                return fields.text(payload, "call_id") or None
    return None


def _answer(payload: dict[str, Any]) -> str:
    """The sub-agent that `spawn_agent` answered it has begun."""
    output = fields.text(payload, "output")
    try:
        return fields.text(
            json_text.parse(output.encode("utf-8", "replace")), "agent_id"
        )
    except Invalid:
        return ""
