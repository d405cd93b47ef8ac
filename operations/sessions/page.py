"""The rows of the list of sessions: see `templates/operations/sessions/row.html`."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Min

from operations.domain.log.operation import Redact
from operations.log.overview import overview
from operations.log.selectors import load_thread
from operations.models import LogEntry
from threads.domain.message import Role
from threads.models import Message, Session
from threads.rendering.message import summary
from threads.store.origins import Kin, load_parents
from threads.store.selectors import load_recorded_at

MOST_REPLAYED = 20
"""Threads that one page of the list replays at most; the others are caught up by the next."""
_SOURCES = {"api": "API", "proxy": "Proxy"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One row of the list; `widest` are the most original tokens of a session in it."""

    id: uuid.UUID
    title: str
    line: str
    kin: tuple[str, Kin] | None
    """What it is to the session that it came from, and that one."""
    source: str
    message_count: int
    original: int
    effective: int
    on: int
    off: int
    proposed: int
    conflicts: int
    updated: datetime
    widest: int

    @property
    def share(self) -> int | None:
        if not self.original:
            return None
        return round(100 * (self.effective - self.original) / self.original)

    @property
    def original_width(self) -> str:
        """The pale bar, in per cent of the widest in the list."""
        return _width(self.original, self.widest)

    @property
    def effective_width(self) -> str:
        return _width(self.effective, self.widest)


def listed(sessions: Sequence[Session]) -> list[Listed]:
    overviews, first_words = _load_overviews(sessions), _load_first_words(sessions)
    parents = load_parents(sessions)
    widest = max((session.original_tokens for session in sessions), default=0)
    rows = []
    for session in sessions:
        numbers, line = overviews[session.pk], first_words.get(session.pk, "")
        says_title = line.startswith(session.title.rstrip("…")[:80])
        rows.append(
            Listed(
                id=session.pk,
                title=session.title,
                line="" if says_title else line,
                kin=parents.get(session.pk),
                source=_SOURCES.get(session.format, "File"),
                message_count=session.message_count,
                original=session.original_tokens,
                effective=numbers["effective_tokens"],
                on=numbers.get("on", 0),
                off=numbers.get("off", 0),
                proposed=numbers.get("proposed", 0),
                conflicts=numbers.get("conflict", 0),
                updated=session.updated_at,
                widest=widest,
            )
        )
    return rows


def _load_overviews(sessions: Sequence[Session]) -> dict[uuid.UUID, dict[str, Any]]:
    """The numbers of each session's thread, made again where the cache is empty."""
    found, replayed = {}, 0
    for session in sessions:
        if session.overview is not None:
            found[session.pk] = session.overview
        elif session.head and replayed < MOST_REPLAYED:
            replayed += 1
            found[session.pk] = numbers = overview(load_thread(session))
            unchanged = Session.objects.filter(
                pk=session.pk, head=session.head, message_count=session.message_count
            )
            unchanged.update(overview=numbers)
        else:
            found[session.pk] = {"effective_tokens": session.original_tokens}
    return found


def _load_first_words(sessions: Sequence[Session]) -> dict[uuid.UUID, str]:
    """How the first user message of each session begins.

    Sessions in which something was redacted are left out: what is masked stands nowhere.
    """
    masked = set(
        LogEntry.objects.filter(session__in=sessions, kind=Redact.kind).values_list(
            "session_id", flat=True
        )
    )
    firsts = dict(
        Message.objects.filter(session__in=sessions, role=Role.USER)
        .values_list("session_id")
        .annotate(Min("index"))
    )
    words = {}
    for session in sessions:
        index = firsts.get(session.pk)
        if index is None or session.pk in masked:
            continue
        for original in load_recorded_at(session, [index]).values():
            words[session.pk] = summary(original.role, original.parts)
    return words


def _width(tokens: int, widest: int) -> str:
    return f"{min(100.0, 100 * tokens / widest):.1f}%" if widest else "0%"
