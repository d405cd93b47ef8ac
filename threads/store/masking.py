"""Masks for originals: another app says what is masked, and every reader applies it.

Originals never change, and what hides their text belongs to an app above this one. So that no door
can forget it, `threads.store.originals` reads them through the masks registered here.
"""

import uuid
from collections.abc import Callable, Iterable, Mapping

from django.db.models import QuerySet

from threads.domain.part import Part
from threads.models import Session

Readings = Mapping[int, tuple[Part, ...]]
"""The parts of originals of one session, by index."""
Mask = Callable[[Session, Readings], Readings]
"""Returns the same originals as they may be read."""

Place = tuple[uuid.UUID, int]
"""An original, as its session's id and its index."""
FindMasked = Callable[[QuerySet[Session]], Iterable[Place]]
"""Yields the originals of these sessions that a mask may change."""

Words = Callable[[Session, str], str]
"""Returns a title of a session as it may be read."""

_masks: list[Mask] = []
_touched: list[FindMasked] = []
_titles: list[Words] = []


def register(mask: Mask, touched: FindMasked) -> None:
    """Register a mask through which every reader sees originals."""
    if mask not in _masks:
        _masks.append(mask)
        _touched.append(touched)


def register_titles(words: Words) -> None:
    """Register a mask for every title that is given to a session."""
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


def masked_places(sessions: QuerySet[Session]) -> set[Place]:
    """The originals of these sessions that may read differently from what was recorded."""
    return {place for one in _touched for place in one(sessions)}
