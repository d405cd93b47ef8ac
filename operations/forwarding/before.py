"""What comes before a request of a session is made under its lock.

Where its policy says so the session is made shorter; who does that stands above this room, and
registers when Django starts. And what takes long of a long request is worked out. To read ten
thousand messages, count them and pack what goes out takes seconds, for which whoever else writes
would wait. So it is done first, as if the session stayed as it is. Under the lock it is taken
where the session did, and is done again where it didn't.
"""

import logging
import uuid
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from time import perf_counter

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import DomainError
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.responses import dump
from operations.context.inputs import ContextInputs, inputs_of
from operations.context.policies import policy_by_id
from operations.domain.context.policy import Pruning
from operations.domain.forwarding.splice import Raw
from operations.domain.providers.plain import Unread
from operations.domain.thread.thread import Thread
from operations.log.cache import SessionVersion, version_of
from operations.messages.plain import learnt
from operations.messages.reader import MessageReader
from threads import tokens
from threads.domain.message import Message
from threads.models import Session
from threads.sessions.services import name_of
from threads.store.recording import ReadyBatch, weighed
from threads.store.selectors import get_session

from . import alignment, client_edits
from .alignment import Inbound, RequestAlignment
from .outbound import Outbound, outbound
from .sent.keeping import PackedMessages, packed_messages

logger = logging.getLogger(__name__)
Prepare = Callable[[Session, Pruning, str, int], object]
"""Makes a session shorter, given its rules, the model, and how many tokens are about to come."""

LONG = 1 << 16
"""Bytes of a request that its session's last one didn't have, from which on it is long: to read
and count so many takes longer than to look twice at the session."""

_preparing: list[Prepare] = []


def register(prepare_session: Prepare) -> None:
    """Let this be done before requests, once."""
    if prepare_session not in _preparing:
        _preparing.append(prepare_session)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkedOut:
    """What was worked out of a request."""

    version: SessionVersion
    """The one of its session that it holds for."""
    aligned: RequestAlignment
    ready: Sequence[ReadyBatch]
    """What is new, as it is recorded; of use once."""
    learnt: Sequence[Unread | None]
    """What of its messages is known from then on without their words."""
    inputs: ContextInputs
    sent: Outbound
    """What goes out, if the request is still made of the same."""
    packed: PackedMessages
    seconds: float
    """What it took."""

    def is_of(self, session: Session) -> bool:
        """Whether a session is still as it was."""
        return self.version == version_of(session)

    def is_made_of(self, inputs: ContextInputs) -> bool:
        """Whether what the request is made of besides the thread is still the same."""
        then = self.inputs
        return (
            (then.policy, then.preference) == (inputs.policy, inputs.preference)
            and list(then.layers) == list(inputs.layers)
            and then.session.title == inputs.session.title
        )


def prepare(
    caller: Caller, session_id: uuid.UUID, inbound: Inbound
) -> WorkedOut | None:
    """Do what comes before a request of a session; call it outside a transaction.

    The session is made shorter where it is time. What can be known of the request by then is
    worked out, where it is long: `apply` takes it. A request that only asks changes nothing, and
    what can't be done now is left for the next one. Raises what `apply` does.
    """
    if not inbound.append:
        return None
    _make_shorter(caller, session_id, inbound)
    if not _is_long(inbound):
        return None
    session = get_session(caller, session_id, Right.OWN_SESSION)
    return _worked_out(caller, session, inbound)


def work_out_first(
    caller: Caller, drafted: Session, inbound: Inbound
) -> WorkedOut | None:
    """What can be known by now of the first request of a session that isn't saved yet."""
    return _worked_out(caller, copy(drafted), inbound) if _is_long(inbound) else None


def _worked_out(caller: Caller, session: Session, inbound: Inbound) -> WorkedOut | None:
    """`session` is changed to what it would be."""
    started, version = perf_counter(), version_of(session)
    aligned = alignment.align_request(session, inbound)
    if aligned.is_side:
        return None
    new = aligned.new
    ready, weights = weighed(session.project_id, session.encoding, new)
    _, thread = client_edits.tried(session, aligned, inbound.active_tags, weights)
    session.title = name_of(session, new)
    known = learnt(session, thread.leaves, aligned.said, new)
    held = session.message_count
    inputs = inputs_for(
        caller, session, inbound, thread, held=held, new=new, plain=known
    )
    sent = outbound(inputs, inbound, aligned.plan.units)
    return WorkedOut(
        version=version,
        aligned=aligned,
        ready=ready,
        learnt=known,
        inputs=inputs,
        sent=sent,
        packed=packed_messages(sent.blocks, given(inbound)),
        seconds=perf_counter() - started,
    )


def inputs_for(
    caller: Caller,
    session: Session,
    inbound: Inbound,
    thread: Thread,
    *,
    held: int,
    new: Sequence[Message] = (),
    plain: Sequence[Unread | None],
) -> ContextInputs:
    """What a request is made of, given its thread, what of that isn't recorded, and what is known
    of its messages without their words."""
    return inputs_of(
        session,
        MessageReader(session, thread, held=held, inbound=new),
        inbound.format,
        model=inbound.model,
        tools=inbound.tools,
        encoding=session.encoding,
        actor=caller.actor,
        can_recall=inbound.can_recall,
        plain=plain,
    )


def given(inbound: Inbound) -> Callable[[int, int], Raw]:
    """What gives the client's messages, from one place to another, as they came in."""
    if inbound.raw is not None:
        return inbound.raw.run
    messages = [dump(message) for message in inbound.messages]
    return lambda start, end: b",".join(messages[start:end])


def _is_long(inbound: Inbound) -> bool:
    raw = inbound.raw
    if raw is None:
        return False
    known = raw.goes_on_from.length if raw.goes_on_from else 0
    return len(raw.body) - known >= LONG


def _make_shorter(caller: Caller, session_id: uuid.UUID, inbound: Inbound) -> None:
    rules = policy_by_id(session_id).pruning
    if rules is None or not rules.automatic:
        return
    session = get_session(caller, session_id, Right.OWN_SESSION)
    if not session.message_count:
        return
    try:
        for prepare_session in _preparing:
            model = inbound.model or session.model
            more = _about_to_come(session, inbound)
            prepare_session(session, rules, model, more)
    except DomainError:
        logger.warning("A session was not pruned before a request.", exc_info=True)


def _about_to_come(session: Session, inbound: Inbound) -> int:
    """About how many tokens a request has beyond what the session holds.

    What aligns isn't known yet: a message more or less, and their JSON, is near enough.
    """
    start = max(0, session.message_count - 1)
    new = [inbound.messages[place] for place in range(start, len(inbound.messages))]
    return sum(tokens.count_many(dump(message).decode() for message in new))
