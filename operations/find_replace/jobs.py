"""The job that looks through what was imported for secrets."""

import uuid
from typing import Any

from django.conf import settings

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.jobs import JobContext, enqueue
from operations.models import SecretScan
from threads.models import Import, Session

from .secrets import mask_title, propose_redactions

KIND = "secrets"
MOST_LISTED = 100


def look_through(caller: Caller, brought: Import) -> None:
    """Have the sessions of an import looked through, in the caller's transaction."""
    if settings.SKIP_SECRETS:
        return
    enqueue(brought.project, KIND, {"import_id": str(brought.pk)}, caller)


def run_secrets(context: JobContext, import_id: str) -> dict[str, Any]:
    """Propose redactions in the sessions of an import; the result is how many.

    A session is looked through once: of a longer version only what is new, even where the
    work was broken off in between.
    """
    project = context.project
    rights = {project.pk: frozenset({Right.READ, Right.PROPOSE})}
    importer = Caller(actor="import", name="Import", rights=rights)
    sessions = Session.objects.filter(
        sources__brought_by=uuid.UUID(import_id), project=project, deleted_at=None
    ).distinct()
    found: list[dict[str, Any]] = []
    for done, session in enumerate(sessions.order_by("created_at", "pk")):
        scan, _ = SecretScan.objects.get_or_create(session=session)
        if scan.through < session.message_count:
            if not scan.through:
                mask_title(session)
            proposed = propose_redactions(importer, session.pk, scan.through)
            scan.through = session.message_count
            scan.save(update_fields=["through"])
            if proposed:
                found.append(_line(session, proposed))
        context.progress(done + 1, unit="sessions")
    context.on_finish(lambda: _report(uuid.UUID(import_id), found))
    return {"proposed": sum(line["proposed"] for line in found)}


def _line(session: Session, proposed: int) -> dict[str, Any]:
    return {
        "session_id": str(session.pk),
        "title": session.title,
        "proposed": proposed,
    }


def _report(import_id: uuid.UUID, found: list[dict[str, Any]]) -> None:
    """Say in the import's report what was found, of the first sessions by name."""
    brought = Import.objects.select_for_update().get(pk=import_id)
    brought.report["secrets"] = found[:MOST_LISTED]
    brought.save(update_fields=["report"])
