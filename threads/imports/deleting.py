"""Undoing an import: the sessions it created are deleted together, and restored together."""

from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.models import AuditEntry
from contextstudio.accounts.selectors import require
from threads.models import Import, Session
from threads.sessions.services import restore_all
from threads.store.selectors import deleted_sessions, visible_sessions

from .running.outcome import FileOutcome

_MADE = (FileOutcome.CREATED, FileOutcome.BRANCHED)


def sessions_created_by(caller: Caller, row: Import) -> QuerySet[Session]:
    """The existing sessions that an import created, without those it only added messages to."""
    return visible_sessions(caller).filter(pk__in=_created_sessions(row))


@transaction.atomic
def delete_sessions(caller: Caller, row: Import) -> tuple[int, datetime]:
    """Hide the sessions that an import created, for 30 days.

    Returns how many there were and the moment of deletion, by which `restore_sessions` finds them.
    """
    require(caller, Right.EDIT, row.project_id)
    moment = timezone.now()
    there = Session.objects.filter(pk__in=sessions_created_by(caller, row).values("pk"))
    count = there.update(deleted_at=moment)
    _note(caller, row, "delete sessions of import")
    return count, moment


@transaction.atomic
def restore_sessions(caller: Caller, row: Import, moment: datetime) -> int:
    """Restore the sessions that `delete_sessions` hid at `moment` and that aren't erased yet.

    Returns how many.
    """
    require(caller, Right.EDIT, row.project_id)
    hidden = deleted_sessions(caller).filter(
        pk__in=_created_sessions(row), deleted_at=moment
    )
    count = restore_all(hidden)
    _note(caller, row, "restore sessions of import")
    return count


def _created_sessions(row: Import) -> QuerySet[Session]:
    return Session.objects.filter(sources__in=row.sources.filter(outcome__in=_MADE))


def _note(caller: Caller, row: Import, action: str) -> None:
    AuditEntry.objects.create(
        project_id=row.project_id,
        actor=caller.actor,
        action=action,
        object_id=str(row.pk),
    )
