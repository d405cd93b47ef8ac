"""Hourly removal of what has expired."""

import logging
from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.contrib.sessions.models import Session as BrowserSession
from django.utils import timezone

from contextstudio.accounts import idempotency
from contextstudio.accounts.models import (
    IdempotentResponse,
    Invitation,
    Job,
    SignInLink,
    TokenBucket,
)
from contextstudio.database.outages import FAULTS, log_fault

logger = logging.getLogger(__name__)

_KEY_RETENTION = timedelta(days=1)
_ENDED = (Job.Status.DONE, Job.Status.FAILED, Job.Status.CANCELLED)
_BATCH_SIZE = 500

_registered: list[Callable[[], None]] = []


def register(clean: Callable[[], None]) -> None:
    """Register another app's clean-up function, called at the same times."""
    if clean not in _registered:
        _registered.append(clean)


def try_to_clean() -> None:
    """Clean up as far as possible; a failure must not stop the worker that calls this."""
    try:
        clean()
    except FAULTS as error:
        log_fault(logger, "What has expired could not be removed", error)
    except Exception:  # whatever failed is tried again in an hour
        logger.exception("What has expired could not be removed.")


def clean() -> None:
    """Remove old responses, expired links, ended browser sessions and full token buckets."""
    now = timezone.now()
    IdempotentResponse.objects.filter(
        created_at__lt=now - idempotency.RETENTION
    ).delete()
    SignInLink.objects.filter(expires_at__lt=now).delete()
    Invitation.objects.filter(expires_at__lt=now).delete()
    BrowserSession.objects.filter(expire_date__lt=now).delete()
    TokenBucket.objects.filter(updated_at__lt=now - _KEY_RETENTION).delete()
    _remove_jobs()
    for other in _registered:
        other()


def _remove_jobs() -> None:
    """Remove jobs that ended long ago, a few at a time; jobs that ask wait for an answer."""
    if not settings.JOBS_KEPT_DAYS:
        return
    before = timezone.now() - timedelta(days=settings.JOBS_KEPT_DAYS)
    jobs = Job.objects.filter(status__in=_ENDED, finished_at__lt=before)
    while some := list(jobs.values_list("pk", flat=True)[:_BATCH_SIZE]):
        Job.objects.filter(pk__in=some).delete()
