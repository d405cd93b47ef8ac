"""Finds conversations by the names that their clients give them.

A name belongs to one caller in one project; anybody else who sends it finds nothing. It only says
where to look first: how a request relates to the conversation is decided by its messages, as
without a name.
"""

import hashlib
import uuid

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Conflict
from contextstudio.accounts.models import Project
from operations.log.cache import Cache
from operations.models import ClientName
from threads.models import Session
from threads.store.selectors import visible_sessions

_known: Cache[uuid.UUID] = Cache(lambda _: 100)
"""A cache of sessions by name. Only a guess: another process may have reassigned the name."""


class NameTaken(Conflict):
    """Another request has meanwhile started the conversation of this name."""


def session_of_conversation(
    caller: Caller, project: Project, name: bytes
) -> Session | None:
    """The session of the conversation that this caller gives the name to; None if there is none."""
    named = visible_sessions(caller).filter(
        project=project,
        client_names__project=project,
        client_names__actor=caller.actor,
        client_names__digest=_digest(name),
    )
    return named.first()


def likely_session(caller: Caller, project: Project, name: bytes) -> uuid.UUID | None:
    """The id of that session, cached if possible; the session may be gone by now."""
    key = caller.actor, project.pk, _digest(name)
    found = _known.get(key)
    if found is None and (session := session_of_conversation(caller, project, name)):
        found = session.pk
        _known.keep(key, found)
    return found


def remember(caller: Caller, name: bytes, session: Session, *, is_new: bool) -> None:
    """Remember a conversation by its name, unless another one already has it.

    Raises NameTaken if a new session was made for it but another one has the name.
    """
    project = session.project
    row, is_first = ClientName.objects.get_or_create(
        project=project,
        actor=caller.actor,
        digest=_digest(name),
        defaults={"session": session},
    )
    if not is_first and row.session_id != session.pk:
        other = session_of_conversation(caller, project, name)
        if other is not None:
            if is_new:
                raise NameTaken("Another request has begun this conversation.")
            return
        row.session = session
        row.save(update_fields=["session"])
    _known.keep((caller.actor, project.pk, _digest(name)), session.pk)


def _digest(name: bytes) -> bytes:
    """The form in which a name is stored: whatever a client writes, nobody reads it."""
    return hashlib.sha256(name).digest()
