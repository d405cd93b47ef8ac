"""Work that outlives a request: a row in the database is the truth, workers come and go.

`enqueue` writes the row in the caller's transaction. A worker claims it by a lease that it
keeps renewing; what the work does to the database and `done` are one transaction, in which the
lease is checked. Two executors stand behind this one contract: threads in the serving process
(`workers`) and Celery (`contextstudio.accounts.jobs.tasks`). See docs/decisions/0003-jobs.md.
"""

from .kinds import PROVIDER_QUEUE, register
from .queue import enqueue, go_on, repeat, request_cancel
from .runner import Cancelled, JobContext, Later

__all__ = [
    "PROVIDER_QUEUE",
    "Cancelled",
    "JobContext",
    "Later",
    "enqueue",
    "go_on",
    "register",
    "repeat",
    "request_cancel",
]
