"""Creates, renames and deletes sessions, and appends to them."""

import uuid
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import MappingProxyType

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Conflict, NotFound
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.idempotency import purge_responses
from contextstudio.accounts.models import AuditEntry, Project
from contextstudio.accounts.selectors import require
from contextstudio.accounts.services import conflict_if_taken
from threads import tokens
from threads.domain.batch import clean
from threads.domain.formats.kit.transcripts import title_of
from threads.domain.message import Message, Role
from threads.domain.part import Text
from threads.domain.transcript import Parent
from threads.models import Session
from threads.store import events
from threads.store.masking import masked_title
from threads.store.recording import prepare_messages, record_messages, record_ready
from threads.store.selectors import (
    get_deleted_session,
    get_session,
    visible_sessions,
)

from . import erasing, given_tags
from .given_tags import Tags

UNTITLED = "Untitled session"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSession:
    """The data of a new session; `system` becomes original 0."""

    title: str = ""
    external_id: str | None = None
    parsing_strategy: str = "openai"
    model: str = ""
    format: str = "api"
    system: str | None = None
    messages: Sequence[Message] = ()
    tags: Tags = field(default_factory=dict)
    """Tags of `messages`, by position."""
    parent: Parent | None = None
    """The conversation that it came from, which need not be here (yet)."""

    @property
    def said(self) -> Iterator[Message]:
        """All of its messages."""
        if self.system:
            yield Message(role=Role.SYSTEM, parts=(Text(self.system),))
        yield from self.messages


def create_session(caller: Caller, project: Project, new: NewSession) -> Session:
    """Create a session in a project. Raises Conflict if its `external_id` is taken."""
    require(caller, Right.OWN_SESSION, project.pk)
    ready = prepare_messages(project.pk, tokens.encoding_for(new.model), new.said)
    with transaction.atomic():
        session = open_session(caller, project, new)
        record_ready(session, ready)
        given_tags.record(caller, session, new.tags, 1 if new.system else 0)
    return session


def stage_session(
    caller: Caller, project: Project, new: NewSession, stage: uuid.UUID
) -> Session:
    """Create a session that is hidden until its stage is published, one batch per transaction."""
    require(caller, Right.OWN_SESSION, project.pk)
    session = open_session(caller, project, new, staged_by=stage)
    record_messages(session, new.said)
    given_tags.record(caller, session, new.tags, 1 if new.system else 0)
    return session


def open_session(
    caller: Caller,
    project: Project,
    new: NewSession,
    *,
    staged_by: uuid.UUID | None = None,
) -> Session:
    """Save a new session, still without messages."""
    session = drafted_session(caller, project, new)
    session.staged_by = staged_by
    save_new(session)
    return session


def drafted_session(caller: Caller, project: Project, new: NewSession) -> Session:
    """A new session that isn't saved yet, still without messages."""
    parent = new.parent
    title = clean_title(new.title) or clean_title(title_of(new.messages)) or UNTITLED
    return Session(
        project=project,
        title=title,
        external_id=new.external_id,
        format=new.format,
        parsing_strategy=new.parsing_strategy,
        model=new.model[:128],
        encoding=tokens.encoding_for(new.model),
        relation=parent.relation if parent else "",
        parent_external_id=parent.external_id[:255] if parent else "",
        parent_call_id=(parent.call_id or "")[:128] if parent else "",
        created_by=caller.actor,
    )


def save_new(session: Session) -> None:
    """Save a drafted session. Raises Conflict if its `external_id` is taken."""
    taken = "Another session of this project has this external_id."
    with conflict_if_taken(taken, "external_id"):
        session.save(force_insert=True)


def append_messages(
    caller: Caller,
    session_id: uuid.UUID,
    messages: Iterable[Message],
    *,
    expected_count: int | None = None,
    tags: Tags = MappingProxyType({}),
) -> Session:
    """Append messages to a session, with tags by position.

    `expected_count` is the number of messages that the caller knows of. If it differs from the
    actual number, nothing is appended and Conflict tells the actual one.
    """
    new = list(messages)
    known = get_session(caller, session_id, Right.OWN_SESSION)
    ready = prepare_messages(known.project_id, known.encoding, new)
    with transaction.atomic():
        session = get_session(caller, session_id, Right.OWN_SESSION, lock=True)
        if expected_count is not None and expected_count != session.message_count:
            raise Conflict(
                f"The session has {session.message_count} messages, not {expected_count}.",
                at=["expected_count"],
                code="stale_count",
                facts={"message_count": session.message_count},
            )
        first = session.message_count
        record_ready(session, ready)
        name_session(session, new)
        given_tags.record(caller, session, tags, first)
        forget_overview(session)
        events.announce(session)
    return session


@transaction.atomic
def update_session(
    caller: Caller,
    session_id: uuid.UUID,
    *,
    title: str | None = None,
    objective: str | None = None,
    model: str | None = None,
) -> Session:
    """Change a session's title, objective or model; None leaves a value as it is."""
    session = get_session(caller, session_id, Right.EDIT, lock=True)
    if title is not None:
        session.title = clean_title(masked_title(session, title)) or UNTITLED
    if objective is not None:
        session.objective = clean_objective(objective)
    if model is not None:
        session.model = model[:128]
    session.updated_at = timezone.now()
    session.save(update_fields=["title", "objective", "model", "updated_at"])
    forget_overview(session)
    events.announce(session)
    return session


@transaction.atomic
def delete_session(
    caller: Caller, session_id: uuid.UUID, *, purge: bool = False
) -> Session:
    """Hide a session for 30 days; with `purge` (needs admin) erase it at once, even if hidden.

    Returns the session.
    """
    if purge:
        session = _lock_for_purge(caller, session_id)
    else:
        session = get_session(caller, session_id, Right.EDIT, lock=True)
    AuditEntry.objects.create(
        project_id=session.project_id,
        actor=caller.actor,
        action="purge session" if purge else "delete session",
        object_id=str(session.pk),
    )
    events.announce(session)  # its pages then find that it is gone
    if purge:
        purge_responses(session.project_id)
        erasing.erase(session)
        return session
    # Its original id is free from now on, so that the transcript can be imported again.
    session.deleted_at = timezone.now()
    session.save(update_fields=["deleted_at"])
    return session


def _lock_for_purge(caller: Caller, session_id: uuid.UUID) -> Session:
    """Lock a session to be erased, deleted or not."""
    with suppress(NotFound):
        return get_deleted_session(caller, session_id, Right.ADMIN)
    return get_session(caller, session_id, Right.ADMIN, lock=True)


@transaction.atomic
def restore_session(caller: Caller, session_id: uuid.UUID) -> Session:
    """Restore a deleted session. Raises NotFound if it isn't deleted, or is erased."""
    session = get_deleted_session(caller, session_id, Right.EDIT)
    restore_all(Session.objects.filter(pk=session.pk))
    session.refresh_from_db(fields=["deleted_at", "external_id"])
    AuditEntry.objects.create(
        project_id=session.project_id,
        actor=caller.actor,
        action="restore session",
        object_id=str(session.pk),
    )
    return session


def restore_all(deleted: QuerySet[Session]) -> int:
    """Restore deleted sessions in the caller's transaction; returns how many.

    A session whose original id another has taken loses that id.
    """
    taken = Session.objects.filter(
        project=OuterRef("project"),
        external_id=OuterRef("external_id"),
        deleted_at=None,
    )
    deleted.filter(Exists(taken)).update(external_id=None)
    return deleted.update(deleted_at=None)


def name_session(session: Session, messages: Iterable[Message]) -> None:
    """Name an untitled session after a user's first words among the messages."""
    title = title_for(session, messages)
    if title != session.title:
        session.title = title
        session.save(update_fields=["title"])


def title_for(session: Session, messages: Iterable[Message]) -> str:
    """The title of a session that receives these messages: its own, if it has one."""
    if session.title == UNTITLED and (title := clean_title(title_of(messages))):
        return clean_title(masked_title(session, title))
    return session.title


def forget_overview(session: Session) -> None:
    """Clear the list's cache of a session whose thread has changed."""
    Session.objects.filter(pk=session.pk).update(overview=None)


def names_of_sessions(ids: Collection[str]) -> dict[str, str]:
    """The titles of sessions by id."""
    found = Session.objects.filter(pk__in=ids).values_list("pk", "title")
    return {str(pk): title for pk, title in found}


def titles_seen_by(caller: Caller, ids: Collection[uuid.UUID]) -> dict[uuid.UUID, str]:
    """The titles of the sessions that a caller may see, by id."""
    found = visible_sessions(caller).filter(pk__in=ids)
    return dict(found.values_list("pk", "title"))


def open_sessions(ids: Collection[str]) -> set[str]:
    """The sessions that are neither deleted nor still being imported."""
    found = Session.objects.filter(pk__in=ids, deleted_at=None, staged_by=None)
    return {str(pk) for pk in found.values_list("pk", flat=True)}


def clean_title(title: str) -> str:
    """A title on one line, cut to the length of its column."""
    return _one_line(title)[:300]


def clean_objective(objective: str) -> str:
    """An objective as it is stored: on one line, of at most 500 characters."""
    return _one_line(objective)[:500]


def _one_line(text: str) -> str:
    return " ".join(clean(text).split())
