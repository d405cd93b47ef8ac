"""The results of a session's jobs: masked when shown, destroyed when messages are purged."""

from collections.abc import Sequence
from typing import Any

from contextstudio.accounts.models import Job
from operations.domain.log.mask import mask_json
from operations.domain.tree.key import original_key
from operations.messages.reader import masked_texts
from threads.models import Session

from .jobs import STATE, SUMMARY

_QUOTING = ("summary", "dropped", "state", "previous", "objective")
"""The members of results that quote messages, or hold what a model wrote about them."""
_UNFINISHED = (Job.Status.QUEUED, Job.Status.RUNNING, Job.Status.ASKS)


def shown_result(job: Job) -> dict[str, Any] | None:
    """The result of a job about a session, masked by redactions that are on now."""
    session_id = job.arguments.get("session_id")
    session = Session.objects.filter(pk=session_id).first()
    masks = masked_texts(session) if session and job.result else {}
    masked: dict[str, Any] | None = mask_json(job.result, masks)
    return masked


def forget_results(session: Session, indexes: Sequence[int] | None) -> None:
    """Destroy what jobs said about these originals, or about the session if `indexes` is None.

    Runs in the caller's transaction. Unfinished jobs are cancelled. The row stays, with what was
    done, when and by whom.
    """
    keys = None if indexes is None else set(map(original_key, indexes))
    for job in Job.objects.filter(
        kind__in=(SUMMARY, STATE), arguments__session_id=str(session.pk)
    ):
        named = job.arguments.get("keys")
        if keys is not None and named is not None and keys.isdisjoint(named):
            continue
        result = job.result
        if isinstance(result, dict):
            empty = {
                name: type(result[name])() for name in _QUOTING if result.get(name)
            }
            result = result | empty
        Job.objects.filter(pk=job.pk).update(result=result, notes={})
        Job.objects.filter(pk=job.pk, status__in=_UNFINISHED).update(
            cancel_requested=True
        )
