"""Finds the conversations in a Claude Code file: its thread, branches and sub-agents."""

from collections.abc import Iterator
from itertools import pairwise

from threads.domain.formats.io import fields
from threads.domain.formats.kit.graph.record_branches import GraphBranch
from threads.domain.formats.kit.graph.record_graph import MESSAGE, WORDS
from threads.domain.formats.kit.items import Opener
from threads.domain.transcript import Parent, Relation, Transcript

from . import record as claude_record
from .index import SessionIndex
from .session import ConversationPlan, SessionItems

NAME = "claude_code"
BRANCHES = 50
"""The most branches of a file that become sessions: those with most answers; others are events."""
MAX_SHARED = 500_000
"""The most messages that all branches of a file together repeat."""


def transcripts(
    index: SessionIndex,
    stem: str,
    opener: Opener,
    format_: str = NAME,
    *,
    keep: bool = True,
) -> Iterator[Transcript]:
    """The conversations of an indexed file: its thread and its branches, then its sub-agents.

    `stem` is the file's name without the suffix. The conversations keep the index, unless many
    files are read together (`keep` is false): then each builds the index again when it is read.
    """
    for plan, external_id, words, parent in _conversations(index, stem):
        notes = index.notes[plan.group]
        session = SessionItems(opener, plan, index if keep else None)
        title = words or notes.title or index.notes[0].title
        yield Transcript(
            format=format_,
            title=title or f"Claude Code session {index.session_id(stem)[:8]}".rstrip(),
            items=session,
            external_id=external_id or None,
            strategy="anthropic",
            model=notes.model or index.notes[0].model,
            parent=parent,
            warnings=session.warnings,
        )


def message_ids(index: SessionIndex) -> list[str]:
    """The ids of the messages in a file's thread, each that of its first line."""
    names = index.graph.names()
    flags, follows = index.graph.flags, index.branches.follows
    return [
        names[number]
        for number in index.branches.of(0)[0].order
        if number >= 0 and flags[number] & MESSAGE and not follows[number]
    ]


def _conversations(
    index: SessionIndex, stem: str
) -> Iterator[tuple[ConversationPlan, str, str, Parent | None]]:
    """Each conversation's plan, with its id, its title if it is a branch, and its parent.

    A branch is titled by the first message that only it has.
    """
    branches = index.branches.of(0)
    able = _conversation_branches(branches)
    shared = _branches(index, able)
    told = frozenset({0, *shared})
    names = {0: index.external_id(0, stem)}
    thread = ConversationPlan(0, told=told, left=len(able) - len(shared))
    yield thread, names[0], "", _caller(index, 0, stem)
    for number in sorted(shared):
        branch, parent = branches[number], None
        names[number] = names[0] and f"{names[0]}/branch-{_id_of(index, branch.first)}"
        if left := names[branch.parent or 0]:
            parent = Parent(
                external_id=left, relation=Relation.BRANCH, at=shared[number]
            )
        plan = ConversationPlan(0, tuple(_chain(branches, number)), told)
        yield plan, names[number], _words_of(index, branch), parent
    for group in range(1, len(index.notes)):
        if index.notes[group].message_count:
            external_id = index.external_id(group, stem)
            yield ConversationPlan(group), external_id, "", _caller(index, group, stem)


def _caller(index: SessionIndex, group: int, stem: str) -> Parent | None:
    call_id = index.notes[group].call_id
    caller = index.session_id(stem) if index.is_agent else ""
    if group:
        caller = index.external_id(index.spawned.get(call_id, (0, None))[0], stem)
    if not caller or caller == index.external_id(group, stem):
        return None
    return Parent(
        external_id=caller, relation=Relation.SUBAGENT, call_id=call_id or None
    )


def _conversation_branches(branches: list[GraphBranch]) -> set[int]:
    """The branches that are conversations, and left the thread or another such branch."""
    able = {0}
    for number, branch in enumerate(branches):
        if branch.parent in able and branch.is_conversation:
            able.add(number)
    return able - {0}


def _branches(index: SessionIndex, able: set[int]) -> dict[int, int]:
    """The branches with most answers, mapped to the number of messages each shares with its parent.

    Together they share at most `MAX_SHARED`.
    """
    branches = index.branches.of(0)
    best = sorted(able, key=lambda number: (-branches[number].answers, number))
    chosen: dict[int, int] = {}
    for number in best[:BRANCHES]:
        shared = _shared(index, _chain(branches, number))
        if sum(chosen.values()) + shared <= MAX_SHARED:
            chosen[number] = shared
    told: dict[int, int] = {}
    for number in sorted(chosen):
        if branches[number].parent in {0, *told}:
            told[number] = chosen[number]
    return told


def _chain(branches: list[GraphBranch], number: int) -> list[int]:
    """The chain of branches from the thread to this one."""
    chain = [number]
    while (parent := branches[chain[-1]].parent) is not None:
        chain.append(parent)
    return chain[::-1]


def _shared(index: SessionIndex, chain: list[int]) -> int:
    """How many messages come before the last of these branches."""
    branches, flags = index.branches.of(0), index.graph.flags
    follows = index.branches.follows
    shared = 0
    for branch, following in pairwise(chain):
        for line in branches[branch].order:
            if line == -1 - following:
                break
            if line in index.summaries:
                shared += not shared  # a summary is a message if nothing is before it
            elif line >= 0 and flags[line] & MESSAGE:
                shared += not follows[line]
    return shared


def _id_of(index: SessionIndex, number: int) -> str:
    """The id of a line, or its line number if it has none."""
    record = index.lines.value(number)
    return fields.word(record, "uuid") or f"line-{index.lines.number(number)}"


def _words_of(index: SessionIndex, branch: GraphBranch) -> str:
    """The first words of a person on a branch, as a title."""
    for number in branch.order:
        if number >= 0 and index.graph.flags[number] & WORDS:
            record = index.lines.value(number)
            return fields.one_line(claude_record.words(record["message"]))
    return ""
