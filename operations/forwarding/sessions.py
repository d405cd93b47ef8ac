"""Finds the session of a request that doesn't name one, or has no part in the one it names.

A client without a session id is recognised by its first user message, with which each of its
requests opens. All openings of a session are stored with who sent them, and only sessions with
the same opening are tried. If a client cut off its start, its latest sessions are tried.
"""

from collections.abc import Callable, Iterable, Sequence

from django.db.models import Q, QuerySet

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.models import Project
from operations.domain.forwarding.alignment import GivenMessages
from operations.domain.log.entry import CLIENT
from operations.models import ClientOpening, LogEntry, SessionRequest
from threads.domain.formats.kit.transcripts import title_of
from threads.domain.formats.sources import is_from_proxy
from threads.domain.message import Message, Role, starts_group
from threads.domain.transcript import Relation
from threads.models import Message as MessageRow
from threads.models import Session
from threads.sessions.services import (
    UNTITLED,
    NewSession,
    clean_title,
    drafted_session,
    open_session,
)
from threads.store.originals import load_recorded_at
from threads.store.selectors import has_session_right, visible_sessions

from . import alignment, choices
from .alignment import Inbound, RequestAlignment

_TRIED = 10
"""How many sessions with the same opening are tried, newest first."""
_LATEST = 20
"""How many of a caller's latest sessions are tried for a client that cut off its start."""
_SUMMED_UP = 3
"""How many of these are tried if the request contains no replies and may summarise one of them."""
_REPLIES = 16
"""How many of a request's last replies are searched for in these sessions; one must be found."""
_PARTIAL = "partial"
"""The status of a message that broke off."""
_BEGINNING = 8
"""The most messages of a session that may consist only of side calls."""


def session_for(
    caller: Caller,
    project: Project,
    inbound: Inbound,
    sent_to: Callable[[Session], Inbound] | None = None,
    named: Session | None = None,
) -> Session | None:
    """The session of this caller that a request without an id continues.

    `sent_to` returns the request as it would be in a given session. `named` is the session of the
    client's name for the conversation. Returns None if the request starts a conversation. Raises
    Invalid for malformed messages.
    """
    own = visible_sessions(caller).filter(project=project, parent=None)

    def align_request(session: Session) -> RequestAlignment:
        sent = sent_to(session) if sent_to else inbound
        return alignment.align_request(session, sent)

    if named is not None:
        aligned = align_request(named)
        if aligned.is_continuation or not aligned.is_side:
            return named
    looked_at: list[Session] = []
    best: tuple[int, Session] | None = None
    opened = _opened(own, caller, _opening(alignment.read_opening(inbound)))
    for session in opened:
        aligned = align_request(session)
        if aligned.is_continuation and not aligned.plan.absent:
            return session
        if _is_retry(session, aligned):
            return session
        looked_at.append(session)
        best = _better_match(best, session, aligned)
    chosen = _offered(looked_at, inbound) if best is None else None
    is_unknown = best is None and (chosen or named) is None
    for session in _latest(own, caller, inbound) if is_unknown else ():
        if session not in looked_at:
            aligned = align_request(session)
            best = _better_match(best, session, aligned)
    return best[1] if best else chosen or named


def remember(caller: Caller, session: Session, aligned: RequestAlignment) -> None:
    """Store how a request opened, so that the next one is recognised."""
    opening = None if aligned.skipped else _opening(aligned.given)
    if opening is not None:
        ClientOpening.objects.get_or_create(
            actor=caller.actor, digest=opening, session=session
        )


def side_session(caller: Caller, parent: Session, inbound: Inbound) -> Session:
    """The separate session of a request that has no part in `parent`.

    It is created if there is none yet. Its row is locked.
    """
    opening = alignment.read_opening(inbound)
    for session in _side_sessions(caller, parent, opening):
        locked = Session.objects.select_for_update(no_key=True).get(pk=session.pk)
        may = has_session_right(caller, Right.OWN_SESSION, locked)
        if may and alignment.align_request(locked, inbound).is_continuation:
            return locked
    session = open_session(caller, parent.project, _new_side(parent, inbound, opening))
    session.parent = parent
    session.relation = Relation.SUBAGENT if inbound.tools else Relation.SIDE_CALL
    session.save(update_fields=["parent", "relation"])
    return session


def looked_at_side(caller: Caller, parent: Session, inbound: Inbound) -> Session:
    """The same for a request that isn't recorded; if there is none yet, it isn't saved."""
    opening = alignment.read_opening(inbound)
    for session in _side_sessions(caller, parent, opening):
        if alignment.align_request(session, inbound).is_continuation:
            return session
    new = _new_side(parent, inbound, opening)
    session = drafted_session(caller, parent.project, new)
    session.parent = parent
    return session


def _side_sessions(
    caller: Caller, parent: Session, opening: GivenMessages
) -> Iterable[Session]:
    """The side sessions that open like this, the latest first."""
    children = Session.objects.filter(parent=parent, deleted_at=None, staged_by=None)
    return _opened(children, caller, _opening(opening))


def _new_side(parent: Session, inbound: Inbound, opening: GivenMessages) -> NewSession:
    return NewSession(
        parsing_strategy=inbound.format,
        model=inbound.model or parent.model,
        format=parent.format,
        messages=[one for one in opening.messages if one.role is Role.USER],
    )


def is_beginning(session: Session, inbound: Inbound) -> bool:
    """Whether a session holds only side calls so far, and its conversation begins here.

    Some clients request a title, or check whether they may send requests at all, before the first
    question.
    """
    if session.message_count > _BEGINNING or not inbound.tools:
        return False
    requests = SessionRequest.objects.filter(session=session)
    return requests.exists() and not requests.filter(tools__gt=0).exists()


def conversation_of(caller: Caller, session: Session, inbound: Inbound) -> Session:
    """The session for a conversation that begins in a session with only side calls so far.

    If the proxy created that session for a name of its client's, the conversation gets a new
    session, which takes over the name, and the side calls are separated from it. A session that
    somebody created or changed is kept for the conversation.
    """
    is_named = session.external_id or session.client_names.exists()
    edits = LogEntry.objects.filter(session=session).exclude(actor=CLIENT)
    is_parted = is_from_proxy(session.format) and is_named and not session.parent_id
    if not is_parted or edits.exists():
        forget_side_title(session)
        return session
    name, session.external_id = session.external_id, None
    session.save(update_fields=["external_id"])
    new = NewSession(
        external_id=name,
        parsing_strategy=inbound.format,
        model=inbound.model or session.model,
        format=session.format,
    )
    own = open_session(caller, session.project, new)
    session.client_names.update(session=own)
    Session.objects.filter(parent=session).update(parent=own)
    session.parent, session.relation = own, Relation.SIDE_CALL
    session.save(update_fields=["parent", "relation"])
    return own


def forget_side_title(session: Session) -> None:
    """Remove a session's title if it came only from a side call."""
    originals = load_recorded_at(session, range(session.message_count))
    said = (Message(role=one.role, parts=one.parts) for one in originals.values())
    if session.title == clean_title(title_of(said)):
        session.title = UNTITLED


def _opening(given: GivenMessages) -> bytes | None:
    """The digest of the first user message; None if there is none."""
    for place, message in enumerate(given.messages):
        if starts_group(message.role, message.parts):
            return given.digest(place)
    return None


def _opened(
    sessions: QuerySet[Session], caller: Caller, opening: bytes | None
) -> Iterable[Session]:
    if opening is None:
        return ()
    found = sessions.filter(openings__actor=caller.actor, openings__digest=opening)
    return found.order_by("-openings__id")[:_TRIED]


def _is_retry(session: Session, aligned: RequestAlignment) -> bool:
    """Whether a request repeats the last one, all replies to which broke off."""
    absent = aligned.plan.absent
    if aligned.is_side or aligned.new or not absent:
        return False
    last = MessageRow.objects.filter(
        session=session, index__gte=session.message_count - absent
    )
    return last.filter(status=_PARTIAL).count() == absent


def _better_match(
    best: tuple[int, Session] | None, session: Session, aligned: RequestAlignment
) -> tuple[int, Session] | None:
    known = aligned.plan.known
    if not aligned.is_continuation or (best is not None and best[0] >= known):
        return best
    return known, session


def _offered(sessions: Sequence[Session], inbound: Inbound) -> Session | None:
    """The session for which a request continues from an alternative reply."""
    if not sessions:
        return None
    replies = alignment.read_replies(inbound, _REPLIES)
    return choices.session_that_offered(sessions, replies)


def _latest(
    sessions: QuerySet[Session], caller: Caller, inbound: Inbound
) -> list[Session]:
    """The caller's latest sessions that hold a reply of the request, or that it may sum up."""
    openings = ClientOpening.objects.filter(actor=caller.actor).order_by("-id")
    named = openings.values_list("session_id", flat=True)[:_LATEST]
    latest = list(dict.fromkeys(named))
    found = {one.pk: one for one in sessions.filter(pk__in=latest)}
    digests = alignment.read_replies(inbound, _REPLIES)
    if not digests:
        return [found[key] for key in latest if key in found][:_SUMMED_UP]
    bodies = Q(body__digest__in=digests) | Q(body__canonical__in=digests)
    holding = MessageRow.objects.filter(bodies, session__in=list(found))
    return [found[key] for key in set(holding.values_list("session_id", flat=True))]
