"""The work done for a request before its session is locked.

A session is pruned first if its policy says so; the pruner belongs to an app above this one,
which registers it when Django starts. For a long request, everything slow is done in advance:
reading ten thousand messages, counting them and packing what goes out takes seconds, for which
every other writer would wait. It assumes that the session stays as it is. Under the lock the
result is used if that is true; otherwise the work is done again.
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
from operations.domain.providers.plain import UnreadMessage
from operations.domain.thread.thread import Thread
from operations.log.cache import SessionVersion, version_of
from operations.messages.plain import plain_after_request
from operations.messages.reader import MessageReader
from threads import tokens
from threads.domain.message import Message
from threads.models import Session
from threads.sessions.services import title_for
from threads.store.recording import ReadyBatch, prepare_and_count
from threads.store.selectors import get_session

from . import alignment, client_edits
from .alignment import Inbound, RequestAlignment
from .outbound import Outbound, make_outbound
from .sent.keeping import PackedMessages, packed_messages

logger = logging.getLogger(__name__)
Prepare = Callable[[Session, Pruning, str, int], object]
"""Prunes a session, given its rules, the model, and approximately how many tokens the request
adds."""

LONG = 1 << 16
"""A request is long if it has this many bytes more than its session's last one. Reading and
counting these takes longer than loading the session a second time."""

_pruners: list[Prepare] = []


def register(prepare_session: Prepare) -> None:
    """Register a pruner to be called before requests; registering it twice has no effect."""
    if prepare_session not in _pruners:
        _pruners.append(prepare_session)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedRequest:
    """The results computed for a request before its lock."""

    version: SessionVersion
    """The version of the session for which they are valid."""
    aligned: RequestAlignment
    ready: Sequence[ReadyBatch]
    """The new messages, ready to be recorded; they can be used only once."""
    plain: Sequence[UnreadMessage | None]
    """What will then be known of the session's messages without reading them."""
    inputs: ContextInputs
    sent: Outbound
    """What goes out, valid if `has_same_inputs` is true."""
    packed: PackedMessages
    seconds: float
    """How long the work took."""

    def is_for(self, session: Session) -> bool:
        """Whether a session is unchanged."""
        return self.version == version_of(session)

    def has_same_inputs(self, inputs: ContextInputs) -> bool:
        """Whether the rest of what the request depends on is unchanged, such as the policy."""
        then = self.inputs
        return (
            (then.policy, then.preference) == (inputs.policy, inputs.preference)
            and then.epochs == inputs.epochs
            and list(then.layers) == list(inputs.layers)
            and then.session.title == inputs.session.title
        )


def prepare(
    caller: Caller, session_id: uuid.UUID, inbound: Inbound
) -> PreparedRequest | None:
    """Prune the session if it is time, and do the slow part of a long request for `apply`.

    Call it outside a transaction. Nothing is done for a request with `append` off, since it
    changes nothing. If a prune fails, it is left to the next request. Raises what `apply` does.
    """
    if not inbound.append:
        return None
    _prune_if_due(caller, session_id, inbound)
    if not _is_long(inbound):
        return None
    session = get_session(caller, session_id, Right.OWN_SESSION)
    return _prepared_request(caller, session, inbound)


def prepare_first(
    caller: Caller, drafted: Session, inbound: Inbound
) -> PreparedRequest | None:
    """The same for the first request of a session that isn't saved yet."""
    return (
        _prepared_request(caller, copy(drafted), inbound) if _is_long(inbound) else None
    )


def _prepared_request(
    caller: Caller, session: Session, inbound: Inbound
) -> PreparedRequest | None:
    """Do the slow part of a request; sets the title that the request would give to `session`."""
    started, version = perf_counter(), version_of(session)
    aligned = alignment.align_request(session, inbound)
    if aligned.is_side:
        return None
    new = aligned.new
    ready, weights = prepare_and_count(session.project_id, session.encoding, new)
    _, thread = client_edits.preview(session, aligned, inbound.active_tags, weights)
    session.title = title_for(session, new)
    known = plain_after_request(session, thread.leaves, aligned.said, new)
    held = session.message_count
    inputs = inputs_for(
        caller, session, inbound, thread, held=held, new=new, plain=known
    )
    sent = make_outbound(inputs, inbound, aligned.plan.units)
    return PreparedRequest(
        version=version,
        aligned=aligned,
        ready=ready,
        plain=known,
        inputs=inputs,
        sent=sent,
        packed=packed_messages(sent.blocks, client_messages(inbound)),
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
    plain: Sequence[UnreadMessage | None],
) -> ContextInputs:
    """The inputs of a request, given its thread.

    `new` are its messages that are not recorded yet, after the `held` originals. `plain` holds
    what is known of messages without reading them.
    """
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


def client_messages(inbound: Inbound) -> Callable[[int, int], Raw]:
    """A function that returns the client's messages from one place to another, as they came in."""
    if inbound.raw is not None:
        return inbound.raw.run
    messages = [dump(message) for message in inbound.messages]
    return lambda start, end: b",".join(messages[start:end])


def _is_long(inbound: Inbound) -> bool:
    raw = inbound.raw
    if raw is None:
        return False
    known = raw.known_beginning.length if raw.known_beginning else 0
    return len(raw.body) - known >= LONG


def _prune_if_due(caller: Caller, session_id: uuid.UUID, inbound: Inbound) -> None:
    rules = policy_by_id(session_id).pruning
    if rules is None or not rules.automatic:
        return
    session = get_session(caller, session_id, Right.OWN_SESSION)
    if not session.message_count:
        return
    try:
        for prepare_session in _pruners:
            model = inbound.model or session.model
            more = _estimated_growth(session, inbound)
            prepare_session(session, rules, model, more)
    except DomainError:
        logger.warning("A session was not pruned before a request.", exc_info=True)


def _estimated_growth(session: Session, inbound: Inbound) -> int:
    """Approximately how many tokens a request adds to its session.

    It isn't aligned yet, so this counts the JSON of the messages beyond the number held.
    """
    start = max(0, session.message_count - 1)
    new = [inbound.messages[place] for place in range(start, len(inbound.messages))]
    return sum(tokens.count_many(dump(message).decode() for message in new))
