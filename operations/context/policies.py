"""The policy of a session, and the pending slices of callers.

The policy is the session's own, its project's, or `replay`. A slice is what a caller asked its
next context to hold; it is kept until its own `apply` has appended.
"""

import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import (
    CharField,
    F,
    IntegerField,
    Q,
    QuerySet,
    Subquery,
    UUIDField,
)
from django.utils import timezone

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.models import Project
from contextstudio.accounts.selectors import get_project
from contextstudio.database.prepared import Param, Prepared
from operations.domain.context.policy import REPLAY, Policy, encode_policy, read_policy
from operations.domain.context.selection import Preference
from operations.models import ContextPolicy, Slice
from threads.models import Session
from threads.store import events
from threads.store.selectors import get_session

MAX_MATCHES = 10_000
"""Of more search matches the newest are kept, because a slice uses these first."""


class PolicyInForce(NamedTuple):
    """The policy in force for a session, and where it comes from."""

    policy: Policy
    of: str
    """`session`, `project`, or empty if nobody chose one."""
    actor: str = ""
    actor_name: str = ""
    updated_at: datetime | None = None


def policy_in_force(session: Session) -> PolicyInForce:
    """The policy in force for a session, with who chose it and when."""
    row = _row(session.project_id, session) or _row(session.project_id)
    if row is None:
        return PolicyInForce(REPLAY, "")
    of = "session" if row.session_id else "project"
    return PolicyInForce(_read(row), of, row.actor, row.actor_name, row.updated_at)


def policy_of(session: Session) -> Policy:
    """The policy in force for a session."""
    of_it = _POLICY.first(session=session.pk, project=session.project_id)
    return read_policy(of_it) if of_it is not None else REPLAY


def _policy(project: Any) -> QuerySet[ContextPolicy, dict[str, Any]]:
    of_it = Q(session=Param("session", UUIDField())) | Q(session=None)
    rows = ContextPolicy.objects.filter(of_it, project=project)
    # The session's own policy takes precedence over the project's.
    ordered = rows.order_by(F("session").asc(nulls_last=True))
    return ordered.values_list("settings", flat=True)[:1]


def _project_of_session() -> QuerySet[Session, int]:
    sessions = Session.objects.filter(pk=Param("session", UUIDField()))
    return sessions.values_list("project", flat=True)


_POLICY = Prepared(lambda: _policy(Param("project", IntegerField())))
_POLICY_BY_ID = Prepared(lambda: _policy(Subquery(_project_of_session())))


def policy_by_id(session_id: uuid.UUID) -> Policy:
    """The policy in force for a session given by id, with no check of access: never show it."""
    of_it = _POLICY_BY_ID.first(session=session_id)
    return read_policy(of_it) if of_it is not None else REPLAY


def default_policy(project: Project) -> Policy:
    """The policy of a project's sessions that have none of their own."""
    return _read(_row(project.pk))


@transaction.atomic
def set_policy(
    caller: Caller, session_id: uuid.UUID, settings: Mapping[str, Any] | None
) -> Policy:
    """Give a session its own policy; None returns to the project's. Raises Invalid."""
    session = get_session(caller, session_id, Right.EDIT, lock=True)
    _write(caller, session.project_id, session, settings)
    events.announce(session)
    return policy_of(session)


@transaction.atomic
def set_default_policy(
    caller: Caller, slug: str, settings: Mapping[str, Any] | None
) -> Policy:
    """Set the policy of a project's sessions that have none of their own."""
    project = get_project(caller, slug, Right.ADMIN)
    _write(caller, project.pk, None, settings)
    return default_policy(project)


@transaction.atomic
def set_window(caller: Caller, session_id: uuid.UUID, groups: int) -> Policy:
    """Limit the policy in force to the last groups; 0 means all."""
    session = get_session(caller, session_id, Right.OWN_SESSION, lock=True)
    settings = encode_policy(policy_of(session)) | {"window": groups}
    _write(caller, session.project_id, session, settings)
    events.announce(session)
    return policy_of(session)


def _row(project_id: int, session: Session | None = None) -> ContextPolicy | None:
    return ContextPolicy.objects.filter(project_id=project_id, session=session).first()


def _read(row: ContextPolicy | None) -> Policy:
    return read_policy(row.settings) if row else REPLAY


def _write(
    caller: Caller,
    project_id: int,
    session: Session | None,
    settings: Mapping[str, Any] | None,
) -> None:
    if settings is None:
        ContextPolicy.objects.filter(project_id=project_id, session=session).delete()
        return
    ContextPolicy.objects.update_or_create(
        project_id=project_id,
        session=session,
        defaults={
            "settings": encode_policy(read_policy(settings)),
            "actor": caller.actor,
            "actor_name": caller.name[:150],
            "updated_at": timezone.now(),
        },
    )


@transaction.atomic
def request_slice(
    caller: Caller, session_id: uuid.UUID, preference: Preference
) -> Preference:
    """Choose what this caller's next `apply` sends, replacing an earlier pending slice."""
    session = get_session(caller, session_id, Right.OWN_SESSION)
    Slice.objects.update_or_create(
        session=session,
        actor=caller.actor,
        defaults={
            "pending": True,
            "start": preference.start,
            "end": preference.end,
            "include_search_results": preference.include_search_results,
            "max_context_messages": preference.max_context_messages,
        },
    )
    return preference


def keep_matches(caller: Caller, session: Session, indexes: Iterable[int]) -> None:
    """Store what a caller's last search in a session found, as indexes of originals."""
    found = sorted(set(indexes))[-MAX_MATCHES:]
    Slice.objects.update_or_create(
        session=session, actor=caller.actor, defaults={"matches": found}
    )


def pending_slice(session: Session, actor: str) -> Preference | None:
    """The slice pending for this caller's next `apply`; None if there is none."""
    row = _WAITING.first(session=session.pk, actor=actor) if actor else None
    if row is None:
        return None
    return Preference(
        start=row.start,
        end=row.end,
        include_search_results=row.include_search_results,
        max_context_messages=row.max_context_messages,
        matches=tuple(row.matches),
    )


_WAITING = Prepared(
    lambda: Slice.objects.filter(
        session=Param("session", UUIDField()),
        actor=Param("actor", CharField()),
        pending=True,
    )
)


def consume_slice(session: Session, actor: str) -> None:
    """Mark this caller's pending slice as used."""
    waiting = Slice.objects.filter(session=session, actor=actor, pending=True)
    waiting.update(pending=False)
