"""A conversation on its way: which session it is of, and what its operations make of it.

Where a request can't be rewritten, the session's policy says whether it goes out as it came, and
its project's where it has no session yet. It never does where a redaction is in force: what that
hides would go out with it.
"""

import logging
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec
from django.db import DatabaseError, transaction

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import DomainError, Invalid
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.models import Project
from operations.context.policies import default_policy, policy_of
from operations.domain.forwarding.plan import RequestDecision
from operations.domain.log.operation import Redact
from operations.forwarding import before, going_on
from operations.forwarding.alignment import Inbound
from operations.forwarding.requests import records
from operations.forwarding.services import Applied, apply
from operations.forwarding.sessions import session_for
from operations.forwarding.toolbox import RECALL, OfferedTool
from operations.forwarding.upstreams.services import Target
from operations.log.selectors import load_history
from operations.models import LogEntry, SessionRequest
from threads.domain.formats import READERS
from threads.domain.transcript import Relation
from threads.models import Session
from threads.sessions.services import append_messages
from threads.store.selectors import get_session

from . import bodies, names, sessions
from .bodies import ForwardedBody, Rewritten
from .headers import CONVERSATION, SESSION, TAGS, Header
from .incoming import Incoming
from .recording import UNKNOWN, Exchange
from .routes import RequestKind, Route
from .tools import offering, rounds

logger = logging.getLogger(__name__)
MOST_NAME = 255
NOTE = b"x-contextstudio-note"
SESSION_NOTE = b"x-contextstudio-session"
_STATEFUL = (
    b"The provider keeps this conversation (previous_response_id): "
    b"the request went out as it came, and no operation acts on it."
)
_AS_IT_CAME = b"The request could not be rewritten and went out as it came."
_REFUSALS = frozenset({401, 403, 404, 413, 415})
"""What is refused whatever the policy: the caller, or the request, is at fault."""


class CannotBeForwarded(DomainError):
    """A body that comes packed, in which nothing can be found."""

    status = 415
    default_code = "body_encoded"


class Asked(NamedTuple):
    """Who asks for what."""

    caller: Caller
    project: Project
    target: Target
    route: Route
    incoming: Incoming
    tools: Sequence[OfferedTool] = ()
    """Of ours that it is to get."""
    goes_on: uuid.UUID | None = None
    """The session, where calls were answered since the client asked."""
    may_call: bool = True
    """Whether the model may still call tools."""

    @property
    def name(self) -> str:
        """What the client calls the session; empty where it doesn't say."""
        name = self.route.external_id or self.incoming.header(SESSION)
        if len(name) > MOST_NAME:
            raise Invalid(
                f"A session's name has at most {MOST_NAME} characters.",
                at=["X-Session-Id"],
            )
        return name

    def conversation(self, body: ForwardedBody | None = None) -> bytes:
        """What the client calls the conversation for itself; empty where it names a session."""
        if self.name or self.goes_on:
            return b""
        given = self.incoming.first_of(CONVERSATION, MOST_NAME)
        return given or (body.conversation if body else b"")

    @property
    def tags(self) -> frozenset[str] | None:
        """The tags that are active for this request alone; None: the session's."""
        if not any(name == TAGS for name, _ in self.incoming.headers):
            return None
        words = (word.strip() for word in self.incoming.header(TAGS).split(","))
        return frozenset(word for word in words if word)

    def model(self, body: ForwardedBody) -> str:
        """The model that is asked."""
        return self.target.model or self.route.model or body.model


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
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


class RewrittenRequest(NamedTuple):
    """A request as it goes out."""

    body: bytes
    exchange: Exchange | None = None
    """Where its reply belongs."""
    notes: Sequence[Header] = ()
    """What the client is told in headers."""
    offered: frozenset[str] = frozenset()
    """The tools of ours that were added to it."""


def rewrite(asked: Asked) -> RewrittenRequest:
    """What to send of a conversation, of which the session holds the messages by now.

    A request that only counts tokens makes no session, and records nothing. Raises Invalid for
    a body that holds no conversation, and what `apply` does where the policy says so.
    """
    if asked.incoming.header(b"content-encoding") not in ("", "identity"):
        raise CannotBeForwarded(
            "Send the body as plain JSON, without Content-Encoding."
        )
    found = _going_on(asked)
    if found is None:
        body = bodies.read_body(asked.route.form, asked.incoming.body)
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
    )
    return RewrittenRequest(
        sent, exchange, notes, frozenset(tool.name for tool in tools)
    )


def _offered(asked: Asked, found: _Found) -> list[OfferedTool]:
    """The tools that a request gets; a side call asks for nothing that they could do."""
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
    return [] if body.continues is None else [(NOTE, _STATEFUL)]


def _going_on(asked: Asked) -> _Found | None:
    """A request that begins with the very bytes of its session's last one: the rest is read.

    None where there is no such session, and whenever anything is not as usual: it is then read
    whole, which finds the same or says what is wrong.
    """
    if asked.tools or asked.goes_on or asked.route.kind is not RequestKind.REPLY:
        return None
    form, raw = asked.route.form, asked.incoming.body
    marks = bodies.marks_of(form, asked.tags, append=True)
    known = going_on.beginning_of(_of_late(asked, marks), marks, raw)
    if known is None:
        return None
    session_id, last = known
    try:
        body = bodies.read_rest(form, raw, last.beginning)
        if body is None or body.continues is not None:
            return None
        inbound = _inbound(asked, body)
        before.prepare(asked.caller, session_id, inbound)
        with transaction.atomic():
            absent = None if asked.name else last.absent
            applied = apply(asked.caller, session_id, inbound, absent=absent)
            return _under_way(applied, body, bodies.rewritten(body, applied))
    except (DatabaseError, MemoryError):
        raise
    except Exception as error:  # whatever it is, it is tried once more
        if not isinstance(error, DomainError):
            logger.warning("The rest of a request was not read", exc_info=error)
        return None


def _of_late(asked: Asked, marks: bytes) -> Sequence[uuid.UUID]:
    """The session that a request names, else those that its caller's last requests were of."""
    if not (name := asked.name):
        if called := asked.conversation():
            known = names.likely_session(asked.caller, asked.project, called)
            return [] if known is None else [known]
        return going_on.latest(asked.caller.actor, asked.project.pk, marks)
    session = sessions.named_session(asked.caller, asked.project, name)
    return [] if session is None else [session.pk]


def _find(asked: Asked, body: ForwardedBody) -> _Found | None:
    """The request in its session; None where there is none, and none is made."""
    if body.continues is not None:
        return _stateful(asked, body)
    append, session = asked.route.kind is RequestKind.REPLY, None
    try:
        session = _session(asked, body)
        if session is None and not append:
            return None
        if session is not None:
            body = _with_answered(asked, body, session)
        inbound = _inbound(asked, body)
        if session is not None:
            before.prepare(asked.caller, session.pk, inbound)
        with transaction.atomic():
            own = session or _new_session(asked, body)
            applied = apply(asked.caller, own.pk, inbound)
            _call_so(asked, body, applied.session, is_new=session is None)
            rewritten = bodies.rewritten(body, applied)
            return _under_way(applied, body, rewritten)
    except names.NameTaken:
        return _find(asked, body)
    except (DatabaseError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001  # whatever it is, the policy decides
        return _failed(asked, body, session, error)


def _inbound(asked: Asked, body: ForwardedBody) -> Inbound:
    return body.inbound(
        asked.tags,
        append=asked.route.kind is RequestKind.REPLY,
        offers_recall=any(tool.name == RECALL for tool in asked.tools),
        model=asked.model(body),
        client=asked.incoming.header(b"user-agent"),
    )


def _with_answered(
    asked: Asked, body: ForwardedBody, session: Session
) -> ForwardedBody:
    """The body with the calls of our tools that were answered in a session, if it has the tools."""
    has_tools = offering.offered(body, asked.tools)
    return rounds.with_answered(session, body) if has_tools else body


def _session(asked: Asked, body: ForwardedBody) -> Session | None:
    """The session that a request names, or goes on from; None where there is none yet."""
    if asked.goes_on:
        return get_session(asked.caller, asked.goes_on, Right.OWN_SESSION)
    if name := asked.name:
        return sessions.named_session(asked.caller, asked.project, name)

    def sent_to(session: Session) -> Inbound:
        return _inbound(asked, _with_answered(asked, body, session))

    known = sent_to if asked.tools else None
    called, named = asked.conversation(body), None
    if called:
        named = names.session_called(asked.caller, asked.project, called)
    return session_for(asked.caller, asked.project, _inbound(asked, body), known, named)


def _call_so(
    asked: Asked, body: ForwardedBody, session: Session, *, is_new: bool
) -> None:
    """Know a conversation again by what its client calls it."""
    name = asked.conversation(body)
    is_own = session.parent_id is None
    if name and is_own and asked.route.kind is RequestKind.REPLY:
        names.remember(asked.caller, name, session, is_new=is_new)


def _new_session(asked: Asked, body: ForwardedBody) -> Session:
    return sessions.new_session(
        asked.caller,
        asked.project,
        form=asked.route.form,
        model=asked.model(body),
        name=asked.name or None,
        client=asked.incoming.header(b"user-agent"),
    )


def _under_way(applied: Applied, body: ForwardedBody, rewritten: Rewritten) -> _Found:
    """What `apply` found."""
    return _Found(
        session=applied.session,
        body=body,
        rewritten=rewritten,
        request=applied.request,
        count=applied.session.message_count,
    )


def _failed(
    asked: Asked, body: ForwardedBody, session: Session | None, error: Exception
) -> _Found:
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
    return _Found(
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
def _stateful(asked: Asked, body: ForwardedBody) -> _Found | None:
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
    return _Found(
        session=session,
        body=body,
        rewritten=Rewritten({}, 0),
        request=request,
        count=session.message_count,
        note=_STATEFUL,
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
