"""Finds the session of a request: the one that it names, or else the one that it continues."""

import uuid

from django.db.models import QuerySet

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Conflict
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.models import Project
from contextstudio.accounts.selectors import require
from threads.domain.formats.sources import proxy_format
from threads.domain.message import Message, Role
from threads.domain.transcript import Relation
from threads.models import Message as MessageRow
from threads.models import Session
from threads.sessions.services import NewSession, drafted_session, save_new
from threads.store.originals import load_recorded_at
from threads.store.selectors import visible_sessions

from .names import NameTaken
from .references import kept

_BEGUN = 8
"""How many of the latest conversations are searched for the one that a title is for."""
_FIRST = 4
"""How many user messages may contain a conversation's first question: others describe the
environment."""


def named_session(caller: Caller, project: Project, name: str) -> Session | None:
    """The session of this id, or of the caller's own name for it; None if there is none yet."""
    sessions = visible_sessions(caller).filter(project=project)
    try:
        return sessions.filter(pk=uuid.UUID(name)).first() or _by_name(sessions, name)
    except ValueError:
        return _by_name(sessions, name)


def _by_name(sessions: QuerySet[Session], name: str) -> Session | None:
    return None if "\x00" in name else sessions.filter(external_id=name).first()


def session_of_reply(
    caller: Caller, project: Project, reply: object, named: Session | None
) -> Session | None:
    """The session whose last message is a response, given by its provider's id.

    `named` is the session that the request names.
    """
    found = kept.request_of_reply(caller, project, reply, named)
    if found is None or found.reply_index != found.session.message_count - 1:
        return None
    return found.session


def session_ending_with(caller: Caller, project: Project, words: str) -> Session | None:
    """A recent conversation of this caller that began with a message these words end with."""
    began = visible_sessions(caller).filter(
        project=project, parent=None, client_names__actor=caller.actor
    )
    for session in began.distinct().order_by("-created_at")[:_BEGUN]:
        rows = MessageRow.objects.filter(session=session, role=Role.USER)
        indexes = rows.order_by("index").values_list("index", flat=True)[:_FIRST]
        for one in load_recorded_at(session, indexes).values():
            said = Message(role=one.role, parts=one.parts).text.strip()
            if said and words.endswith(said):
                return session
    return None


def drafted(
    caller: Caller,
    project: Project,
    *,
    form: str,
    model: str,
    name: str | None,
    client: str,
    parent: Session | None = None,
    relation: Relation = Relation.SUBAGENT,
) -> Session:
    """An unsaved session for a conversation that has none; `client` is its User-Agent.

    `parent` is the session that the conversation belongs to, as a sub-agent's or as `relation`
    says. Raises Forbidden.
    """
    require(caller, Right.OWN_SESSION, project.pk)
    strategy = {"openai-responses": "openai"}.get(form, form)
    new = NewSession(
        external_id=name,
        parsing_strategy=strategy,
        model=model,
        format=proxy_format(client),
    )
    session = drafted_session(caller, project, new)
    if parent is not None:
        session.parent, session.relation = parent, relation
    return session


def begin(caller: Caller, session: Session) -> Session:
    """Save the session. Raises NameTaken if another request has meanwhile made it."""
    name = session.external_id
    try:
        save_new(session)
    except Conflict as taken:
        if name and named_session(caller, session.project, name):
            raise NameTaken(taken.message) from taken
        raise
    return session
