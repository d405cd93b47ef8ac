"""A session in the list: see `templates/operations/sessions/row.html`."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from threads.models import Session
from threads.store.origins import Kin

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
        """How many per cent the tokens changed."""
        if not self.original:
            return None
        return round(100 * (self.effective - self.original) / self.original)

    @property
    def original_width(self) -> str:
        """The pale bar, in per cent of the widest in the list."""
        return _width(self.original, self.widest)

    @property
    def effective_width(self) -> str:
        """The solid bar."""
        return _width(self.effective, self.widest)


def listed(
    sessions: Sequence[Session],
    overviews: Mapping[uuid.UUID, Mapping[str, Any]],
    first_words: Mapping[uuid.UUID, str],
    parents: Mapping[uuid.UUID, tuple[str, Kin]],
) -> list[Listed]:
    """The rows of a page of the list."""
    widest = max((session.original_tokens for session in sessions), default=0)
    return [
        _listed(
            session,
            overviews[session.pk],
            first_words.get(session.pk, ""),
            parents.get(session.pk),
            widest,
        )
        for session in sessions
    ]


def _listed(
    session: Session,
    numbers: Mapping[str, Any],
    line: str,
    kin: tuple[str, Kin] | None,
    widest: int,
) -> Listed:
    return Listed(
        id=session.pk,
        title=session.title,
        line="" if line.startswith(session.title.rstrip("…")[:80]) else line,
        kin=kin,
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


def _width(tokens: int, widest: int) -> str:
    return f"{min(100.0, 100 * tokens / widest):.1f}%" if widest else "0%"
