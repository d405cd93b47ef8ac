"""A worker process whose jobs ask the test before they continue.

Run as `python -m tests.contextstudio.accounts.jobs.driver`, it runs one job and exits; as the
Celery app of the same name it is a Celery worker. `TEST_SOCKET` is the test's port; each stage of a
job connects to it, sends its name, and continues when it is answered.
"""

import os
import socket
from typing import Any

import django

django.setup()

from django.conf import settings  # noqa: E402  # models need Django's set-up

from contextstudio.accounts.jobs import JobContext, queue, register, runner  # noqa: E402
from contextstudio.accounts.models import Project  # noqa: E402
from contextstudio.celery import app as celery  # noqa: E402, F401  # named on the command line

KIND = "test.staged"
ENDLESS = "endless"
"""The slug of a job that runs until its worker stops."""
LEASE_SECONDS = 1


def meet(stage: str) -> None:
    """Tell the test what comes next, and wait for its answer."""
    with socket.create_connection(
        ("127.0.0.1", int(os.environ["TEST_SOCKET"]))
    ) as test:
        test.sendall(stage.encode())
        test.recv(1)


def work_in_stages(context: JobContext, *, slug: str) -> dict[str, Any]:
    """Meets the test before the end, and within the final transaction, after the effect."""
    meet("working")
    while slug == ENDLESS:
        context.progress(0)
    context.on_finish(lambda: Project.objects.create(slug=slug, name="An effect"))
    context.on_finish(lambda: meet("finishing"))
    return {"slug": slug}


settings.JOB_LEASE_SECONDS = LEASE_SECONDS
register(KIND, work_in_stages)


def main() -> None:
    """Run the next due job; a job whose worker was killed is due within a second."""
    while (job := queue.claim()) is None:
        pass
    runner.run(job)


if __name__ == "__main__":
    main()
