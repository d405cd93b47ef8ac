"""The Celery door to jobs. A message is just the id of a job."""

import logging
import mmap
import os
import threading
import uuid
from typing import Any

from celery import shared_task
from celery.signals import worker_ready, worker_shutting_down
from django.core.cache import cache
from django.db import connection
from django.utils import timezone

from contextstudio.database.outages import log_fault

from . import housekeeping, queue, runner, waking

logger = logging.getLogger(__name__)

_SECONDS_BETWEEN_SWEEPS = 5
_SECONDS_BETWEEN_WAKINGS = 60
_MAX_AT_ONCE = 200

_stopping = threading.Event()
_stop_flag = mmap.mmap(-1, 1)
"""Not 0 once the worker is told to stop: memory shared with its forked processes, which run the
jobs and learn of it in no other way."""


@shared_task(name=waking.TASK, ignore_result=True)
def run_job(job_id: str) -> None:
    """Run this job, if it is due and unclaimed."""
    job = queue.claim(uuid.UUID(job_id))
    if job is not None:
        runner.run(job, stopping=lambda: _stop_flag[0] != 0)


def forget_connections() -> None:
    """Drop the connections inherited from the parent process, without closing them.

    Celery closes those that a new worker process finds in its pool, but they are the sweep's.
    """
    getattr(connection, "_connection_pools", {}).clear()


os.register_at_fork(after_in_child=forget_connections)


@worker_ready.connect
def start_sweeping(**_: Any) -> None:
    """Start the sweep for jobs that nobody was woken for: the broker may have lost the message."""
    threading.Thread(target=_sweep, name="sweep of jobs", daemon=True).start()


@worker_shutting_down.connect
def stop_sweeping(**_: Any) -> None:
    """Stop the sweep; running jobs are requeued at their next report."""
    _stop_flag[0] = 1
    _stopping.set()


def sweep() -> None:
    """Send a message for each due job, at most one a minute. No queue waits for another."""
    for name, due in queue.due_by_queue(timezone.now()):
        for job_id in due.values_list("pk", flat=True)[:_MAX_AT_ONCE]:
            if cache.add(f"woken.{job_id}", 1, _SECONDS_BETWEEN_WAKINGS):
                waking.send(job_id, name)


def _sweep() -> None:
    cleaning = 0.0
    while not _stopping.wait(_SECONDS_BETWEEN_SWEEPS):
        try:
            sweep()
            if cleaning <= 0:
                housekeeping.try_to_clean()
                cleaning = 3600
        except Exception as error:  # noqa: BLE001  # nothing may end it before its worker
            log_fault(logger, "The sweep of jobs failed and is repeated", error)
        finally:
            connection.close()
        cleaning -= _SECONDS_BETWEEN_SWEEPS
