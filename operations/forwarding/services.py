"""Rewrites the messages that a client is about to send.

They are aligned with the session's originals: new messages are recorded, and the client's changes
to its own history become operations of the actor `client`. If no other operation applies and the
policy asks for nothing, everything passes as it was given. Otherwise the request is the one that
the context shows (`operations.context.pipeline`), with the client's own messages wherever nothing
touches them. A request that has no part in the session gets a session of its own.
"""

import uuid
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, NamedTuple

from django.db import transaction

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import DomainError
from contextstudio.accounts.domain.rights import Right
from operations.context.inputs import ContextInputs, counter_of
from operations.context.pipeline import keep_epoch
from operations.context.policies import consume_slice
from operations.domain.forwarding.client_entries import RequestDecision
from operations.domain.forwarding.plan import RequestPlan
from operations.domain.forwarding.sent import PieceRun
from operations.domain.forwarding.splice import Raw
from operations.domain.thread.thread import Thread
from operations.log.selectors import History
from operations.messages.plain import learn, plain_after_request, plain_originals
from operations.models import SessionRequest
from threads.domain.formats import READERS
from threads.domain.message import Message
from threads.models import Session
from threads.store.selectors import get_session

from . import alignment, answers, client_edits, continuation
from .alignment import Inbound, RequestAlignment
from .answers import Answer
from .before_lock import PreparedRequest, client_messages, inputs_for
from .outbound import (
    Outbound,
    is_thinking_off,
    keep_last,
    keep_outbound,
    make_outbound,
)
from .reports import OperationOutcomes, operation_outcomes, written_report
from .requests.records import RequestFacts, record_request
from .sent.keeping import NONE_PACKED
from .sessions import (
    conversation_of,
    is_beginning,
    looked_at_side,
    remember,
    side_session,
)

Status = SessionRequest.Status


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedRequest:
    """A client's request as it is to be sent, and where it was recorded."""

    made: Answer
    """What goes out, with a report on it unless the proxy sends it."""
    run: Callable[[int, int], Raw]
    """Returns the client's messages as bytes, from one place to another."""
    system: Any
    """The separate system prompt as it goes out."""
    count: int
    """How many operations apply."""
    session: Session
    """The session that the request belongs to, possibly another than the one it named."""
    request: SessionRequest | None
    """None if nothing was to be recorded."""

    @property
    def answer(self) -> bytes:
        """The answer of `apply` as JSON."""
        return self.made.written(self.run)


class SessionMismatch(DomainError):
    """A request that doesn't continue the session that it was assumed to belong to."""

    status = 409
    default_code = "not_of_session"


def apply(
    caller: Caller,
    session_id: uuid.UUID,
    inbound: Inbound,
    *,
    absent: int | None = None,
    prepared: PreparedRequest | None = None,
) -> AppliedRequest:
    """Rewrite a client's messages, and report what was done to them.

    Untouched messages go out as the bytes that came in. If `append` is set, new messages and the
    client's changes to its history are recorded first. `prepared` holds what was computed before
    the lock. `absent` is given if the session was only guessed from how the request begins; it is
    how many originals were absent from the last request. Raises SessionMismatch if more are absent
    now, and Invalid (`refused`) if the provider would accept no form of the request.
    """
    started = perf_counter() - (prepared.seconds if prepared else 0)
    # Without `append` no lock is needed: what was read of a session stays valid.
    with transaction.atomic() if inbound.append else nullcontext():
        right = Right.OWN_SESSION if inbound.append else Right.READ
        session = get_session(caller, session_id, right, lock=inbound.append)
        if prepared is not None and not prepared.is_for(session):
            prepared = None
        session, aligned, decision = _align(caller, session, inbound, absent, prepared)
        if inbound.append:
            _note_model(session, inbound)
        made = _make_answer(caller, session, inbound, aligned, prepared)
        facts = replace(made.facts, decision=decision)
        request = None
        if inbound.append:
            remember(caller, session, aligned)
            facts = replace(facts, prepared_ms=(perf_counter() - started) * 1000)
            request = record_request(session, caller, facts)
        if inbound.append or not (aligned.is_side or aligned.plan.records):
            alignment.keep(session, inbound, aligned.plan)
            if inbound.raw is not None:
                continuation.keep(
                    caller.actor, session, inbound.raw, aligned.plan.absent
                )
            if not inbound.is_forwarded:
                _keep(session, inbound, made)
    return AppliedRequest(
        made=made.answer,
        run=made.run,
        system=made.system,
        count=facts.applied,
        session=_saved(session),
        request=request,
    )


def _saved(session: Session) -> Session:
    """A session, or in place of one that isn't saved the session that it would belong to."""
    return session.parent if session.parent and session._state.adding else session


def _note_model(session: Session, inbound: Inbound) -> None:
    """Store which model is used and whether it can recall, for views of what it sees."""
    found = inbound.model[:128] or session.model, inbound.can_recall
    if found != (session.model, session.can_recall):
        session.model, session.can_recall = found
        session.save(update_fields=["model", "can_recall"])


def _align(
    caller: Caller,
    session: Session,
    inbound: Inbound,
    absent: int | None,
    prepared: PreparedRequest | None,
) -> tuple[Session, RequestAlignment, RequestDecision]:
    """The session that a request belongs to, its alignment there, and how it relates to it."""
    aligned = (
        prepared.aligned if prepared else alignment.align_request(session, inbound)
    )
    if absent is not None and (
        aligned.plan.absent > absent or not aligned.is_continuation
    ):
        raise SessionMismatch("The request is not of this session.")
    if not aligned.is_side:
        return session, aligned, aligned.plan.decision
    if not inbound.append:
        own = looked_at_side(caller, session, inbound)
        return own, alignment.align_request(own, inbound), RequestDecision.LINKED
    if is_beginning(session, inbound):
        own = conversation_of(caller, session, inbound)
        if own != session:
            session, aligned = own, alignment.align_request(own, inbound)
        return session, aligned, aligned.plan.decision
    own = side_session(caller, session, inbound)
    aligned, count = alignment.align_request(own, inbound), own.message_count
    return own, aligned, aligned.plan.decision if count else RequestDecision.LINKED


class _RecordedRequest(NamedTuple):
    """The thread of a request, and what was recorded of the request."""

    history: History
    thread: Thread
    plan: RequestPlan
    held: int
    """The number of originals, including messages recorded from the request."""
    new: Sequence[Message]
    """The request's messages that are not recorded, which follow the originals."""


class _MadeAnswer(NamedTuple):
    """An answer with its facts and inputs."""

    answer: Answer
    facts: RequestFacts
    inputs: ContextInputs
    run: Callable[[int, int], Raw]
    """Returns the client's messages as bytes, from one place to another."""
    system: Any


def _make_answer(
    caller: Caller,
    session: Session,
    inbound: Inbound,
    aligned: RequestAlignment,
    prepared: PreparedRequest | None,
) -> _MadeAnswer:
    """Record what there is to record, and make the request from the thread."""
    history, thread, plan, held, new = _record(session, inbound, aligned, prepared)
    plain = plain_originals(session) if held else ()
    inputs = inputs_for(
        caller, session, inbound, thread, held=held, new=new, plain=plain
    )
    is_made = prepared is not None and prepared.has_same_inputs(inputs)
    sent = (
        prepared.sent
        if prepared and is_made
        else make_outbound(inputs, inbound, plan.units)
    )
    if inputs.preference and inbound.append:
        consume_slice(session, caller.actor)
    outcomes, run = (
        operation_outcomes(session, history, thread),
        client_messages(inbound),
    )
    report = b""
    if not inbound.is_forwarded:
        off = is_thinking_off(inbound, sent)
        report = written_report(
            _saved(session), outcomes, sent, inputs.layers, is_thinking_off=off
        )
    answer = Answer(splice=sent.splice, report=report)
    runs: Sequence[PieceRun] = ()
    if inbound.append:
        count = counter_of(session.encoding)
        packed = prepared.packed if prepared else NONE_PACKED
        runs = keep_outbound(session, inbound, sent, run, count, packed)
        keep_last(inputs, inbound, sent)
        if sent.drafted is not None:
            keep_epoch(inputs, sent.drafted, is_closed=sent.is_closed)
    facts = _facts(inbound, plan, outcomes, sent, runs)
    return _MadeAnswer(answer, facts, inputs, run, sent.system)


def _record(
    session: Session,
    inbound: Inbound,
    aligned: RequestAlignment,
    prepared: PreparedRequest | None,
) -> _RecordedRequest:
    """Record a request's changes if `append` is set, and replay the log over it."""
    plan, new, count = aligned.plan, aligned.new, session.message_count
    tags = inbound.active_tags
    if inbound.append:
        ready = prepared.ready if prepared else None
        history, thread = client_edits.record(session, aligned, tags, ready)
        leaves, said = thread.leaves, aligned.said
        learn(
            session,
            prepared.plain
            if prepared
            else plain_after_request(session, leaves, said, new),
        )
        return _RecordedRequest(history, thread, plan, session.message_count, ())
    history, thread = client_edits.preview(session, aligned, tags)
    return _RecordedRequest(history, thread, plan, count, new)


def _facts(
    inbound: Inbound,
    plan: RequestPlan,
    outcomes: OperationOutcomes,
    sent: Outbound,
    runs: Sequence[PieceRun],
) -> RequestFacts:
    """The facts that are recorded of a request."""
    return RequestFacts(
        door=inbound.door,
        format=inbound.format,
        decision=plan.decision,
        messages=plan.known + plan.unknown + len(plan.appended),
        known=plan.known,
        new=len(plan.appended),
        unknown=plan.unknown,
        absent=plan.absent,
        tools=len(inbound.tools),
        model=inbound.model,
        client=inbound.client,
        edits=[change._asdict() for change in plan.changes],
        applied=len(outcomes.applied),
        suspended=dict(outcomes.reasons),
        tokens_before=sent.before,
        tokens_after=sent.after,
        sent=[[run.start, run.end] for run in runs],
        has_prompt=any(READERS[inbound.format].read_system(inbound.system)),
        # The proxy sends it immediately.
        status=Status.SENT if inbound.is_forwarded else Status.PREPARED,
    )


def _keep(session: Session, inbound: Inbound, made: _MadeAnswer) -> None:
    """Cache the answer in case the request is repeated."""
    if inbound.raw is None or made.inputs.preference:
        return
    kept = answers.CachedAnswer(
        answer=made.answer,
        policy=made.inputs.policy,
        layers=made.inputs.layers,
        can_recall=made.inputs.can_recall,
        facts=made.facts,
    )
    answers.keep(session, inbound.raw, kept)
