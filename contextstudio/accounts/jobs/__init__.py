"""Work that outlives a request: a database row is the truth, workers come and go.

`enqueue` writes the row in the caller's transaction. A worker claims it by a lease that it keeps
renewing. The work's effect on the database and the status `done` are one transaction, in which the
lease is checked. There are two executors: threads in the serving process (`workers`) and Celery
(`contextstudio.accounts.jobs.tasks`). See docs/decisions/0003-jobs.md.
"""

from .kinds import PROVIDER_QUEUE, register
from .queue import enqueue, request_cancel, restart, resume
from .runner import Cancelled, JobContext, RetryLater

__all__ = [
    "PROVIDER_QUEUE",
    "Cancelled",
    "JobContext",
    "RetryLater",
    "enqueue",
    "register",
    "request_cancel",
    "restart",
    "resume",
]
