"""Conversations by the names that their clients give them.

A name is one caller's in one project: whoever else sends it finds nothing. It says where to look
first. What a request is to the conversation, its messages say, as of one without a name.
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
"""The sessions of names: a guess, for another process may have given one to another session."""


class NameTaken(Conflict):
    """Another request has begun the conversation of this name in the meantime."""


def session_called(caller: Caller, project: Project, name: bytes) -> Session | None:
    """The session of the conversation that this caller calls so; None where there is none."""
    named = visible_sessions(caller).filter(
        project=project,
        client_names__project=project,
        client_names__actor=caller.actor,
        client_names__digest=_digest(name),
    )
    return named.first()


def likely_session(caller: Caller, project: Project, name: bytes) -> uuid.UUID | None:
    """The id of that session, from memory where it is known there; it may be gone by now."""
    key = caller.actor, project.pk, _digest(name)
    found = _known.get(key)
    if found is None and (session := session_called(caller, project, name)):
        found = session.pk
        _known.keep(key, found)
    return found


def remember(caller: Caller, name: bytes, session: Session, *, is_new: bool) -> None:
    """Know a conversation by its name from now on, unless that is another's already.

    Raises NameTaken where a new session was made for it, and another one has the name.
    """
    project = session.project
    row, is_first = ClientName.objects.get_or_create(
        project=project,
        actor=caller.actor,
        digest=_digest(name),
        defaults={"session": session},
    )
    if not is_first and row.session_id != session.pk:
        other = session_called(caller, project, name)
        if other is not None:
            if is_new:
                raise NameTaken("Another request has begun this conversation.")
            return
        row.session = session
        row.save(update_fields=["session"])
    _known.keep((caller.actor, project.pk, _digest(name)), session.pk)


def _digest(name: bytes) -> bytes:
    """A name as it is kept: whatever a client writes, it is read by nobody."""
    return hashlib.sha256(name).digest()
