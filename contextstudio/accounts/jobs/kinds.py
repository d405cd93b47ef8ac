"""The kinds of jobs, and the functions that do them."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.models import Job

Handler = Callable[..., dict[str, Any] | None]
"""`handler(context, **arguments)`: does the work outside of any transaction, returns the result."""
PresentResult = Callable[[Job], dict[str, Any] | None]
DEFAULT_QUEUE = "default"
PROVIDER_QUEUE = "provider"
"""Jobs that call a provider have their own queue, so that they don't delay other jobs."""


@dataclass(frozen=True, slots=True)
class JobKind:
    """One kind of job."""

    name: str
    handler: Handler
    queue: str = DEFAULT_QUEUE
    title: str = ""
    """Its name on pages; if empty, derived from `name`."""
    may_repeat: bool = False
    """Whether a person may restart it after it failed or was cancelled."""
    shown: PresentResult | None = None
    """Returns the result as it may be read now; None: the result as stored."""
    clean_up: Callable[[uuid.UUID], object] | None = None
    """Removes what the runs of an abandoned job have left; None if they leave nothing."""
    right: Right | None = None
    """The right in the project that the person or key who asked must have while it runs."""


_kinds: dict[str, JobKind] = {}


def register(
    name: str,
    handler: Handler,
    *,
    queue: str = DEFAULT_QUEUE,
    title: str = "",
    may_repeat: bool = False,
    shown: PresentResult | None = None,
    clean_up: Callable[[uuid.UUID], object] | None = None,
    right: Right | None = None,
) -> None:
    """Register the handler for a kind of job; a later call replaces an earlier one."""
    _kinds[name] = JobKind(
        name, handler, queue, title, may_repeat, shown, clean_up, right
    )


def result_of(job: Job) -> dict[str, Any] | None:
    """The result of a job as it may be read now."""
    kind = _kinds.get(job.kind)
    shown = kind.shown if kind else None
    found: dict[str, Any] | None = shown(job) if shown else job.result
    return found


def title_of(name: str) -> str:
    """The name of a kind on pages, even if it is no longer registered."""
    kind = _kinds.get(name)
    words = name.replace("_", " ").replace(".", " ").capitalize()
    return (kind.title if kind else "") or words


def may_repeat(job: Job) -> bool:
    """Whether a person may restart a job: it failed or was cancelled, and its kind allows it."""
    kind = _kinds.get(job.kind)
    ended = job.status in (Job.Status.FAILED, Job.Status.CANCELLED)
    return ended and kind is not None and kind.may_repeat


def may_leave_data(job: Job) -> bool:
    """Whether the runs of a job whose worker died may have left something to remove."""
    kind = _kinds.get(job.kind)
    return kind is not None and kind.clean_up is not None


def kind_of(name: str) -> JobKind:
    """The kind with this name. Raises LookupError if no app has registered it."""
    return _kinds[name]


def kinds_on(queue: str) -> list[str]:
    """The kinds whose jobs wait on a queue."""
    return [name for name, kind in _kinds.items() if kind.queue == queue]
