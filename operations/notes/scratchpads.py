"""The scratchpad of a session: Markdown that the agent and people keep, in versions."""

import uuid
from datetime import datetime
from typing import NamedTuple

from django.db import transaction
from django.db.models import QuerySet, UUIDField

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Conflict, Invalid, NotFound
from contextstudio.accounts.domain.rights import Right
from contextstudio.database.prepared import Param, Prepared
from operations.messages.reader import mask_text
from operations.models import ScratchpadVersion
from threads.models import Session
from threads.store import events
from threads.store.selectors import get_session

MAX_LENGTH = 200_000
"""Most characters of a scratchpad."""


class Scratchpad(NamedTuple):
    """A version, masked; number 0 is the empty one that every session starts with."""

    number: int
    content: str
    actor: str = ""
    actor_name: str = ""
    created_at: datetime | None = None


def load_scratchpad(session: Session, number: int | None = None) -> Scratchpad:
    """The current version, or the one with this number. Raises NotFound."""
    if number is None:
        row = _NEWEST.first(session=session.pk)
    else:
        row = _versions(session.pk).filter(number=number).first()
    if row is not None:
        return _read(session, row)
    if number:
        raise _no_version()
    return Scratchpad(0, "")


def list_scratchpads(session: Session, most: int | None = None) -> list[Scratchpad]:
    return [_read(session, row) for row in _versions(session.pk)[:most]]


@transaction.atomic
def write_scratchpad(
    caller: Caller,
    session_id: uuid.UUID,
    content: str,
    *,
    append: bool = False,
    expected_version: int | None = None,
) -> Scratchpad:
    """Replace the scratchpad's content, or append to it on a new line.

    Raises Invalid if the result is too long, Conflict (`stale_version`) if the scratchpad is at
    another version than the caller expects.
    """
    session = get_session(caller, session_id, Right.OWN_SESSION, lock=True)
    newest = _versions(session.pk).first()
    if append and newest is not None:
        before = decode(newest.content)
        gap = "\n" if before and not before.endswith("\n") else ""
        content = f"{before}{gap}{content}"
    if len(content) > MAX_LENGTH:
        raise Invalid(
            f"A scratchpad has at most {MAX_LENGTH:,} characters.", at=["content"]
        )
    last = newest.number if newest else 0
    if expected_version is not None and expected_version != last:
        raise Conflict(
            f"The scratchpad is at version {last}, not {expected_version}.",
            at=["expected_version"],
            code="stale_version",
            facts={"version": last},
        )
    row = ScratchpadVersion.objects.create(
        session=session,
        number=last + 1,
        content=encode(content),
        actor=caller.actor,
        actor_name=caller.name[:150],
    )
    row.refresh_from_db()
    events.announce(session)
    return _read(session, row)


@transaction.atomic
def restore_scratchpad(
    caller: Caller, session_id: uuid.UUID, number: int
) -> Scratchpad:
    """Restore an older version as a new one, with its unmasked content. Raises NotFound."""
    session = get_session(caller, session_id, Right.OWN_SESSION, lock=True)
    old = _versions(session.pk).filter(number=number).first()
    if old is None and number:
        raise _no_version()
    return write_scratchpad(caller, session_id, decode(old.content) if old else "")


def _no_version() -> NotFound:
    return NotFound("There is no such version.", at=["version"])


def _versions(session: uuid.UUID | Param) -> QuerySet[ScratchpadVersion]:
    return ScratchpadVersion.objects.filter(session=session).order_by("-number")


_NEWEST = Prepared(lambda: _versions(Param("session", UUIDField()))[:1])


def _read(session: Session, row: ScratchpadVersion) -> Scratchpad:
    content = mask_text(session, decode(row.content))
    return Scratchpad(row.number, content, row.actor, row.actor_name, row.created_at)


def decode(content: bytes | memoryview) -> str:
    """Decode stored content, which is bytes because it may contain NUL and lone surrogates."""
    return bytes(content).decode("utf-8", "surrogatepass")


def encode(words: str) -> bytes:
    return words.encode("utf-8", "surrogatepass")
