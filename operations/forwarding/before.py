"""What is done to a session before a request of it is made, where its policy says so.

Who does it stands above this room, and registers when Django starts.
"""

import logging
import uuid
from collections.abc import Callable

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import DomainError
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.responses import dump
from operations.context.policies import policy_by_id
from operations.domain.context.policy import Pruning
from threads import tokens
from threads.models import Session
from threads.store.selectors import get_session

from .alignment import Inbound

logger = logging.getLogger(__name__)
Prepare = Callable[[Session, Pruning, str, int], object]
"""Makes a session shorter, given its rules, the model, and how many tokens are about to come."""

_preparing: list[Prepare] = []


def register(prepare_session: Prepare) -> None:
    """Let this be done before requests, once."""
    if prepare_session not in _preparing:
        _preparing.append(prepare_session)


def prepare(caller: Caller, session_id: uuid.UUID, inbound: Inbound) -> None:
    """Make a session shorter where it is time; call it outside a transaction.

    A request that only asks changes nothing. What can't be done now is left for the next request.
    """
    if not inbound.append:
        return
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
