"""Rewrites a conversation's request: finds its session and applies the operations."""

import logging
import uuid
from collections.abc import Sequence
from contextlib import nullcontext
from typing import NamedTuple

import msgspec
from django.db import DatabaseError, transaction

from contextstudio.accounts.domain.errors import DomainError
from contextstudio.accounts.domain.rights import Right
from operations.forwarding import before_lock, continuation
from operations.forwarding.alignment import Inbound, align_request
from operations.forwarding.services import AppliedRequest, apply
from operations.forwarding.sessions import session_for
from operations.forwarding.toolbox import RECALL, OfferedTool
from operations.log.selectors import load_history
from threads.domain.formats import READERS
from threads.domain.transcript import Relation
from threads.models import Session
from threads.store.selectors import get_session

from . import bodies, names, sessions, unchanged
from .bodies import ForwardedBody, Rewritten
from .headers import Header
from .incoming import ProxiedRequest
from .recording import UNKNOWN, Exchange
from .references.expanding import ExpandedBody, expand_references
from .tools import offering, rounds
from .unchanged import FoundRequest

logger = logging.getLogger(__name__)
NOTE = b"x-contextstudio-note"
SESSION_NOTE = b"x-contextstudio-session"
_THINKING_OFF = (
    b"Thinking is off in this request, because an operation made the thinking of the response in "
    b"progress invalid."
)


class RewrittenRequest(NamedTuple):
    """A request as it goes out."""

    body: bytes
    exchange: Exchange | None = None
    """Where its reply is recorded."""
    notes: Sequence[Header] = ()
    """Notes to the client, as headers."""
    offered: frozenset[str] = frozenset()
    """The tools of ours that were added."""
    before: int = 0
    """How many messages come from the response that it continues."""
    is_stream: bool = False
    """Whether it asks for a stream of events."""


def rewrite(proxied: ProxiedRequest) -> RewrittenRequest:
    """What to send for a conversation; its session holds the messages by then.

    A request that only counts tokens, or has no messages, makes no session and records nothing.
    Raises Invalid for a body without a conversation or an impossible session name, ThreadNotFound
    for a body with only the new messages of a thread, and what `apply` does if the policy says
    so.
    """
    proxied.check_name()
    found = _continued(proxied)
    if found is None:
        body = bodies.read_body(proxied.route.form, proxied.incoming.body)
        if body.continues_thread:
            raise unchanged.ThreadNotFound(
                "ContextStudio sends whole conversations. Send all messages again, with "
                'the thread {"type": "create"} or without any.',
                at=["thread"],
            )
        if body.says_nothing:
            proxied = proxied.unrecorded()
        found = _find(proxied, body)
        if found is None:
            sent_as_is = _write_body(proxied, body, Rewritten({}, 0))
            return RewrittenRequest(sent_as_is, notes=_notes(body))
    tools = _offered(proxied, found)
    sent = _write_body(proxied, found.body, found.rewritten, tools)
    notes = [(NOTE, found.note)] if found.note else []
    if bodies.THINKING in found.rewritten.changes:
        notes.append((NOTE, _THINKING_OFF))
    if found.session is not None:
        notes.append((SESSION_NOTE, str(found.session.pk).encode()))
    if found.session is None or found.request is None:
        return RewrittenRequest(sent, notes=notes)
    exchange = Exchange(
        caller=proxied.caller,
        session_id=found.session.pk,
        request_id=found.request.pk,
        count=found.count,
        provider=proxied.route.provider,
        model=proxied.model(found.body),
        is_named=proxied.route.form == "openai-responses",
        is_rewritten=found.rewritten.acts,
        is_background=found.body.is_background and found.count != UNKNOWN,
    )
    offered = frozenset(tool.name for tool in tools)
    return RewrittenRequest(
        sent,
        exchange,
        notes,
        offered,
        found.body.before,
        is_stream=found.body.value.get("stream") is True,
    )


def _offered(proxied: ProxiedRequest, found: FoundRequest) -> list[OfferedTool]:
    """The tools to add to a request; none for side calls, which need nothing from them."""
    if found.note or found.session is None:
        return []
    if found.session.relation == Relation.SIDE_CALL:
        return []
    return offering.addable_tools(found.body, proxied.tools)


def _write_body(
    proxied: ProxiedRequest,
    body: ForwardedBody,
    found: Rewritten,
    tools: Sequence[OfferedTool] = (),
) -> bytes:
    changes = dict(found.changes)
    if tools:
        changes |= offering.body_changes(body, tools, calls=proxied.may_call)
    if proxied.target.model and "model" in body.members:
        changes["model"] = msgspec.json.encode(proxied.target.model)
    return body.written(changes)


def _notes(body: ForwardedBody) -> Sequence[Header]:
    return [(NOTE, unchanged.note_of(body))] if body.names_kept else []


def _continued(proxied: ProxiedRequest) -> FoundRequest | None:
    """A request that starts with the exact bytes of its session's last one; only the rest is read.

    None if there is no such session, or if anything is unusual: the request is then read whole,
    which gives the same result or says what is wrong.
    """
    if proxied.tools or proxied.answered_in or not proxied.is_recorded:
        return None
    form, raw = proxied.route.form, proxied.incoming.body
    marks = bodies.marks_of(form, proxied.tags, append=True)
    known = continuation.find_beginning(_recent_sessions(proxied, marks), marks, raw)
    if known is None:
        return None
    session_id, last = known
    try:
        body = bodies.read_rest(form, raw, last.beginning)
        if body is None or body.is_continuation or body.names_kept:
            return None
        inbound = _inbound(proxied, body)
        prepared = before_lock.prepare(proxied.caller, session_id, inbound)
        with transaction.atomic():
            absent = None if proxied.names_session else last.absent
            applied = apply(
                proxied.caller, session_id, inbound, absent=absent, prepared=prepared
            )
            return _found_request(applied, body, bodies.rewritten(body, applied))
    except (DatabaseError, MemoryError):
        raise
    except Exception as error:  # whatever it is, the request is read whole
        if not isinstance(error, DomainError):
            logger.warning("The rest of a request was not read", exc_info=error)
        return None


def _recent_sessions(proxied: ProxiedRequest, marks: bytes) -> Sequence[uuid.UUID]:
    """The session that a request names, or else those of its caller's last requests."""
    if proxied.names_session:
        session = sessions.named_session(proxied.caller, proxied.project, proxied.name)
        return [] if session is None else [session.pk]
    if called := proxied.conversation():
        known = names.likely_session(proxied.caller, proxied.project, called)
        return [] if known is None else [known]
    return continuation.latest_sessions(proxied.caller.actor, proxied.project.pk, marks)


def _find(proxied: ProxiedRequest, body: ForwardedBody) -> FoundRequest | None:
    """The request in its session; None if there is none, and none is made."""
    if not body.names_kept:
        return _applied(proxied, body)
    try:
        found = expand_references(proxied, body)
    except (DatabaseError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001  # as of any other request
        return unchanged.unchanged_request(proxied, body, None, error)
    if found is not None:
        return _applied(proxied, found.body, found)
    try:
        return unchanged.stateful_request(proxied, body)
    except names.NameTaken:
        return unchanged.stateful_request(proxied, body)


def _applied(
    proxied: ProxiedRequest, body: ForwardedBody, known: ExpandedBody | None = None
) -> FoundRequest | None:
    """Apply a request that contains everything. `known`: what was resolved for it."""
    append, session = proxied.is_recorded, None
    try:
        session = _session(proxied, body, known.sessions[0] if known else None)
        if known and known.may_show(session):
            raise unchanged.RedactionMayApply(
                "The request refers to messages of another session in which a redaction applies."
            )
        if session is None and not append:
            return None
        if session is not None:
            body = _with_answered(proxied, body, session)
        inbound = _inbound(proxied, body)
        if session is not None:
            own = session
            prepared = before_lock.prepare(proxied.caller, session.pk, inbound)
        else:
            own = _drafted_session(proxied, body)
            prepared = before_lock.prepare_first(proxied.caller, own, inbound)
        with transaction.atomic() if append else nullcontext():
            if session is None:
                sessions.begin(proxied.caller, own)
            applied = apply(proxied.caller, own.pk, inbound, prepared=prepared)
            _remember_name(proxied, body, own, applied.session, is_new=session is None)
            rewritten = bodies.rewritten(body, applied)
            return _found_request(applied, body, rewritten)
    except names.NameTaken:
        return _applied(proxied, body, known)
    except (DatabaseError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001  # whatever it is, the policy decides
        return unchanged.unchanged_request(proxied, body, session, error)


def _inbound(proxied: ProxiedRequest, body: ForwardedBody) -> Inbound:
    return body.inbound(
        proxied.tags,
        append=proxied.is_recorded,
        offers_recall=any(tool.name == RECALL for tool in proxied.tools),
        model=proxied.model(body),
        client=proxied.incoming.header(b"user-agent"),
    )


def _with_answered(
    proxied: ProxiedRequest, body: ForwardedBody, session: Session
) -> ForwardedBody:
    """The body with the calls of our tools answered in a session, if it gets the tools."""
    has_tools = offering.addable_tools(body, proxied.tools)
    return rounds.with_answered(session, body) if has_tools else body


def _session(
    proxied: ProxiedRequest, body: ForwardedBody, known: Session | None
) -> Session | None:
    """The session that a request names or continues; None if there is none yet.

    `known` is the session of other things that it refers to.
    """
    if proxied.answered_in:
        return get_session(proxied.caller, proxied.answered_in, Right.OWN_SESSION)
    if proxied.names_session:
        return sessions.named_session(proxied.caller, proxied.project, proxied.name)
    if proxied.agent:
        called = proxied.conversation()
        own = names.session_of_conversation(proxied.caller, proxied.project, called)
        return own or _masked_session(proxied, body)

    def sent_to(session: Session) -> Inbound:
        return _inbound(proxied, _with_answered(proxied, body, session))

    answered = sent_to if proxied.tools else None
    called, inbound = proxied.conversation(body), _inbound(proxied, body)
    if called:
        known = (
            names.session_of_conversation(proxied.caller, proxied.project, called)
            or known
        )
    return session_for(proxied.caller, proxied.project, inbound, answered, known)


def _remember_name(
    proxied: ProxiedRequest,
    body: ForwardedBody,
    found: Session,
    session: Session,
    *,
    is_new: bool,
) -> None:
    """Remember a conversation by its client's name for it; `found` is the session first assumed."""
    name = proxied.conversation(body)
    is_thread = proxied.agent or proxied.asks_for_title
    is_own = session == found if is_thread else session.parent_id is None
    if name and is_own and proxied.is_recorded:
        names.remember(proxied.caller, name, session, is_new=is_new)


def _drafted_session(proxied: ProxiedRequest, body: ForwardedBody) -> Session:
    relation, parent = Relation.SUBAGENT, _parent(proxied)
    if proxied.asks_for_title and parent is None:
        relation, parent = Relation.SIDE_CALL, _session_to_title(proxied, body)
    return sessions.drafted(
        proxied.caller,
        proxied.project,
        form=proxied.route.form,
        model=proxied.model(body),
        name=proxied.name if proxied.names_session else None,
        client=proxied.incoming.header(b"user-agent"),
        parent=parent,
        relation=relation,
    )


def _session_to_title(proxied: ProxiedRequest, body: ForwardedBody) -> Session | None:
    """The conversation that a title is requested for: the request ends with its first message."""
    last = READERS[proxied.route.form].read(
        body.value[body.names.messages], slice(-1, None)
    )
    words = "".join(message.text for message in last).strip()
    return sessions.session_ending_with(proxied.caller, proxied.project, words)


def _masked_session(proxied: ProxiedRequest, body: ForwardedBody) -> Session | None:
    """The session that a sub-agent repeats, if redactions hide something there: they apply here."""
    parent = _parent(proxied)
    if parent is None or not (parent.head and load_history(parent).log.masks):
        return None
    return None if align_request(parent, _inbound(proxied, body)).is_side else parent


def _parent(proxied: ProxiedRequest) -> Session | None:
    """The session that a sub-agent works for, if its client says so and the session is here."""
    name, called = proxied.parent
    if name:
        return sessions.named_session(proxied.caller, proxied.project, name)
    if called:
        return names.session_of_conversation(proxied.caller, proxied.project, called)
    return None


def _found_request(
    applied: AppliedRequest, body: ForwardedBody, rewritten: Rewritten
) -> FoundRequest:
    """The result of `apply`."""
    return FoundRequest(
        session=applied.session,
        body=body,
        rewritten=rewritten,
        request=applied.request,
        count=applied.session.message_count,
    )
