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
from operations.forwarding import before, going_on
from operations.forwarding.alignment import Inbound, align_request
from operations.forwarding.services import Applied, apply
from operations.forwarding.sessions import session_for
from operations.forwarding.toolbox import RECALL, OfferedTool
from operations.log.selectors import load_history
from threads.domain.formats import READERS
from threads.domain.transcript import Relation
from threads.models import Session
from threads.store.selectors import get_session

from . import as_it_came, bodies, names, sessions
from .as_it_came import FoundRequest
from .bodies import ForwardedBody, Rewritten
from .headers import Header
from .incoming import Asked
from .recording import UNKNOWN, Exchange
from .references.telling import Told, told
from .tools import offering, rounds

logger = logging.getLogger(__name__)
NOTE = b"x-contextstudio-note"
SESSION_NOTE = b"x-contextstudio-session"


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


def rewrite(asked: Asked) -> RewrittenRequest:
    """What to send for a conversation; its session holds the messages by then.

    A request that only counts tokens, or has no messages, makes no session and records nothing.
    Raises Invalid for a body without a conversation or an impossible session name, ThreadNotFound
    for a body with only the new messages of a thread, and what `apply` does if the policy says
    so.
    """
    asked.check_name()
    found = _going_on(asked)
    if found is None:
        body = bodies.read_body(asked.route.form, asked.incoming.body)
        if body.continues_thread:
            raise as_it_came.ThreadNotFound(
                "ContextStudio sends whole conversations. Send all messages again, with "
                'the thread {"type": "create"} or without any.',
                at=["thread"],
            )
        if body.says_nothing:
            asked = asked.unrecorded()
        found = _find(asked, body)
        if found is None:
            unchanged = _written(asked, body, Rewritten({}, 0))
            return RewrittenRequest(unchanged, notes=_notes(body))
    tools = _offered(asked, found)
    sent = _written(asked, found.body, found.rewritten, tools)
    notes = [(NOTE, found.note)] if found.note else []
    if found.session is not None:
        notes.append((SESSION_NOTE, str(found.session.pk).encode()))
    if found.session is None or found.request is None:
        return RewrittenRequest(sent, notes=notes)
    exchange = Exchange(
        caller=asked.caller,
        session_id=found.session.pk,
        request_id=found.request.pk,
        count=found.count,
        provider=asked.route.provider,
        model=asked.model(found.body),
        is_named=asked.route.form == "openai-responses",
        is_rewritten=found.rewritten.acts,
        is_background=found.body.is_background and found.count != UNKNOWN,
    )
    offered = frozenset(tool.name for tool in tools)
    return RewrittenRequest(sent, exchange, notes, offered, found.body.before)


def _offered(asked: Asked, found: FoundRequest) -> list[OfferedTool]:
    """The tools to add to a request; none for side calls, which need nothing from them."""
    if found.note or found.session is None:
        return []
    if found.session.relation == Relation.SIDE_CALL:
        return []
    return offering.offered(found.body, asked.tools)


def _written(
    asked: Asked,
    body: ForwardedBody,
    found: Rewritten,
    tools: Sequence[OfferedTool] = (),
) -> bytes:
    changes = dict(found.changes)
    if tools:
        changes |= offering.changes(body, tools, calls=asked.may_call)
    if asked.target.model and "model" in body.members:
        changes["model"] = msgspec.json.encode(asked.target.model)
    return body.written(changes)


def _notes(body: ForwardedBody) -> Sequence[Header]:
    return [(NOTE, as_it_came.note_of(body))] if body.names_kept else []


def _going_on(asked: Asked) -> FoundRequest | None:
    """A request that starts with the exact bytes of its session's last one; only the rest is read.

    None if there is no such session, or if anything is unusual: the request is then read whole,
    which gives the same result or says what is wrong.
    """
    if asked.tools or asked.goes_on or not asked.is_recorded:
        return None
    form, raw = asked.route.form, asked.incoming.body
    marks = bodies.marks_of(form, asked.tags, append=True)
    known = going_on.beginning_of(_of_late(asked, marks), marks, raw)
    if known is None:
        return None
    session_id, last = known
    try:
        body = bodies.read_rest(form, raw, last.beginning)
        if body is None or body.goes_on or body.names_kept:
            return None
        inbound = _inbound(asked, body)
        ahead = before.prepare(asked.caller, session_id, inbound)
        with transaction.atomic():
            absent = None if asked.names_session else last.absent
            applied = apply(
                asked.caller, session_id, inbound, absent=absent, ahead=ahead
            )
            return _under_way(applied, body, bodies.rewritten(body, applied))
    except (DatabaseError, MemoryError):
        raise
    except Exception as error:  # whatever it is, the request is read whole
        if not isinstance(error, DomainError):
            logger.warning("The rest of a request was not read", exc_info=error)
        return None


def _of_late(asked: Asked, marks: bytes) -> Sequence[uuid.UUID]:
    """The session that a request names, or else those of its caller's last requests."""
    if asked.names_session:
        session = sessions.named_session(asked.caller, asked.project, asked.name)
        return [] if session is None else [session.pk]
    if called := asked.conversation():
        known = names.likely_session(asked.caller, asked.project, called)
        return [] if known is None else [known]
    return going_on.latest(asked.caller.actor, asked.project.pk, marks)


def _find(asked: Asked, body: ForwardedBody) -> FoundRequest | None:
    """The request in its session; None if there is none, and none is made."""
    if not body.names_kept:
        return _applied(asked, body)
    try:
        found = told(asked, body)
    except (DatabaseError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001  # as of any other request
        return as_it_came.failed(asked, body, None, error)
    if found is not None:
        return _applied(asked, found.body, found)
    try:
        return as_it_came.stateful(asked, body)
    except names.NameTaken:
        return as_it_came.stateful(asked, body)


def _applied(
    asked: Asked, body: ForwardedBody, known: Told | None = None
) -> FoundRequest | None:
    """Apply a request that contains everything. `known`: what was resolved for it."""
    append, session = asked.is_recorded, None
    try:
        session = _session(asked, body, known.sessions[0] if known else None)
        if known and known.may_show(session):
            raise as_it_came.MayHide(
                "The request refers to messages of another session in which a redaction applies."
            )
        if session is None and not append:
            return None
        if session is not None:
            body = _with_answered(asked, body, session)
        inbound = _inbound(asked, body)
        if session is not None:
            own = session
            ahead = before.prepare(asked.caller, session.pk, inbound)
        else:
            own = _drafted_session(asked, body)
            ahead = before.work_out_first(asked.caller, own, inbound)
        with transaction.atomic() if append else nullcontext():
            if session is None:
                sessions.begin(asked.caller, own)
            applied = apply(asked.caller, own.pk, inbound, ahead=ahead)
            _call_so(asked, body, own, applied.session, is_new=session is None)
            rewritten = bodies.rewritten(body, applied)
            return _under_way(applied, body, rewritten)
    except names.NameTaken:
        return _applied(asked, body, known)
    except (DatabaseError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001  # whatever it is, the policy decides
        return as_it_came.failed(asked, body, session, error)


def _inbound(asked: Asked, body: ForwardedBody) -> Inbound:
    return body.inbound(
        asked.tags,
        append=asked.is_recorded,
        offers_recall=any(tool.name == RECALL for tool in asked.tools),
        model=asked.model(body),
        client=asked.incoming.header(b"user-agent"),
    )


def _with_answered(
    asked: Asked, body: ForwardedBody, session: Session
) -> ForwardedBody:
    """The body with the calls of our tools answered in a session, if it gets the tools."""
    has_tools = offering.offered(body, asked.tools)
    return rounds.with_answered(session, body) if has_tools else body


def _session(
    asked: Asked, body: ForwardedBody, known: Session | None
) -> Session | None:
    """The session that a request names or continues; None if there is none yet.

    `known` is the session of other things that it refers to.
    """
    if asked.goes_on:
        return get_session(asked.caller, asked.goes_on, Right.OWN_SESSION)
    if asked.names_session:
        return sessions.named_session(asked.caller, asked.project, asked.name)
    if asked.agent:
        called = asked.conversation()
        own = names.session_called(asked.caller, asked.project, called)
        return own or _masked_session(asked, body)

    def sent_to(session: Session) -> Inbound:
        return _inbound(asked, _with_answered(asked, body, session))

    answered = sent_to if asked.tools else None
    called, inbound = asked.conversation(body), _inbound(asked, body)
    if called:
        known = names.session_called(asked.caller, asked.project, called) or known
    return session_for(asked.caller, asked.project, inbound, answered, known)


def _call_so(
    asked: Asked,
    body: ForwardedBody,
    found: Session,
    session: Session,
    *,
    is_new: bool,
) -> None:
    """Remember a conversation by its client's name for it; `found` is the session first assumed."""
    name = asked.conversation(body)
    is_thread = asked.agent or asked.asks_for_title
    is_own = session == found if is_thread else session.parent_id is None
    if name and is_own and asked.is_recorded:
        names.remember(asked.caller, name, session, is_new=is_new)


def _drafted_session(asked: Asked, body: ForwardedBody) -> Session:
    relation, parent = Relation.SUBAGENT, _parent(asked)
    if asked.asks_for_title and parent is None:
        relation, parent = Relation.SIDE_CALL, _titled(asked, body)
    return sessions.drafted(
        asked.caller,
        asked.project,
        form=asked.route.form,
        model=asked.model(body),
        name=asked.name if asked.names_session else None,
        client=asked.incoming.header(b"user-agent"),
        parent=parent,
        relation=relation,
    )


def _titled(asked: Asked, body: ForwardedBody) -> Session | None:
    """The conversation that a title is requested for: the request ends with its first message."""
    last = READERS[asked.route.form].read(
        body.value[body.names.messages], slice(-1, None)
    )
    words = "".join(message.text for message in last).strip()
    return sessions.session_ending_with(asked.caller, asked.project, words)


def _masked_session(asked: Asked, body: ForwardedBody) -> Session | None:
    """The session that a sub-agent repeats, if redactions hide something there: they apply here."""
    parent = _parent(asked)
    if parent is None or not (parent.head and load_history(parent).log.masks):
        return None
    return None if align_request(parent, _inbound(asked, body)).is_side else parent


def _parent(asked: Asked) -> Session | None:
    """The session that a sub-agent works for, if its client says so and the session is here."""
    name, called = asked.parent
    if name:
        return sessions.named_session(asked.caller, asked.project, name)
    if called:
        return names.session_called(asked.caller, asked.project, called)
    return None


def _under_way(
    applied: Applied, body: ForwardedBody, rewritten: Rewritten
) -> FoundRequest:
    """The result of `apply`."""
    return FoundRequest(
        session=applied.session,
        body=body,
        rewritten=rewritten,
        request=applied.request,
        count=applied.session.message_count,
    )
