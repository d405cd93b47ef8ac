"""STATE of a session: the blocks at the end of responses, and versions that somebody set.

Versions from responses are read from the messages, which never change, and never stored, so
snipping a message also withdraws its STATE. Versions that somebody set are stored with the number
of messages at that time, so that a later response takes precedence.
"""

import uuid
from datetime import datetime
from typing import NamedTuple

from django.db import transaction
from django.db.models import UUIDField
from django.utils import timezone

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.domain.rights import Right
from contextstudio.database.prepared import Param, Prepared
from operations.domain.context.state import HEADING, State, extract, read_state
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import entry_number, original_key
from operations.log.cache import Cache
from operations.log.selectors import load_thread
from operations.messages.reader import mask_text
from operations.models import StateVersion
from threads.domain.message import Role
from threads.domain.part import Text
from threads.models import Session
from threads.store import events
from threads.store.originals import find_holding, load_messages_at
from threads.store.selectors import get_session

from .scratchpads import decode, encode

MAX_LENGTH = 100_000
"""Most characters of STATE that somebody sets."""


class Versioned(NamedTuple):
    """A version of STATE, masked; `key` is the response that it comes from, if any."""

    number: int
    state: State
    key: str | None
    actor: str
    created_at: datetime | None
    in_force: bool
    actor_name: str = ""


class _Scan(NamedTuple):
    """The indexes of messages before `through` that mention STATE."""

    through: int
    indexes: tuple[int, ...]


_SET = Prepared(
    lambda: StateVersion.objects.filter(session=Param("session", UUIDField())).order_by(
        "number"
    )
)
_scans: Cache[_Scan] = Cache(lambda scan: 40 * len(scan.indexes))


def list_states(session: Session, thread: Thread | None = None) -> list[Versioned]:
    """All versions, oldest first; the last one whose message isn't snipped is in force."""
    thread = thread or load_thread(session)
    found = [*_of_responses(session), *_of_people(session)]
    found.sort(key=lambda one: one[0])
    last = max(
        (
            place
            for place, (_, version) in enumerate(found)
            if version.key is None or not _is_dropped(thread, version.key)
        ),
        default=None,
    )
    return [
        version._replace(number=place + 1, in_force=place == last)
        for place, (_, version) in enumerate(found)
    ]


def current_state(session: Session, thread: Thread | None = None) -> State | None:
    """STATE in force; None if the session has none."""
    versions = list_states(session, thread)
    return next((one.state for one in versions if one.in_force), None)


@transaction.atomic
def set_state(caller: Caller, session_id: uuid.UUID, content: str) -> Versioned:
    """Set STATE until a later response brings its own. Raises Invalid."""
    session = get_session(caller, session_id, Right.OWN_SESSION, lock=True)
    if not content.strip() or len(content) > MAX_LENGTH:
        raise Invalid(f"STATE has 1 to {MAX_LENGTH:,} characters.", at=["content"])
    rows = StateVersion.objects.filter(session=session)
    StateVersion.objects.create(
        session=session,
        number=rows.count() + 1,
        content=encode(content),
        message_count=session.message_count,
        actor=caller.actor,
        actor_name=caller.name[:150],
        created_at=timezone.now(),
    )
    events.announce(session)
    return list_states(session)[-1]


def _of_responses(session: Session) -> list[tuple[tuple[int, int], Versioned]]:
    """The versions from responses, each with its sort key."""
    indexes = _scanned(session)
    originals = load_messages_at(session, indexes) if indexes else {}
    found = []
    for index, original in sorted(originals.items()):
        texts = [part.text for part in original.parts if isinstance(part, Text)]
        state = extract("\n\n".join(texts))
        if original.role == Role.ASSISTANT and state is not None:
            moment = original.row.created_at
            key = original_key(index)
            version = Versioned(0, state, key, "client", moment, False)
            found.append(((index, 1), version))
    return found


def _of_people(session: Session) -> list[tuple[tuple[int, int], Versioned]]:
    rows = _SET.rows(session=session.pk)
    return [
        (
            (row.message_count, -1),
            Versioned(
                0,
                read_state(mask_text(session, decode(row.content))),
                None,
                row.actor,
                row.created_at,
                False,
                row.actor_name,
            ),
        )
        for row in rows
    ]


def _scanned(session: Session) -> tuple[int, ...]:
    """The indexes of originals that mention STATE; only those not scanned yet are read."""
    known = _scans.get(session.pk) or _Scan(0, ())
    count = session.message_count
    if known.through < count:
        rest = find_holding(session, HEADING[4:].encode(), start=known.through)
        known = _Scan(count, (*known.indexes, *(one for one in rest if one < count)))
        _scans.keep(session.pk, known)
    return tuple(index for index in known.indexes if index < count)


def _is_dropped(thread: Thread, key: str) -> bool:
    """Whether a message was snipped, or a fold around it was."""
    if not thread.holds(key):
        return True
    edits = thread.log.edits
    return any(
        edits[entry_number(fold) or 0].edit.kind == "snip" for fold in thread.path(key)
    )
