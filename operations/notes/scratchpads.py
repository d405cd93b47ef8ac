"""The scratchpad of a session: Markdown that the agent and people keep, in versions."""

import uuid
from datetime import datetime
from typing import NamedTuple

from django.db import transaction

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Conflict, Invalid, NotFound
from contextstudio.accounts.domain.rights import Right
from operations.messages.masking import mask_text
from operations.models import ScratchpadVersion
from threads.models import Session
from threads.store import events
from threads.store.selectors import get_session

LONGEST = 200_000
"""Characters of a scratchpad."""


class Scratchpad(NamedTuple):
    """A version as it may be read; number 0 is the empty one that every session begins with."""

    number: int
    content: str
    actor: str = ""
    actor_name: str = ""
    created_at: datetime | None = None


EMPTY = Scratchpad(0, "")


def load_scratchpad(session: Session, number: int | None = None) -> Scratchpad:
    """The version in force, or another one. Raises NotFound."""
    rows = ScratchpadVersion.objects.filter(session=session).order_by("-number")
    row = rows.first() if number is None else rows.filter(number=number).first()
    if row is not None:
        return _read(session, row)
    if number:
        raise NotFound("There is no such version.", at=["version"])
    return EMPTY


def list_scratchpads(session: Session, most: int | None = None) -> list[Scratchpad]:
    """All versions, newest first, or the newest of them."""
    rows = ScratchpadVersion.objects.filter(session=session).order_by("-number")
    return [_read(session, row) for row in rows[:most]]


@transaction.atomic
def update_scratchpad(
    caller: Caller,
    session_id: uuid.UUID,
    content: str,
    *,
    expected_version: int | None = None,
) -> Scratchpad:
    """Put other words in place of the scratchpad's.

    Raises Invalid where they are too long, Conflict (`stale_version`) where it is at another
    version than the caller knows.
    """
    session = get_session(caller, session_id, Right.EDIT, lock=True)
    return _write(caller, session, content, expected_version)


@transaction.atomic
def append_to_scratchpad(
    caller: Caller,
    session_id: uuid.UUID,
    content: str,
    *,
    expected_version: int | None = None,
) -> Scratchpad:
    """Add words at the end of the scratchpad, on a line of their own."""
    session = get_session(caller, session_id, Right.EDIT, lock=True)
    row = ScratchpadVersion.objects.filter(session=session).order_by("-number").first()
    before = _decode(row.content) if row else ""
    gap = "\n" if before and not before.endswith("\n") else ""
    return _write(caller, session, f"{before}{gap}{content}", expected_version)


def _write(
    caller: Caller, session: Session, content: str, expected: int | None
) -> Scratchpad:
    if len(content) > LONGEST:
        raise Invalid(
            f"A scratchpad has at most {LONGEST:,} characters.", at=["content"]
        )
    rows = ScratchpadVersion.objects.filter(session=session).order_by("-number")
    last = rows.values_list("number", flat=True).first() or 0
    if expected is not None and expected != last:
        raise Conflict(
            f"The scratchpad is at version {last}, not {expected}.",
            at=["expected_version"],
            code="stale_version",
            facts={"version": last},
        )
    row = ScratchpadVersion.objects.create(
        session=session,
        number=last + 1,
        content=content.encode("utf-8", "surrogatepass"),
        actor=caller.actor,
        actor_name=caller.name[:150],
    )
    row.refresh_from_db()
    events.announce(session)
    return _read(session, row)


def _read(session: Session, row: ScratchpadVersion) -> Scratchpad:
    content = mask_text(session, _decode(row.content))
    return Scratchpad(row.number, content, row.actor, row.actor_name, row.created_at)


def _decode(content: bytes | memoryview) -> str:
    return bytes(content).decode("utf-8", "surrogatepass")
