"""Prints an installation's database: `python -m …kills.standing [prepare]`.

`prepare` makes the database itself record each time that a job ends.
"""

import json
import os
import sys
from collections import Counter
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", f"{__package__}.settings")
django.setup()

from django.db import connection  # noqa: E402  # models need Django's set-up

from contextstudio.accounts.jobs import canary  # noqa: E402
from contextstudio.accounts.models import Job  # noqa: E402
from operations.log.selectors import load_thread, overview  # noqa: E402
from operations.models import LogEntry  # noqa: E402
from threads.models import Import, Session  # noqa: E402

ENDED = "NEW.status IN ('done', 'failed', 'cancelled')"
NOTED = "INSERT INTO ends_of_jobs VALUES (NEW.id)"
TRIGGERS = {
    "sqlite": (
        "CREATE TABLE ends_of_jobs (job text)",
        "CREATE TRIGGER note_ends AFTER UPDATE OF status ON accounts_job "
        f"WHEN {ENDED} BEGIN {NOTED}; END",
    ),
    "postgresql": (
        "CREATE TABLE ends_of_jobs (job uuid)",
        "CREATE FUNCTION note_end() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN {NOTED}; RETURN NEW; END $$",
        "CREATE TRIGGER note_ends AFTER UPDATE OF status ON accounts_job "
        f"FOR EACH ROW WHEN ({ENDED}) EXECUTE FUNCTION note_end()",
    ),
}


def prepare() -> None:
    with connection.cursor() as cursor:
        for statement in TRIGGERS[connection.vendor]:
            cursor.execute(statement)


def standing() -> dict[str, Any]:
    """All jobs with how often each ended, and all sessions as replayed from their logs."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT job FROM ends_of_jobs")
        ends = Counter(str(job).replace("-", "") for (job,) in cursor.fetchall())
    return {
        "jobs": [
            {
                "id": str(job.pk),
                "kind": job.kind,
                "status": job.status,
                "ends": ends[job.pk.hex],
                "interruptions": job.interruptions,
                "error": job.error,
                "operation": (job.result or {}).get("operation_id"),
            }
            for job in Job.objects.exclude(kind=canary.KIND)
        ],
        "sessions": [_session(one) for one in Session.objects.filter(staged_by=None)],
        "staged": Session.objects.exclude(staged_by=None).count()
        + Import.objects.exclude(staged_by=None).count(),
        "imports": list(Import.objects.values_list("name", flat=True)),
    }


def _session(session: Session) -> dict[str, Any]:
    thread = load_thread(session)
    log = LogEntry.objects.filter(session=session).order_by("number")
    return {
        "id": str(session.pk),
        "name": session.external_id or session.title,
        "messages": session.message_count,
        "operations": [str(key) for key in log.values_list("id", flat=True)],
        "numbers": list(log.values_list("number", flat=True)),
        "head": session.head,
        "overview_is_right": session.overview in (None, overview(thread)),
        "keys": list(thread.keys),
        "leaves": [leaf for key in thread.keys for leaf in thread.leaf_keys(key)],
    }


if __name__ == "__main__":
    if "prepare" in sys.argv:
        prepare()
    else:
        print(json.dumps(standing()))  # noqa: T201  # read by the test
