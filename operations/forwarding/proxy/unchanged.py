"""Requests that go out unchanged, without any operation.

If a request can't be rewritten, the session's policy (or its project's, if it has no session yet)
says whether it goes out as it came. It never does while a redaction is in force, because what
that hides would go out with it.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from contextstudio.accounts.domain.errors import DomainError
from contextstudio.accounts.domain.rights import Right
from operations.context.policies import default_policy, policy_of
from operations.domain.forwarding.client_entries import RequestDecision
from operations.domain.log.operation import Redact
from operations.forwarding.requests import records
from operations.log.selectors import load_history
from operations.models import LogEntry, SessionRequest
from threads.domain.body import digest
from threads.domain.formats import READERS
from threads.domain.message import Message
from threads.models import Session
from threads.sessions.services import append_messages
from threads.store.originals import load_digests
from threads.store.recording import named_by_hash
from threads.store.selectors import get_session

from . import names, sessions
from .bodies import CONVERSATION, PREVIOUS_RESPONSE, ForwardedBody, Rewritten
from .incoming import ProxiedRequest
from .recording import UNKNOWN

logger = logging.getLogger(__name__)
_UNCHANGED = b"The request could not be rewritten and went out as it came."
_REFUSALS = frozenset({401, 403, 404, 413, 415})
"""Statuses that are always refused, because the caller or the request is at fault."""


class RedactionMayApply(DomainError):
    """A request that would go out unchanged although a redaction may hide something in it."""

    status = 409
    default_code = "may_hide"


class ThreadNotFound(DomainError):
    """A request that continues a thread of Anthropic's and contains only the new messages.

    A client must be able to send all of it at any time, because a thread lasts only minutes.
    """

    status = 404
    default_code = "thread_not_found"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRequest:
    """A request and its session."""

    session: Session | None
    """None if the session couldn't be determined and the request is sent anyway."""
    body: ForwardedBody
    """The body as the client sent it, plus the answers to calls of our tools."""
    rewritten: Rewritten
    request: SessionRequest | None
    """None if nothing was recorded of it."""
    count: int
    """The index that the reply will have; `UNKNOWN` if that can't be determined."""
    note: bytes = b""


def unchanged_request(
    proxied: ProxiedRequest,
    body: ForwardedBody,
    session: Session | None,
    error: Exception,
) -> FoundRequest:
    """The request unchanged, if the policy allows it and no redaction may hide anything in it.

    Otherwise raises the given error. A request without a session is not recorded.
    """
    if isinstance(error, DomainError) and error.status in _REFUSALS:
        raise error
    policy = policy_of(session) if session else default_policy(proxied.project)
    if not policy.fails_open or _may_hide(proxied, session):
        raise error
    if not isinstance(error, DomainError):
        logger.error("A request was not rewritten", exc_info=error)
    request = None
    if session is not None and proxied.is_recorded:
        request = _record(proxied, body, session, f"Sent as it came: {error}")
    return FoundRequest(
        session=session,
        body=body,
        rewritten=Rewritten({}, 0),
        request=request,
        count=UNKNOWN,
        note=_UNCHANGED,
    )


def _may_hide(proxied: ProxiedRequest, session: Session | None) -> bool:
    """Whether a redaction hides something that the request may contain.

    A request of unknown session may belong to any session to which its caller sends requests,
    except deleted ones: what continues one of those starts anew.
    """
    if session is not None:
        return bool(session.head and load_history(session).log.masks)
    mine = Session.objects.filter(
        project=proxied.project,
        openings__actor=proxied.caller.actor,
        head__gt=0,
        deleted_at=None,
    )
    return LogEntry.objects.filter(kind=Redact.kind, session__in=mine).exists()


def note_of(body: ForwardedBody) -> bytes:
    """The note to the client about a request that names something not known here."""
    return _not_known(body).encode() + b" No operation acts on it."


def _not_known(body: ForwardedBody) -> str:
    member = body.names_kept
    if member == CONVERSATION:
        return f"Sent as it came: the provider keeps this conversation ({member})."
    return (
        f"Sent as it came: it refers to messages that only the provider has ({member})."
    )


@transaction.atomic
def stateful_request(
    proxied: ProxiedRequest, body: ForwardedBody
) -> FoundRequest | None:
    """Handle a request that names what only its provider has; None if it isn't recorded.

    Such a request can't be rewritten. If it continues the last response of a session, or belongs
    to a conversation that its provider keeps, its messages are recorded. Raises RedactionMayApply.
    """
    session = _session_kept(proxied, body)
    if _repeats(body) and _may_hide(proxied, session):
        raise RedactionMayApply(
            "The request refers to messages that only the provider has, and a redaction is in "
            "force: they might show what it masks. Send all messages in full, with store: false.",
            at=[body.names_kept],
        )
    logger.info("A request was not rewritten. %s", _not_known(body))
    if session is None or not body.is_continuation or not proxied.is_recorded:
        return None
    said = READERS[proxied.route.form].read(
        body.value[body.names.messages], slice(0, None)
    )
    if not _is_said(session, said):
        session = append_messages(proxied.caller, session.pk, said)
    request = _record(proxied, body, session, _not_known(body))
    return FoundRequest(
        session=session,
        body=body,
        rewritten=Rewritten({}, 0),
        request=request,
        count=session.message_count,
        note=note_of(body),
    )


def _session_kept(proxied: ProxiedRequest, body: ForwardedBody) -> Session | None:
    """The session that a request continues; a provider's conversation gets a new one if needed."""
    caller, project = proxied.caller, proxied.project
    name = proxied.name if proxied.names_session else None
    found = sessions.named_session(caller, project, name) if name else None
    if not (given := body.value.get(CONVERSATION)):
        if body.is_continuation:
            reply = body.value.get(PREVIOUS_RESPONSE)
            return sessions.session_of_reply(caller, project, reply, found)
        return found
    called = b"conversation\0" + _id_of(given).encode("utf-8", "surrogatepass")
    if not name:
        found = names.session_of_conversation(caller, project, called)
    if found is not None or not proxied.is_recorded:
        return found
    drafted = sessions.drafted(
        caller,
        project,
        form=proxied.route.form,
        model=proxied.model(body),
        name=name,
        client=proxied.incoming.header(b"user-agent"),
    )
    session = sessions.begin(caller, drafted)
    if not name:
        names.remember(caller, called, session, is_new=True)
    return session


def _id_of(conversation: object) -> str:
    given = conversation.get("id") if isinstance(conversation, dict) else conversation
    return given if isinstance(given, str) else ""


def _repeats(body: ForwardedBody) -> bool:
    """Whether a request contains more than what is new: the model's messages, or names of them."""
    for item in body.value[body.names.messages]:
        is_answer = str(item.get("type")).endswith("_output")
        if item.get("role", "assistant") == "assistant" and not is_answer:
            return True
    return False


def _is_said(session: Session, said: Sequence[Message]) -> bool:
    """Whether a session ends with these messages: a client repeats a request that got no answer."""
    start = session.message_count - len(said)
    given = [digest(one.role, named_by_hash(one.parts)) for one in said]
    return start >= 0 and load_digests(session, start) == given


@transaction.atomic
def _record(
    proxied: ProxiedRequest, body: ForwardedBody, session: Session, error: str
) -> SessionRequest:
    """Record a request that was not rewritten."""
    locked = get_session(proxied.caller, session.pk, Right.OWN_SESSION, lock=True)
    request = records.record_request(
        locked,
        proxied.caller,
        records.RequestFacts(
            door="proxy",
            format=proxied.route.form,
            decision=RequestDecision.EXTENDED,
            messages=len(body.messages),
            known=0,
            model=proxied.model(body),
            client=proxied.incoming.header(b"user-agent"),
            tools=len(body.tools),
        ),
    )
    records.finish_request(
        request.pk, records.ReplyFacts(status=SessionRequest.Status.SENT, error=error)
    )
    return request
