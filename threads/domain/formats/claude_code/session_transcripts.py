"""The conversations of one file of Claude Code's: their names, and whom they came from."""

from collections.abc import Iterator

from threads.domain.formats.kit.items import Opener
from threads.domain.transcript import Parent, Relation, Transcript

from .index import SessionIndex
from .plans import ConversationPlan, plans
from .session import SessionItems

NAME = "claude_code"
BRANCHES = 50
"""Branches of a file that become sessions, those with most answers; others are events."""


def transcripts(
    index: SessionIndex,
    stem: str,
    opener: Opener,
    format_: str = NAME,
    *,
    keep: bool = True,
) -> Iterator[Transcript]:
    """The conversations of a file that was indexed; `stem` is its name without the suffix.

    They hold on to the index, unless many files are read together (`keep` is false): then
    each finds it anew when it is read.
    """
    for plan in plans(index, BRANCHES):
        notes = index.notes[plan.group]
        session = SessionItems(opener, plan, index if keep else None)
        yield Transcript(
            format=format_,
            title=_title(index, plan, stem),
            items=session,
            external_id=_external_id(index, plan, stem) or None,
            strategy="anthropic",
            model=notes.model or index.notes[0].model,
            parent=_parent(index, plan, stem),
            warnings=session.warnings,
        )


def _external_id(index: SessionIndex, plan: ConversationPlan, stem: str) -> str:
    """A branch is named after the first message that only it has."""
    base = index.external_id(plan.group, stem)
    return f"{base}/branch-{plan.branch}" if base and plan.branch else base


def _title(index: SessionIndex, plan: ConversationPlan, stem: str) -> str:
    title = index.notes[plan.group].title or index.notes[0].title
    session = f"Claude Code session {index.session_id(stem)[:8]}".rstrip()
    return plan.words or title or session


def _parent(index: SessionIndex, plan: ConversationPlan, stem: str) -> Parent | None:
    """What a branch left, or who called a sub-agent."""
    notes = index.notes[plan.group]
    if plan.branch:
        left = index.external_id(plan.group, stem)
        left += f"/branch-{plan.left}" if plan.left else ""
        return (
            Parent(external_id=left, relation=Relation.BRANCH, at=plan.shared)
            if left
            else None
        )
    if plan.group:
        group, _ = index.spawned.get(notes.call_id, (0, None))
        caller = index.external_id(group, stem)
    else:
        caller = index.session_id(stem) if index.is_agent else ""
    if not caller or caller == index.external_id(plan.group, stem):
        return None
    return Parent(
        external_id=caller, relation=Relation.SUBAGENT, call_id=notes.call_id or None
    )
