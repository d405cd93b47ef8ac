"""Idempotency keys: a request sent twice is done once, and its response is kept for a day.

A key is claimed in its own transaction, with a lease. The effect and the response are one
transaction, in which the claim is checked. So a server that is killed leaves both or neither, and
if two workers believe they hold the claim, one has no effect.

A request that reads at length before its effect begins that transaction itself (`effect`), since an
open transaction blocks all other writers.
"""

import hashlib
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import wraps
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone

from .domain.errors import Conflict, Invalid
from .models import IdempotentResponse

RETENTION = timedelta(hours=24)

_LEASE = timedelta(seconds=60)
MAX_KEY_LENGTH = 255
Route = Callable[..., HttpResponseBase]
_begin: ContextVar[Callable[[], None] | None] = ContextVar("begin", default=None)
"""Begins the transaction of the current request, if the request begins it itself."""
_project_ids: ContextVar[list[int] | None] = ContextVar("acts in", default=None)
"""The projects in which the current request acts, if it has an idempotency key."""
_PURGED = 410
"""The status of a row whose response was purged: HTTP's Gone."""


@dataclass(frozen=True, slots=True)
class RecordedResponse:
    """The response to a request."""

    status: int
    body: bytes
    content_type: str
    replayed: bool = False


def digest(pieces: Iterable[bytes]) -> str:
    """Digest of a request: SHA-256 over its pieces, each prefixed with its length."""
    hashed = hashlib.sha256()
    for piece in pieces:
        hashed.update(len(piece).to_bytes(8, "big"))
        hashed.update(piece)
    return hashed.hexdigest()


def run_once(
    actor: str,
    key: str,
    request_digest: str,
    run: Callable[[], RecordedResponse],
    *,
    at: str,
    reads_first: bool = False,
    keeps_answer: bool = True,
) -> RecordedResponse:
    """Run a request, or return the response to its first run by this actor with this key.

    Without `keeps_answer` a repeat runs again: a read has no effect to avoid repeating, and a
    stored response would still show what was redacted or purged since.

    `run` returns refusals instead of raising them; what a refused run wrote is rolled back. One
    that `reads_first` has its effect within `effect`, and must clean up itself what it writes
    before. `at` is where in the request the key is. Raises Invalid if the key was used for another
    request, Conflict while the first one runs and if its response was purged.
    """
    claim = _claim(actor, key, request_digest, at)
    if claim.status is not None:
        if not keeps_answer:
            return replace(run(), replayed=True)
        if claim.status == _PURGED:
            raise Conflict(
                "The first request with this idempotency key was carried out, but its response has "
                "been purged since.",
                at=[at],
                code="response_purged",
            )
        body = bytes(claim.body)
        return RecordedResponse(claim.status, body, claim.content_type, replayed=True)
    try:
        with _transaction(reads_first) as begin:
            answer, projects = _run_noting_projects(run)
            kept = answer if keeps_answer else replace(answer, body=b"")
            begin()
            if answer.status < 400:
                _store_response(claim, kept, at, projects)
            else:
                transaction.set_rollback(True)
        # Server faults and failed sign-ins may be tried again.
        if answer.status >= 500 or answer.status in (401, 403, 429):
            _claim_row(claim).delete()
        elif answer.status >= 400:
            _store_response(claim, kept, at, projects)
        return answer
    except BaseException:
        _claim_row(claim).delete()
        raise


@contextmanager
def effect() -> Iterator[None]:
    """The transaction for the effect of a request that has read all it needs.

    With an idempotency key it stays open until the response is stored in it too.
    """
    begin = _begin.get()
    if begin is not None:
        begin()
    with transaction.atomic():
        yield


@contextmanager
def _transaction(reads_first: bool) -> Iterator[Callable[[], None]]:
    """The transaction of an effect and its response, begun now or on the first call of `begin`."""
    with ExitStack() as opened:
        begun = False

        def begin() -> None:
            nonlocal begun
            if not begun:
                begun = True
                opened.enter_context(transaction.atomic())

        if not reads_first:
            begin()
        outer = _begin.set(begin)
        try:
            yield begin
        finally:
            _begin.reset(outer)


def _run_noting_projects(
    run: Callable[[], RecordedResponse],
) -> tuple[RecordedResponse, list[int]]:
    projects = list[int]()
    token = _project_ids.set(projects)
    try:
        return run(), projects
    finally:
        _project_ids.reset(token)


def note_project(project_id: int) -> None:
    """Note that the current request acts in a project: its response may quote content there."""
    if (projects := _project_ids.get()) is not None:
        projects.append(project_id)


def purge_responses(project_id: int) -> None:
    """Destroy the stored responses of a project, in the caller's transaction.

    It stays known that the requests were carried out, so a repeat has no effect. Refused requests
    had none, and may be sent again.
    """
    rows = IdempotentResponse.objects.filter(project_id=project_id)
    rows.filter(status__gte=400).exclude(status=_PURGED).delete()
    rows.filter(status__lt=400).update(status=_PURGED, body=b"", content_type="")


def reads_first(route: Route) -> Route:
    """Mark a route that reads at length, and then has its effect within `effect`."""

    @wraps(route)
    def marked(request: HttpRequest, **values: Any) -> HttpResponseBase:
        return route(request, **values)

    marked.reads_first = True  # type: ignore[attr-defined]  # functions take any
    return marked


def forget_claims() -> None:
    """Drop all claims without a response: when the only server starts, nobody runs them."""
    IdempotentResponse.objects.filter(status=None).delete()


def _claim(actor: str, key: str, request_digest: str, at: str) -> IdempotentResponse:
    """Create a claim (without a status), or return the stored response."""
    if not 0 < len(key) <= MAX_KEY_LENGTH or "\x00" in key:
        sentence = f"An idempotency key has 1 to {MAX_KEY_LENGTH} characters, none of them NUL."
        raise Invalid(sentence, at=[at])
    now = timezone.now()
    fresh = IdempotentResponse(
        actor=actor,
        key=key,
        request_digest=request_digest,
        owner=uuid.uuid4().hex,
        lease_until=now + _LEASE,
        created_at=now,
    )
    try:
        with transaction.atomic():
            fresh.save(force_insert=True)
            return fresh
    except IntegrityError:
        rows = IdempotentResponse.objects.filter(actor=actor, key=key)
    row = rows.first()
    expired = row is not None and now - row.created_at > RETENTION
    if row is not None and not expired:
        if row.request_digest != request_digest:
            raise Invalid(
                "This idempotency key was used for a different request. Use a new one.",
                at=[at],
                code="idempotency_key_reused",
            )
        if row.status is not None:
            return row
    # A lease longer than any that is given out was taken before the clock was set back.
    is_held = row is not None and now < row.lease_until <= now + 2 * _LEASE
    if row is not None and (expired or not is_held):
        taken = rows.filter(owner=row.owner).update(
            request_digest=request_digest,
            owner=fresh.owner,
            status=None,
            body=b"",
            lease_until=fresh.lease_until,
            created_at=now,
        )
        if taken:
            return fresh
    raise Conflict(
        "The first request with this idempotency key is still running.",
        at=[at],
        code="idempotency_key_in_use",
    )


def _store_response(
    claim: IdempotentResponse, answer: RecordedResponse, at: str, projects: list[int]
) -> None:
    """Store the response, filed under the first project. Raises Conflict if the claim is lost."""
    kept = _claim_row(claim).update(
        status=answer.status,
        body=answer.body,
        content_type=answer.content_type[:100],
        project_id=projects[0] if projects else None,
    )
    if not kept:
        raise Conflict(
            "This request took so long that a repeat of it has started.",
            at=[at],
            code="idempotency_key_in_use",
        )


def _claim_row(claim: IdempotentResponse) -> QuerySet[IdempotentResponse]:
    rows = IdempotentResponse.objects.filter(actor=claim.actor, key=claim.key)
    return rows.filter(owner=claim.owner, status=None)
