"""Records each request of a client, and the reply to it.

A request is recorded in the transaction that aligns it, under the session's lock, so its number
gives the order in which the session received it. The facts of the reply are filled in later, by
the request's id.
"""

import uuid
from dataclasses import dataclass, field, fields
from decimal import Decimal
from typing import Any

from django.db.models import UUIDField

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.domain.paging import Page, clamp, decode_cursor, page
from contextstudio.database.prepared import Param, Prepared, insert, update
from operations.models import SessionRequest
from threads.domain.batch import clean
from threads.models import Session
from threads.store import events
from threads.store.selectors import get_session


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFacts:
    """The facts of a request as aligned and rewritten, for the fields of `SessionRequest`."""

    door: str
    format: str
    decision: str
    messages: int
    known: int
    new: int = 0
    unknown: int = 0
    absent: int = 0
    tools: int = 0
    model: str = ""
    client: str = ""
    edits: list[dict[str, Any]] = field(default_factory=list)
    applied: int = 0
    suspended: dict[str, list[str]] = field(default_factory=dict)
    tokens_before: int = 0
    tokens_after: int = 0
    prepared_ms: float = 0.0
    sent: list[list[int]] = field(default_factory=list)
    has_prompt: bool | None = None
    status: SessionRequest.Status = SessionRequest.Status.PREPARED


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyFacts:
    """The facts of the reply to a forwarded request; None means not known."""

    status: SessionRequest.Status
    error: str = ""
    upstream_status: int | None = None
    input_tokens: int | None = None
    cached_tokens: int | None = None
    cache_written_tokens: int | None = None
    output_tokens: int | None = None
    cost: Decimal | None = None
    first_byte_ms: float | None = None
    total_ms: float | None = None
    reply_index: int | None = None
    reply_digest: bytes | None = None
    is_rewritten: bool | None = None


def record_request(
    session: Session, caller: Caller, facts: RequestFacts
) -> SessionRequest:
    """Record a request; the transaction has locked the session's row.

    The session's current head and number of messages are stored with it. A request that changed
    neither is announced here, because the list of requests shows it too.
    """
    known = {one.name: getattr(facts, one.name) for one in fields(facts)}
    known |= {"client": clean(facts.client)[:200], "model": clean(facts.model)[:128]}
    made = SessionRequest(
        session=session,
        number=(_LAST_NUMBER.first(session=session.pk) or 0) + 1,
        actor=caller.actor,
        actor_name=caller.name[:150],
        head=session.head,
        message_count=session.message_count,
        **known,
    )
    insert([made])
    if not (facts.new or facts.edits):
        events.announce(session)
    return made


_LAST_NUMBER = Prepared(
    lambda: (
        SessionRequest.objects.filter(session=Param("session", UUIDField()))
        .order_by("-number")
        .values_list("number", flat=True)[:1]
    )
)


def finish_request(request_id: uuid.UUID, reply: ReplyFacts) -> None:
    """Store what is known of a request's reply by now; unknown fields stay unchanged."""
    known = {one.name: getattr(reply, one.name) for one in fields(reply)}
    known["error"] = clean(reply.error)[:500] or None
    known = {name: value for name, value in known.items() if value is not None}
    update(SessionRequest(pk=request_id, **known), *known)


def list_requests(
    caller: Caller,
    session_id: uuid.UUID,
    *,
    cursor: str | None = None,
    limit: int | None = None,
) -> Page[SessionRequest]:
    """The requests of a session, newest first. Raises Invalid for a foreign cursor."""
    session = get_session(caller, session_id)
    rows = SessionRequest.objects.filter(session=session).order_by("-number")
    if cursor:
        (last,) = decode_cursor(cursor, 1)
        if not isinstance(last, int):
            raise Invalid("This cursor does not belong to this list.", at=["cursor"])
        rows = rows.filter(number__lt=last)
    count = clamp(limit)
    return page(list(rows[: count + 1]), count, lambda row: [row.number])
