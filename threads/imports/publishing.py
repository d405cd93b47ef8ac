"""Shows what an import has staged, or removes it, in short transactions.

An import may bring 50,000 sessions. All of them are complete before the first is shown.
"""

import uuid
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, Subquery, UUIDField
from django.utils import timezone

from contextstudio.accounts.domain.errors import Conflict
from contextstudio.accounts.models import Project
from contextstudio.accounts.selectors import caller_of_actor
from contextstudio.database.prepared import Param, Prepared
from contextstudio.database.steps import Step, chunks, in_short_transactions
from threads.models import Import, Session, Source
from threads.sessions import erasing

from . import accounting, hooks
from .running.hash_locks import lock_hashes
from .running.outcome import FileOutcome, imports_staged_by

AT_ONCE = 100
"""Sessions that are shown or removed between two looks at the clock."""
_MADE = (FileOutcome.CREATED, FileOutcome.BRANCHED)
_STAGED = Prepared(
    lambda: Session.objects.filter(staged_by=Param("stage", UUIDField())).values_list(
        "pk", flat=True
    )
)


def publish(project: Project, stage: uuid.UUID) -> None:
    """Show what an import has staged: its sessions, then its row with the report.

    Runs in the caller's transaction, if there is one.
    """
    show(project, stage)
    with transaction.atomic():
        brought = imports_staged_by(stage)
        Import.objects.filter(staged_by=stage).update(staged_by=None)
        for one in brought:
            one.project = project  # its jobs would otherwise query it
            caller = caller_of_actor(one.created_by)
            hooks.run_hooks(caller, one)
            accounting.count_later(caller, one)


def refuse_known(project: Project, stage: uuid.UUID) -> None:
    """Raise Conflict if another import has created sessions from the same files meanwhile.

    This is reliable only in a transaction that goes on to publish.
    """
    brought = imports_staged_by(stage)
    made = Source.objects.filter(brought_by__in=brought, outcome=FileOutcome.CREATED)
    hashes = list(made.values_list("sha256", flat=True))
    lock_hashes(hashes)
    same = Source.objects.filter(project=project, session__deleted_at=None)
    shown = same.filter(session__staged_by=None).exclude(brought_by__in=brought)
    if any(shown.filter(sha256__in=some).exists() for some in chunks(hashes)):
        raise Conflict("This file was imported in the meantime.", at=["file"])


def show(
    project: Project, stage: uuid.UUID, *, also: Callable[[], object] = lambda: None
) -> None:
    """Show staged sessions and link them to their parents; `also` runs with the last of them."""
    keys, now = _STAGED.rows(stage=stage), timezone.now()
    steps = [
        partial(_show_some, project.pk, some, now) for some in chunks(keys, AT_ONCE)
    ]
    final = steps[-1:]

    def finish() -> None:
        for step in final:
            step()
        also()

    _run([*steps[:-1], finish])


def _show_some(project_id: int, keys: Sequence[uuid.UUID], now: datetime) -> None:
    Session.objects.filter(pk__in=keys).update(staged_by=None, updated_at=now)
    link_parents(project_id, keys)


def link_parents(project_id: int, keys: Sequence[uuid.UUID]) -> None:
    """Link sessions to the parents that exist by now, and existing children to these sessions.

    A parent may be imported after its children: they carry its id.
    """
    here = Session.objects.filter(
        project_id=project_id, deleted_at=None, staged_by=None
    )
    shown = here.filter(pk__in=keys)
    ids = list(shown.values_list("external_id", "parent_external_id"))
    # `gt` instead of `exclude`, because an index can answer it.
    orphans = here.filter(parent=None, parent_external_id__gt="")
    parent = here.filter(external_id=OuterRef("parent_external_id")).exclude(
        pk=OuterRef("pk")
    )
    children = []
    if any(parent_id for _, parent_id in ids):
        children.append(Q(pk__in=keys))
    if names := [own for own, _ in ids if own]:
        children.append(Q(parent_external_id__in=names))
    for some in children:
        found = orphans.filter(some).filter(Exists(parent))
        found.update(parent=Subquery(parent.values("pk")[:1]))


def unstage(stage: uuid.UUID) -> None:
    """Remove everything an import has staged or shown, if it won't be tried again.

    Message bodies are removed too, unless other messages use them.
    """
    brought = Import.objects.filter(staged_by=stage)
    made = Source.objects.filter(brought_by__in=brought, outcome__in=_MADE)
    its_own = Q(staged_by=stage) | Q(pk__in=made.values("session"))
    sessions = Session.objects.filter(its_own)
    rows = list(sessions.values_list("pk", "project"))
    keys = [key for key, _ in rows]
    bodies = erasing.bodies_of(sessions)
    erasing.delete_contents(sessions)
    _run([Session.objects.filter(pk__in=some).delete for some in chunks(keys, AT_ONCE)])
    erasing.remove_imports(brought)
    for _, project_id in rows[:1]:
        erasing.sweep_bodies(project_id, bodies)


def _run(steps: Sequence[Step]) -> None:
    for _ in in_short_transactions(steps):
        pass
