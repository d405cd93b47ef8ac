"""What may not be read of originals: another app says what is masked, every reader asks here.

Originals never change, and what hides text of them lies in an app above this one. So that no
door can forget it, `threads.store.originals` reads them through the masks registered here.
"""

import uuid
from collections.abc import Callable, Iterable, Mapping

from django.db.models import QuerySet

from threads.domain.part import Part
from threads.models import Session

Readings = Mapping[int, tuple[Part, ...]]
"""Originals of one session by their indexes: what each says."""
Mask = Callable[[Session, Readings], Readings]
"""Gives the same originals as they may be read."""

Place = tuple[uuid.UUID, int]
"""An original: its session and its index."""
Touched = Callable[[QuerySet[Session]], Iterable[Place]]
"""Names the originals of these sessions that a mask may change."""

Words = Callable[[Session, str], str]
"""Gives a title of a session as it may be read."""

_masks: list[Mask] = []
_touched: list[Touched] = []
_titles: list[Words] = []


def register(mask: Mask, touched: Touched) -> None:
    """Let every reader of originals see them through this mask, once."""
    if mask not in _masks:
        _masks.append(mask)
        _touched.append(touched)


def register_titles(words: Words) -> None:
    """Let every title that is given to a session be masked by this, once."""
    if words not in _titles:
        _titles.append(words)


def masked_title(session: Session, title: str) -> str:
    for words in _titles:
        title = words(session, title)
    return title


def masked(session: Session, readings: Readings) -> Readings:
    for mask in _masks:
        readings = mask(session, readings)
    return readings


def touched(sessions: QuerySet[Session]) -> set[Place]:
    """The originals of these sessions that may read otherwise than they were recorded."""
    return {place for one in _touched for place in one(sessions)}
