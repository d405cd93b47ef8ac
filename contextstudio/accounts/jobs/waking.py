"""Wakes workers: best effort, since a sweep finds whatever nobody was woken for."""

import logging
import threading
import uuid

from django.conf import settings
from django.db import transaction

from contextstudio.accounts.models import Job

from .kinds import kind_of

logger = logging.getLogger(__name__)

TASK = "contextstudio.run_job"
work_waits = threading.Event()
"""Set when the threads of this process should look for work."""


def wake_on_commit(job: Job) -> None:
    """Wake a worker for a job once the transaction commits."""
    queue = kind_of(job.kind).queue
    transaction.on_commit(lambda: wake(job.pk, queue), robust=True)


def wake(job_id: uuid.UUID, queue: str) -> None:
    if settings.EXECUTOR == "celery":
        send(job_id, queue)
    else:
        work_waits.set()


def send(job_id: uuid.UUID, queue: str) -> None:
    from celery import current_app  # noqa: PLC0415  # the embedded server never loads Celery
    from kombu.exceptions import OperationalError  # noqa: PLC0415

    try:
        current_app.send_task(TASK, [str(job_id)], queue=queue, retry=False)
    except OperationalError:
        logger.warning("No broker can be reached; the sweep will find job %s.", job_id)
