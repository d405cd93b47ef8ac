"""The version of a session: all that is derived from one is kept under it."""

import uuid
from collections.abc import Hashable
from typing import NamedTuple

from threads.models import Session

_BESIDE = frozenset(
    {"overview", "created_at", "created_by", "updated_at", "deleted_at", "staged_by"}
)
"""Columns on which nothing depends that is derived; every other one counts, a new one too."""
_COLUMNS = tuple(
    field.attname
    for field in Session._meta.concrete_fields
    if field.attname not in _BESIDE | {"id", "head", "message_count"}
)


class SessionVersion(NamedTuple):
    """Two sessions with the same one read the same: threads, contexts, ledgers follow from it.

    What is kept beside a session (its policy, scratchpad, memos) is no part of it.
    """

    session: uuid.UUID
    head: int
    message_count: int
    columns: tuple[Hashable, ...]


def version_of(session: Session) -> SessionVersion:
    """The version that a session has, as far as this row of it knows."""
    columns = tuple(getattr(session, name) for name in _COLUMNS)
    return SessionVersion(session.pk, session.head, session.message_count, columns)
