"""Lenses: the named sets of active tags of a session."""

import uuid
from collections.abc import Sequence
from contextlib import suppress

from django.db.transaction import atomic

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Invalid, NotFound
from contextstudio.accounts.domain.rights import Right
from operations.models import Lens
from threads.models import Session
from threads.store.selectors import get_session

MAX_NAME_LENGTH = 100
"""The maximum length of a lens's name, in characters."""


def list_lenses(session: Session) -> list[Lens]:
    return list(Lens.objects.filter(session=session).order_by("name"))


def get_lens(session: Session, name: str) -> Lens:
    """The lens with a name. Raises NotFound."""
    # Names are compared here, because one may contain what PostgreSQL refuses in a query.
    found = next((one for one in list_lenses(session) if one.name == name), None)
    if found is None:
        raise NotFound("There is no such lens.", at=["name"])
    return found


@atomic
def save_lens(
    caller: Caller, session_id: uuid.UUID, name: str, tags: Sequence[str]
) -> Lens:
    """Save a set of active tags under a name, replacing one of the same name."""
    session = get_session(caller, session_id, Right.EDIT, lock=True)
    return put_lens(session, name, tags)


def put_lens(session: Session, name: str, tags: Sequence[str]) -> Lens:
    """Save a lens in a session that the caller has locked or nobody sees yet. Raises Invalid."""
    if not (0 < len(name) <= MAX_NAME_LENGTH and name.isprintable()):
        raise Invalid(
            f"A lens name has 1 to {MAX_NAME_LENGTH} printable characters.", at=["name"]
        )
    lens, _ = Lens.objects.update_or_create(
        session=session, name=name, defaults={"tags": list(dict.fromkeys(tags))}
    )
    return lens


@atomic
def delete_lens(caller: Caller, session_id: uuid.UUID, name: str) -> None:
    """Delete a named set of active tags; does nothing if it doesn't exist."""
    session = get_session(caller, session_id, Right.EDIT, lock=True)
    with suppress(NotFound):
        get_lens(session, name).delete()
