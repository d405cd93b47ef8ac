"""Records what came back: the reply as a message of the session, and its cost."""

import logging
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from django.db import transaction

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import DomainError
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.models import Project
from contextstudio.database.prepared import update
from operations.context.model_catalog import cost_of
from operations.forwarding import choices
from operations.forwarding.requests.records import ReplyFacts, finish_request
from operations.forwarding.upstreams.services import WireProvider
from operations.log.selectors import load_thread, overview
from operations.models import SessionRequest
from threads.domain.body import digest
from threads.domain.formats.io.streams.stream import ReplyTokens
from threads.domain.message import Message
from threads.models import Session
from threads.store import events
from threads.store.originals import load_digests
from threads.store.recording import named_by_hash, record_messages
from threads.store.selectors import get_session

from .references import kept
from .references.kept import digest_of_id
from .replies import Reply

logger = logging.getLogger(__name__)
Status = SessionRequest.Status
UNKNOWN = -1
"""The index of a reply whose place isn't known; it isn't recorded as a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """What is needed to record the outcome of a forwarded request."""

    caller: Caller
    session_id: uuid.UUID
    request_id: uuid.UUID | None
    count: int
    """How many messages the session had once the request was aligned; the reply is the next."""
    provider: str
    model: str
    is_named: bool = False
    """Whether a later request may continue from the reply by its id alone."""
    is_rewritten: bool | None = None
    """Whether other messages were sent than those given; None if it isn't known what they are."""
    is_background: bool = False
    """Whether its reply may come later: the model continues even if this exchange ends."""
    is_fetched: bool = False
    """Whether such a reply is being fetched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How an exchange ended."""

    read: Callable[[], Reply] | None = None
    """Reads the reply, if one has begun; the slow part of reading happens only then."""
    status: int | None = None
    error: str = ""
    first_byte_ms: float | None = None
    total_ms: float | None = None


def record_outcome(exchange: Exchange, outcome: Outcome) -> int | None:
    """Record the reply, if there is one, and how the request ended; returns the reply's index.

    Never raises DomainError. A session that is gone by then records nothing. A reply made in the
    background is recorded when it is fetched.
    """
    reply = outcome.read() if outcome.read else None
    is_over = reply is not None and reply.is_over
    comes_later = exchange.is_background and bool(reply and reply.id) and not is_over
    if exchange.is_fetched and not is_over:
        return None
    if exchange.is_fetched or comes_later:
        # The outcome and duration of this response say nothing about the reply itself.
        outcome = replace(outcome, error="", first_byte_ms=None, total_ms=None)
    messages = reply.messages if reply and not comes_later else ()
    index = None
    with transaction.atomic():  # one commit for both
        may_be_known = exchange.is_fetched or exchange.is_background
        if may_be_known and not _is_awaited(exchange):
            return None
        if messages:
            try:
                index = record_reply(exchange, messages)
            except DomainError as refused:
                logger.warning("A reply was not recorded: %s", refused.message)
        if exchange.request_id is not None:
            status = Status.SENT if comes_later else _status(reply)
            _finish(exchange, exchange.request_id, outcome, reply, index, status)
            if reply is not None and index is not None:
                choices.keep(exchange.request_id, reply.others)
                if exchange.is_named:
                    kept.keep(exchange.request_id, reply.said)
        if index is None:
            _tell_the_list(exchange.session_id)
    return index


def _tell_the_list(session_id: uuid.UUID) -> None:
    """Announce the end of a request that added nothing to the session."""
    session = Session.objects.filter(pk=session_id, deleted_at=None).first()
    if session is not None:
        events.announce(session)


def fetched(caller: Caller, project: Project, reply: str) -> Exchange | None:
    """What to record of a reply that is fetched by its id; None if it is already recorded."""
    request = kept.request_of_reply(caller, project, reply)
    if request is None or request.status != Status.SENT:
        return None
    return Exchange(
        caller=caller,
        session_id=request.session_id,
        request_id=request.pk,
        count=request.message_count,
        provider=WireProvider.OPENAI,
        model=request.model,
        is_named=True,
        is_fetched=True,
    )


def _is_awaited(exchange: Exchange) -> bool:
    """Whether the reply isn't recorded yet; locks the session's row."""
    try:
        session = get_session(
            exchange.caller, exchange.session_id, Right.OWN_SESSION, lock=True
        )
    except DomainError:
        return False
    sent = SessionRequest.objects.filter(session=session, status=Status.SENT)
    return exchange.request_id in sent.values_list("pk", flat=True)


def has_gone_on(exchange: Exchange) -> bool:
    """Whether the session's number of messages has changed since the alignment, or it is gone."""
    session = Session.objects.filter(pk=exchange.session_id, deleted_at=None).first()
    return session is None or session.message_count != exchange.count


def _finish(
    exchange: Exchange,
    request_id: uuid.UUID,
    outcome: Outcome,
    reply: Reply | None,
    index: int | None,
    status: SessionRequest.Status,
) -> None:
    tokens = reply.tokens if reply else ReplyTokens()
    model = (reply.model if reply else "") or exchange.model
    finish_request(
        request_id,
        ReplyFacts(
            status=status,
            error=outcome.error or (reply.fault if reply else ""),
            upstream_status=outcome.status,
            input_tokens=tokens.input,
            cached_tokens=tokens.cached,
            cache_written_tokens=tokens.written,
            output_tokens=tokens.output,
            cost=_cost(exchange.provider, model, tokens),
            first_byte_ms=outcome.first_byte_ms,
            total_ms=outcome.total_ms,
            reply_index=index,
            reply_digest=_name(exchange, reply),
            is_rewritten=exchange.is_rewritten,
        ),
    )


def _status(reply: Reply | None) -> SessionRequest.Status:
    if reply is not None and reply.is_whole:
        return Status.ANSWERED
    has_begun = reply is not None and bool(reply.messages)
    return Status.PARTIAL if has_begun else Status.FAILED


def _name(exchange: Exchange, reply: Reply | None) -> bytes | None:
    if not exchange.is_named or reply is None or not reply.id:
        return None
    return digest_of_id(reply.id)


def _cost(provider: str, model: str, tokens: ReplyTokens) -> Decimal | None:
    if tokens.input is None or tokens.output is None:
        return None
    return cost_of(
        provider,
        model,
        input=tokens.input,
        cached=tokens.cached or 0,
        written=tokens.written or 0,
        output=tokens.output,
    )


@transaction.atomic
def record_reply(exchange: Exchange, said: Sequence[Message]) -> int | None:
    """Record a reply as the session's next messages; returns the last one's index.

    Returns None if the session continued without it, for example because a question was asked
    twice at once: two replies can't both be the next message. A client that continues from this
    one sends it again with its next request, which is then aligned accordingly.
    """
    session = get_session(
        exchange.caller, exchange.session_id, Right.OWN_SESSION, lock=True
    )
    if session.message_count != exchange.count:
        return _known(session, exchange.count, said)
    record_messages(session, said)
    session.overview = overview(load_thread(session))
    update(session, "overview")
    events.announce(session)
    return exchange.count + len(said) - 1


def _known(session: Session, index: int, reply: Sequence[Message]) -> int | None:
    """The last index of a reply that its client sent again before it was recorded."""
    if index == UNKNOWN:
        return None
    held = load_digests(session, index)[: len(reply)]
    said = [digest(one.role, named_by_hash(one.parts)) for one in reply]
    return index + len(reply) - 1 if held == said else None
