"""Requests that go out as they came: no operation acts on them.

Where a request can't be rewritten, the session's policy says whether it goes out as it came, and
its project's where it has no session yet. It never does where a redaction is in force: what that
hides would go out with it.
"""

import logging
from dataclasses import dataclass

from django.db import transaction

from contextstudio.accounts.domain.errors import DomainError
from contextstudio.accounts.domain.rights import Right
from operations.context.policies import default_policy, policy_of
from operations.domain.forwarding.plan import RequestDecision
from operations.domain.log.operation import Redact
from operations.forwarding.requests import records
from operations.log.selectors import load_history
from operations.models import LogEntry, SessionRequest
from threads.domain.formats import READERS
from threads.models import Session
from threads.sessions.services import append_messages
from threads.store.selectors import get_session

from . import sessions
from .bodies import ForwardedBody, Rewritten
from .incoming import Asked
from .recording import UNKNOWN
from .routes import RequestKind

logger = logging.getLogger(__name__)
STATEFUL = (
    b"The provider keeps this conversation (previous_response_id): "
    b"the request went out as it came, and no operation acts on it."
)
_AS_IT_CAME = b"The request could not be rewritten and went out as it came."
_REFUSALS = frozenset({401, 403, 404, 413, 415})
"""What is refused whatever the policy: the caller, or the request, is at fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRequest:
    """A request in its session."""

    session: Session | None
    """None where it could not be said which, and the request goes out all the same."""
    body: ForwardedBody
    """As the client sent it, with what was answered for it."""
    rewritten: Rewritten
    request: SessionRequest | None
    """None where nothing was recorded of it."""
    count: int
    """The index that the reply will have; `UNKNOWN` where that can't be said."""
    note: bytes = b""


def failed(
    asked: Asked, body: ForwardedBody, session: Session | None, error: Exception
) -> FoundRequest:
    """The request as it came, where the policy says so and nothing of it is to be hidden.

    Else what went wrong is raised. One without a session is recorded nowhere.
    """
    if isinstance(error, DomainError) and error.status in _REFUSALS:
        raise error
    policy = policy_of(session) if session else default_policy(asked.project)
    if not policy.fails_open or _may_hide(asked, session):
        raise error
    if not isinstance(error, DomainError):
        logger.error("A request was not rewritten", exc_info=error)
    request = None
    if session is not None and asked.route.kind is RequestKind.REPLY:
        request = _record(asked, body, session, f"Sent as it came: {error}")
    return FoundRequest(
        session=session,
        body=body,
        rewritten=Rewritten({}, 0),
        request=request,
        count=UNKNOWN,
        note=_AS_IT_CAME,
    )


def _may_hide(asked: Asked, session: Session | None) -> bool:
    """Whether a redaction hides something that a request may say.

    One whose session is not known may be of any that its caller sends requests to.
    """
    if session is not None:
        return bool(session.head and load_history(session).log.masks)
    mine = Session.objects.filter(
        project=asked.project, openings__actor=asked.caller.actor, head__gt=0
    )
    return LogEntry.objects.filter(kind=Redact.kind, session__in=mine).exists()


@transaction.atomic
def stateful(asked: Asked, body: ForwardedBody) -> FoundRequest | None:
    """A request that goes on from what the provider keeps: only what is new comes with it.

    It can't be rewritten. Where the response that it names is the last that a session has, its
    messages go on there.
    """
    session = sessions.session_of_reply(
        asked.caller, asked.project, body.continues or ""
    )
    if session is None:
        return None
    reader = READERS[asked.route.form]
    said = reader.read(body.value[body.names.messages], slice(0, None))
    session = append_messages(asked.caller, session.pk, said)
    request = _record(asked, body, session, "")
    return FoundRequest(
        session=session,
        body=body,
        rewritten=Rewritten({}, 0),
        request=request,
        count=session.message_count,
        note=STATEFUL,
    )


@transaction.atomic
def _record(
    asked: Asked, body: ForwardedBody, session: Session, error: str
) -> SessionRequest:
    """Keep a request that was not rewritten."""
    locked = get_session(asked.caller, session.pk, Right.OWN_SESSION, lock=True)
    request = records.record_request(
        locked,
        asked.caller,
        records.RequestFacts(
            door="proxy",
            format=asked.route.form,
            decision=RequestDecision.EXTENDED,
            messages=len(body.messages),
            known=0,
            model=asked.model(body),
            client=asked.incoming.header(b"user-agent"),
            tools=len(body.tools),
        ),
    )
    records.finish_request(
        request.pk, records.ReplyFacts(status=SessionRequest.Status.SENT, error=error)
    )
    return request
