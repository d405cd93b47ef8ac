"""Where a session comes from, and what came from it: imports, its parent, its children."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from threads.domain.transcript import Relation
from threads.models import Session, Source

MAX_LISTED = 30
"""How many children and source files of a session are listed."""
REPEATED = "repeated"
"""In the report of a file: the branches, by id, all of whose messages its session now holds too,
with the number of these messages at that time."""
_RELATION_WORDS = {
    Relation.SUBAGENT: ("Sub-agent", "Sub-agents"),
    Relation.BRANCH: ("Branch", "Branches"),
    Relation.CONTINUATION: ("Continuation", "Continued in"),
    Relation.SIDE_CALL: ("Side call", "Side calls"),
}


class RelatedSession(NamedTuple):
    """A session that this one came from, or that came from it."""

    id: uuid.UUID
    title: str
    message_count: int
    repeated: int = 0
    """How many of a branch's messages, from the first on, this session holds too."""


class SourceFile(NamedTuple):
    """A file that messages were read from, and the import that brought it."""

    import_id: uuid.UUID | None
    name: str
    when: datetime


@dataclass(frozen=True, slots=True)
class Origin:
    """See `templates/operations/editor/rows/origin.html`."""

    word: str
    """Its relation to its parent: `Sub-agent`."""
    parent: RelatedSession | None
    repeated: int
    """How many of a branch's messages, from the first on, its parent holds too."""
    children: list[tuple[str, list[RelatedSession]]]
    """The sessions that came from it, by kind: `Sub-agents`."""
    more: int
    brought: list[SourceFile]
    events: int
    """Records of its files that became no message."""


def load_origin(session: Session) -> Origin:
    """A session's origin, as far as it may be seen."""
    children = session.children.filter(deleted_at=None, staged_by=None)
    children = children.order_by("created_at", "pk")
    listed = list(children[:MAX_LISTED])
    held, groups = _repeated_in(session.pk) if listed else {}, []
    for relation, (_, plural) in _RELATION_WORDS.items():
        of_kind = [
            _related(child)._replace(repeated=held.get(str(child.pk), 0))
            for child in listed
            if child.relation == relation
        ]
        if of_kind:
            groups.append((plural, of_kind))
    # Files that added something, newest first; each file once per import.
    files = session.sources.exclude(outcome__in=("known", "joined")).order_by("-pk")
    brought = files.values_list("brought_by", "name", "imported_at")
    parents = load_parents([session])
    parent = parents[session.pk][1] if parents else None
    repeated = 0
    if parent is not None and session.relation == Relation.BRANCH:
        repeated = _repeated_in(parent.id).get(str(session.pk), 0)
    return Origin(
        word=word_of(session.relation),
        parent=parent,
        repeated=repeated,
        children=groups,
        more=max(0, children.count() - len(listed)) if listed else 0,
        brought=[SourceFile(*row) for row in brought[:MAX_LISTED]],
        events=session.events.count(),
    )


def _repeated_in(session_id: uuid.UUID) -> dict[str, int]:
    """The branches whose messages a session holds too, with how many."""
    files = Source.objects.filter(session=session_id, report__has_key=REPEATED)
    found: dict[str, int] = {}
    for branches in files.values_list(f"report__{REPEATED}", flat=True).order_by("pk"):
        found |= branches
    return found


def load_parents(
    sessions: Sequence[Session],
) -> dict[uuid.UUID, tuple[str, RelatedSession]]:
    """The parents of sessions by the sessions' ids, each with the relation."""
    wanted = {one.parent_id for one in sessions if one.parent_id is not None}
    parents = Session.objects.filter(deleted_at=None, staged_by=None).in_bulk(wanted)
    return {
        one.pk: (word_of(one.relation), _related(parents[one.parent_id]))
        for one in sessions
        if one.parent_id in parents
    }


def word_of(relation: str) -> str:
    """`Sub-agent` and so on; empty for a session without a relation."""
    return _RELATION_WORDS[Relation(relation)][0] if relation in _RELATION_WORDS else ""


def _related(session: Session) -> RelatedSession:
    return RelatedSession(session.pk, session.title, session.message_count)
