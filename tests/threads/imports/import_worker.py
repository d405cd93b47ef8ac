"""An importing process to be killed: `python -m tests.threads.imports.import_worker <zip>`.

It enqueues the import unless it is queued already, runs it as a worker does, and prints a line at
each step; the last line is what the database holds at the end.
"""

import json
import os
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextstudio.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.utils import timezone  # noqa: E402

from contextstudio.accounts.jobs import enqueue, queue, runner  # noqa: E402
from contextstudio.accounts.jobs.runner import JobContext  # noqa: E402
from contextstudio.accounts.models import Job, Project  # noqa: E402
from contextstudio.accounts.selectors import caller_of_user  # noqa: E402
from contextstudio.accounts.services import owner_of  # noqa: E402
from threads.domain import batch  # noqa: E402
from threads.imports import jobs  # noqa: E402
from threads.imports.running import file_groups  # noqa: E402
from threads.imports.upload import keep_upload  # noqa: E402
from threads.models import Event, Import, Message, Session  # noqa: E402


def main(path: Path) -> None:
    settings.JOB_LEASE_SECONDS = 60
    batch.MAX_ITEMS, file_groups.AT_ONCE = 20, 4_000
    report = JobContext.progress

    def progress(self: JobContext, done: int, **facts: Any) -> None:
        print("step", done, facts.get("unit"), flush=True)  # noqa: T201
        report(self, done, **facts)

    JobContext.progress = progress  # type: ignore[method-assign]
    project = Project.objects.get(slug="demo")
    job = Job.objects.filter(kind=jobs.KIND).first()
    if job is None:
        with path.open("rb") as stream:
            upload = keep_upload(stream, name=path.name)
        caller = caller_of_user(owner_of(project))
        job = enqueue(project, jobs.KIND, jobs.arguments_of(upload), caller)
    # Its former worker was killed: the lease has expired.
    past = timezone.now() - timedelta(days=1)
    Job.objects.filter(pk=job.pk).update(lease_until=past)
    while (claimed := queue.claim(job.pk)) is None:  # delayed: its pause is over too
        Job.objects.filter(pk=job.pk).update(run_after=past)
    runner.run(claimed)
    job.refresh_from_db()
    print(json.dumps({"status": job.status, **standing()}), flush=True)  # noqa: T201


def standing() -> dict[str, Any]:
    """What everybody can see by now, without the demonstration."""
    sessions = Session.objects.filter(staged_by=None).exclude(title__startswith="Night")
    return {
        "sessions": sessions.count(),
        "messages": Message.objects.filter(session__in=sessions).count(),
        "events": Event.objects.filter(session__in=sessions).count(),
        "staged": Session.objects.exclude(staged_by=None).count(),
        "imports": Import.objects.filter(name="talks.zip", staged_by=None).count(),
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
