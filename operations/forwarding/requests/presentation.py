"""A client's requests in the terms of the public API, each described in a sentence."""

import uuid
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, NamedTuple

from django.utils import timezone
from pydantic import BaseModel

from operations.domain.forwarding.client_entries import RequestDecision
from operations.log.presentation import ActorOut
from operations.models import SessionRequest


class ClientChangeOut(BaseModel):
    """An operation that was recorded for one of the client's own edits."""

    key: str
    """Its key."""
    act: str
    """What was done to it: `made`, `amended`, `restored` or `reverted`."""
    kind: str
    """Its type, such as `revise`."""
    cause: str
    """The kind of edit: `prompt`, `edited`, `trimmed`, `regenerated` or `compacted`."""
    count: int
    """How many originals it folds, or how many messages it inserts."""


class RequestOut(BaseModel):
    """A client's request: how it relates to the session, what was sent and what came back."""

    id: uuid.UUID
    number: int
    """Its number in the session, from 1."""
    created_at: str
    actor: ActorOut
    client: str
    """What the client calls itself (`User-Agent`)."""
    door: str
    """`apply` or `proxy`."""
    format: str
    model: str
    decision: str
    """How it relates to the session, such as `extended`, `edited` or `compacted`."""
    sentence: str
    """The decision in words."""
    messages: int
    """How many messages the client sent, including the system prompt."""
    known: int
    """How many of them the session had already."""
    new: int
    """How many of them became originals."""
    unknown: int
    """How many of them stand in place of originals or between them, as the client's own edit."""
    absent: int
    """How many originals the client didn't send."""
    tools: int
    """How many tools the request offers."""
    edits: list[ClientChangeOut]
    """What was recorded for the client's own edits."""
    head: int
    """Number of the last log entry when the request was rewritten."""
    message_count: int
    """How many originals the session had then."""
    applied: int
    """How many operations applied."""
    suspended: dict[str, list[str]]
    """Keys of the operations that had nothing to act on, by reason."""
    tokens: dict[str, int]
    """Tokens `before` and `after` it was rewritten."""
    prepared_ms: float
    """How long it took to rewrite, in milliseconds."""
    status: str
    """`prepared`, `sent`, `answered`, `partial`, `failed` or `refused`."""
    error: str
    upstream_status: int | None
    """The HTTP status of the provider's response."""
    usage: dict[str, int | None]
    """Tokens as the provider counted them."""
    cost: float | None
    """In dollars; null if it isn't known."""
    first_byte_ms: float | None
    """From the request's arrival to the first byte of the reply, in milliseconds."""
    total_ms: float | None
    """From the request's arrival to the end of the reply, in milliseconds."""
    reply_index: int | None
    """Index of the original that the reply became."""


class RequestPage(BaseModel):
    """Some requests of a session, the newest first."""

    items: list[RequestOut]
    next_cursor: str | None


def present_request(row: SessionRequest) -> dict[str, Any]:
    """A request as the API gives it."""
    standing = request_state(row)
    return {
        "id": str(row.pk),
        "number": row.number,
        "created_at": row.created_at.isoformat(),
        "actor": {"id": row.actor, "name": row.actor_name},
        "client": row.client,
        "door": row.door,
        "format": row.format,
        "model": row.model,
        "decision": row.decision,
        "sentence": sentence(row),
        "messages": row.messages,
        "known": row.known,
        "new": row.new,
        "unknown": row.unknown,
        "absent": row.absent,
        "tools": row.tools,
        "edits": row.edits,
        "head": row.head,
        "message_count": row.message_count,
        "applied": row.applied,
        "suspended": row.suspended,
        "tokens": {"before": row.tokens_before, "after": row.tokens_after},
        "prepared_ms": row.prepared_ms,
        "status": standing.status,
        "error": standing.error,
        "upstream_status": row.upstream_status,
        "usage": {
            "input_tokens": row.input_tokens,
            "cached_tokens": row.cached_tokens,
            "cache_written_tokens": row.cache_written_tokens,
            "output_tokens": row.output_tokens,
        },
        "cost": None if row.cost is None else float(row.cost),
        "first_byte_ms": row.first_byte_ms,
        "total_ms": row.total_ms,
        "reply_index": row.reply_index,
    }


LOST_AFTER = timedelta(days=1)
"""After this time a reply has ended, or its server was killed, or nobody will fetch it."""


class RequestState(NamedTuple):
    """The status of a request, and the error if it failed."""

    status: SessionRequest.Status
    error: str


def request_state(row: SessionRequest) -> RequestState:
    """The current status of a request; a reply may still be fetched later."""
    status = SessionRequest.Status(row.status)
    lost = timezone.now() - LOST_AFTER
    if status is SessionRequest.Status.SENT and row.created_at < lost:
        sentence = "No reply was recorded within a day."
        return RequestState(SessionRequest.Status.FAILED, row.error or sentence)
    return RequestState(status, row.error)


def sentence(row: SessionRequest) -> str:
    """A description of how a request relates to its session."""
    return " ".join(_sentences(row))


def _sentences(row: SessionRequest) -> Iterator[str]:
    match row.decision:
        case RequestDecision.FIRST:
            yield f"Starts the conversation with {_messages(row.new)}."
            return
        case RequestDecision.LINKED:
            yield "Unrelated to the session it was sent to; starts this one."
            return
        case RequestDecision.REPEATED:
            yield "Sends the same again."
            return
        case RequestDecision.EXTENDED:
            yield f"Adds {_messages(row.new)}."
            return
    gone = [one for one in row.edits if one["act"] == "reverted"]
    there = [one for one in row.edits if one["act"] != "reverted"]
    yield from (_describe_edit(one) for one in there)
    if gone and not there:
        count = sum(one["count"] for one in gone if one["kind"] != "insert")
        back = f"Brings back {_messages(count)}."
        yield back if count else "No longer sends what it had inserted."
    if row.new:
        yield f"Adds {_messages(row.new)}."


def _describe_edit(edit: dict[str, Any]) -> str:
    count, kind = edit["count"], edit["kind"]
    match edit["cause"]:
        case RequestDecision.PROMPT:
            gone = "No longer sends its system prompt."
            return gone if kind == "snip" else "Sends a different system prompt."
        case RequestDecision.COMPACTED:
            return f"Sends its own summary in place of {_messages(count)}."
        case RequestDecision.REGENERATED:
            if count == 1:
                return "Discards the last message."
            return f"Discards the last {count:,} messages."
        case RequestDecision.TRIMMED:
            return f"No longer sends {_messages(count)}."
    if kind == "insert":
        return f"Inserts {_messages(count)}."
    return f"Rewords {_messages(count)}."


def _messages(count: int) -> str:
    return "1 message" if count == 1 else f"{count:,} messages"
