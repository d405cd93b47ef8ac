"""Which function does which kind of job, and what is to be known of a kind."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.models import Job

Handler = Callable[..., dict[str, Any] | None]
"""`handler(context, **arguments)`: does the work outside of any transaction, gives the result."""
Shown = Callable[[Job], dict[str, Any] | None]
DEFAULT_QUEUE = "default"
PROVIDER_QUEUE = "provider"
"""Jobs that call a provider wait on a queue of their own, so that they hold up no others."""


@dataclass(frozen=True, slots=True)
class JobKind:
    """One kind of job."""

    name: str
    handler: Handler
    queue: str = DEFAULT_QUEUE
    title: str = ""
    """What a page calls it; empty: its name."""
    may_repeat: bool = False
    """Whether a person may start it again after it failed or was cancelled."""
    shown: Shown | None = None
    """The result as it may be read now; None: as it is."""
    take_back: Callable[[uuid.UUID], object] | None = None
    """Removes what runs of a job left that will not be done; None where they leave nothing."""
    right: Right | None = None
    """What who asked has to be allowed in the project for as long as it runs."""


_kinds: dict[str, JobKind] = {}


def register(
    name: str,
    handler: Handler,
    *,
    queue: str = DEFAULT_QUEUE,
    title: str = "",
    may_repeat: bool = False,
    shown: Shown | None = None,
    take_back: Callable[[uuid.UUID], object] | None = None,
    right: Right | None = None,
) -> None:
    """Say which function does the jobs of a kind; the last word counts."""
    _kinds[name] = JobKind(
        name, handler, queue, title, may_repeat, shown, take_back, right
    )


def result_of(job: Job) -> dict[str, Any] | None:
    """The result of a job as it may be read now."""
    kind = _kinds.get(job.kind)
    shown = kind.shown if kind else None
    found: dict[str, Any] | None = shown(job) if shown else job.result
    return found


def title_of(name: str) -> str:
    """What a page calls jobs of a kind, also of one that is registered no more."""
    kind = _kinds.get(name)
    words = name.replace("_", " ").replace(".", " ").capitalize()
    return (kind.title if kind else "") or words


def may_repeat(job: Job) -> bool:
    """Whether a person may start a job again: it ended otherwise than done, and is such a kind."""
    kind = _kinds.get(job.kind)
    ended = job.status in (Job.Status.FAILED, Job.Status.CANCELLED)
    return ended and kind is not None and kind.may_repeat


def leaves_something(job: Job) -> bool:
    """Whether runs of a job that ended with their worker may have left what has to go."""
    kind = _kinds.get(job.kind)
    return kind is not None and kind.take_back is not None


def kind_of(name: str) -> JobKind:
    """The kind of this name. Raises LookupError where no app has registered it."""
    return _kinds[name]


def names_on(queue: str) -> list[str]:
    """The kinds whose jobs wait on a queue."""
    return [name for name, kind in _kinds.items() if kind.queue == queue]
