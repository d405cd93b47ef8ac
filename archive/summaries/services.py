"""Orders summaries: the request is validated at once, the work runs as a job."""

import logging
import uuid
from collections.abc import Collection, Sequence
from typing import NamedTuple

from django.db import transaction
from django.db.models import QuerySet

from archive.domain.summaries.providers import Choice
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import DomainError, Invalid
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.jobs import enqueue
from contextstudio.accounts.models import Job
from contextstudio.accounts.selectors import caller_of_actor, get_project
from contextstudio.database.steps import chunks
from operations.domain.log.operation import Digest, Snip, named_keys
from operations.domain.thread.check import check
from operations.domain.thread.thread import Thread
from operations.log.selectors import load_thread
from operations.log.transaction import refuse_stale
from operations.messages.pairs import MAX_RUNS, separated_pairs
from threads.models import Session
from threads.store.selectors import get_session

from .choosing import choices, in_force
from .jobs import STATE, SUMMARY, TEST, SummaryOrder
from .providers import targets_of

logger = logging.getLogger(__name__)

MAX_WISH_LENGTH = 2_000
_DISMISSED = "dismissed"
"""Key in a job's notes: the finish time of the failure that somebody dismissed."""
UNFINISHED = (Job.Status.QUEUED, Job.Status.RUNNING, Job.Status.ASKS)
KEPT_OPEN = 10
"""How many of the newest messages an automatic summary leaves alone."""
FEWEST = 4
"""Fewest messages that are worth an automatic summary."""


class Ordered(NamedTuple):
    """An ordered summary: its job, and the model that is to make it."""

    job: Job
    choice: Choice


@transaction.atomic
def order_summary(
    caller: Caller,
    session_id: uuid.UUID,
    *,
    start: int | None = None,
    end: int | None = None,
    targets: Sequence[str] | None = None,
    provider: str = "",
    model: str = "",
    instructions: str = "",
    propose: bool = False,
    record: bool = True,
    expected_head: int | None = None,
    automatic: bool = False,
) -> Ordered:
    """Order a summary of a half-open range, or of the messages with these keys.

    Raises Invalid with the place, and Conflict with what is in the way, as a digest of the same
    messages would, before anything is paid for.
    """
    session = get_session(caller, session_id, Right.PROPOSE)
    refuse_stale(session, expected_head)
    keys = _keys(session, start, end, targets)
    choice = choices(session.project, session, provider=provider, model=model)[0]
    order = SummaryOrder(
        session_id=str(session.pk),
        keys=keys,
        provider=provider,
        model=model,
        instructions=instructions.strip()[:MAX_WISH_LENGTH],
        propose=propose,
        record=record,
        automatic=session.message_count if automatic else 0,
    )
    job = enqueue(session.project, SUMMARY, order.arguments(), caller)
    return Ordered(job, choice)


@transaction.atomic
def order_state(caller: Caller, session_id: uuid.UUID) -> Ordered | None:
    """Order a new STATE, written from the window by a model; None if no provider is set up."""
    session = get_session(caller, session_id, Right.PROPOSE)
    choice = choices(session.project, session)[0]
    if not choice.provider:
        return None
    arguments = {"session_id": str(session.pk)}
    return Ordered(enqueue(session.project, STATE, arguments, caller), choice)


@transaction.atomic
def order_test(caller: Caller, slug: str, provider: str, model: str = "") -> Ordered:
    """Order a test call to a provider. Raises Invalid if it is not set up."""
    project = get_project(caller, slug, Right.EDIT)
    choice = choices(project, provider=provider, model=model)[0]
    if choice.provider not in targets_of(project):
        raise Invalid(
            "There is nothing to test: rules calls no model.", at=["provider"]
        )
    arguments = {"provider": choice.provider, "model": choice.model}
    return Ordered(enqueue(project, TEST, arguments, caller), choice)


def summarise_if_due(session: Session, protected: Collection[str]) -> Ordered | None:
    """Order a summary of all but the newest messages, if the settings allow automatic summaries.

    Call it when the window is full and pruning was not enough. It is ordered on behalf of the
    session's owner; messages with one of the `protected` tags stay. Returns None if automatic
    summaries are off, no provider is set up, too little is left to summarise, or the last summary
    is still running or has just failed.
    """
    if in_force(session.project, session).disable_auto_summarize:
        return None
    try:
        if not choices(session.project, session)[0].provider or _is_early(session):
            return None
        keys = _unsummarised(session, protected)
        if len(keys) < FEWEST:
            return None
        owner = caller_of_actor(session.created_by)
        return order_summary(owner, session.pk, targets=keys, automatic=True)
    except DomainError:
        logger.info("No summary of session %s can be made.", session.pk, exc_info=True)
        return None


def into_thread(session: Session) -> QuerySet[Job]:
    """The jobs whose summaries become digests of a session, whoever ordered them."""
    return Job.objects.filter(
        kind=SUMMARY,
        project=session.project,
        arguments__session_id=str(session.pk),
        arguments__record=True,
    )


def newest_failed(session: Session) -> Job | None:
    """The summary that finished last, if it failed and nobody has dismissed that."""
    ended = into_thread(session).filter(status__in=(Job.Status.DONE, Job.Status.FAILED))
    last = ended.exclude(finished_at=None).order_by("finished_at").last()
    if last is None or last.status != Job.Status.FAILED:
        return None
    return None if last.notes.get(_DISMISSED) == _end_of(last) else last


@transaction.atomic
def dismiss(job: Job) -> Job:
    """Stop showing in the thread that a summary failed; a later failure of it is shown again."""
    row = Job.objects.select_for_update().get(pk=job.pk)
    if row.status == Job.Status.FAILED:
        row.notes[_DISMISSED] = _end_of(row)
        row.save(update_fields=["notes"])
    return row


def _end_of(job: Job) -> str:
    return job.finished_at.isoformat() if job.finished_at else ""


def _is_early(session: Session) -> bool:
    """Whether a summary of the session is running, or an automatic one has just failed."""
    jobs = Job.objects.filter(
        kind=SUMMARY, project=session.project, arguments__session_id=str(session.pk)
    ).order_by("-created_at")
    if jobs.filter(status__in=UNFINISHED).exists():
        return True
    last = jobs.filter(arguments__automatic__gt=0).first()
    if last is None or last.status == Job.Status.DONE:
        return False
    known: int = last.arguments["automatic"]
    return session.message_count < known + KEPT_OPEN


def _unsummarised(session: Session, protected: Collection[str]) -> list[str]:
    """The messages after the last digest and the system prompt, without the newest ones.

    Messages with a protected tag are left out too. A result is not separated from its call.
    """
    thread = load_thread(session)
    nodes = thread.keys[: -KEPT_OPEN or None]
    start = next((n for n, key in enumerate(nodes) if not _is_system(thread, key)), 0)
    for place, key in enumerate(nodes):
        recorded = thread.log.edit(key)
        if recorded is not None and isinstance(recorded.edit, Digest):
            start = place + 1
    end = len(nodes)
    rest = thread.keys[end : end + 1]
    while end > start and rest and thread.role(thread.leaf_keys(rest[0])[0]) == "tool":
        end -= 1
        rest = thread.keys[end : end + 1]
    leaves = [leaf for key in nodes[start:end] for leaf in thread.leaf_keys(key)]
    tags = frozenset(protected)
    stay = {key for key in leaves if not tags.isdisjoint(thread.tags(key))}
    new = stay
    while new:
        # `separated_pairs` looks at no more than this many at once.
        some = chunks(sorted(new), MAX_RUNS)
        others = {
            key for keys in some for key in separated_pairs(session, thread, keys).keys
        }
        new = others - stay
        stay = stay | new
    return [key for key in leaves if key not in stay]


def _is_system(thread: Thread, key: str) -> bool:
    return thread.role(thread.leaf_keys(key)[0]) == "system"


def _keys(
    session: Session,
    start: int | None,
    end: int | None,
    targets: Sequence[str] | None,
) -> list[str]:
    """The keys of the messages to summarise, checked as for a digest."""
    thread = load_thread(session)
    if targets is None:
        if start is None or end is None:
            raise Invalid("Give start and end, or targets.", at=["start"])
        if start >= end:
            sentence = "The range is half-open: end must be greater than start."
            raise Invalid(sentence, at=["end"])
        if end > session.message_count:
            raise Invalid(
                f"The session has {session.message_count} messages; end is {end}.",
                at=["end"],
            )
        targets = thread.resolve_range(start, end - 1)
    elif start is not None or end is not None:
        raise Invalid("Give start and end, or targets, not both.", at=["targets"])
    (checked,) = check(thread, [Snip(targets=tuple(targets))]).edits
    return list(named_keys(checked))
