"""Reads snapshots, with redacted text masked in their names."""

from collections.abc import Collection, Sequence
from datetime import datetime
from itertools import chain, count
from typing import NamedTuple

from contextstudio.accounts.domain.errors import NotFound
from operations.domain.log.mask import mask_title
from operations.messages.reader import masked_in, masked_texts
from operations.models import Snapshot
from threads.models import Session

MAX_NAME_LENGTH = 100
"""Most characters in the name of a snapshot."""


class NamedPoint(NamedTuple):
    """A snapshot under its shown name, which is masked and unique."""

    pk: int
    name: str
    head: int
    message_count: int
    actor: str
    actor_name: str
    created_at: datetime


def list_snapshots(session: Session) -> list[NamedPoint]:
    """The snapshots of a session, newest first.

    If masking gives two of them the same name, a number is appended to the later one.
    """
    points: list[NamedPoint] = []
    taken: set[str] = set()
    for row in Snapshot.objects.filter(session=session).order_by("pk"):
        name = _free(masked_name(session, row.name), taken)
        taken.add(name)
        points.append(
            NamedPoint(
                row.pk,
                name,
                row.head,
                row.message_count,
                row.actor,
                row.actor_name,
                row.created_at,
            )
        )
    return points[::-1]


def get_snapshot(session: Session, name: str) -> NamedPoint:
    """A snapshot of a session that the caller may read. Raises NotFound."""
    # Compared in Python, because PostgreSQL rejects some characters in a query.
    for found in list_snapshots(session):
        if found.name == name:
            return found
    raise NotFound("There is no such snapshot.", at=["name"])


def masked_name(session: Session, name: str) -> str:
    """A name, masked by redactions that are on in the session."""
    return mask_title(name, masked_texts(session))[:MAX_NAME_LENGTH]


def _free(name: str, taken: Collection[str]) -> str:
    """The name, with a number appended if it is taken."""
    ends = chain([""], (f" ({number})" for number in count(2)))
    names = (f"{name[: MAX_NAME_LENGTH - len(end)]}{end}" for end in ends)
    return next(free for free in names if free not in taken)


def mask_for_good(session: Session, indexes: Sequence[int] | None) -> None:
    """Store the masked names of snapshots, before the originals that define the masks are gone.

    Runs in the caller's transaction. Does nothing if `indexes` is None, as an erased session takes
    its snapshots with it.
    """
    if indexes is None or not masked_in(session, indexes):
        return
    # Newest first: the masked name of an older one may still be the stored name of a newer one.
    for point in list_snapshots(session):
        Snapshot.objects.filter(pk=point.pk).update(name=point.name)
