"""Remembers how each session's last request began, to recognise one that continues it."""

import uuid
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, overload

from contextstudio.accounts.responses import read_json
from operations.log.cache import Cache
from threads.models import Session

from .raw import Beginning, ContinuedRequest, RawRequest, read_continued


class _Last(NamedTuple):
    """The last request of a session."""

    beginning: Beginning
    absent: int
    """How many originals it did not contain."""

    @property
    def weight(self) -> int:
        """Approximate memory use in bytes."""
        return self.beginning.length + 16 * len(self.beginning.bounds)


_beginnings: Cache[_Last] = Cache(lambda last: last.weight)
_TRIED = 64
"""How many sessions of one caller are tried for the start of a request."""
Form = dict[str, Any]
_latest: Cache[tuple[uuid.UUID, ...]] = Cache(lambda found: 100 * len(found))
"""The sessions of a caller's last requests, the latest first."""


def keep(actor: str, session: Session, raw: RawRequest, absent: int) -> None:
    """Remember how a request began, once the session holds all of its messages."""
    if raw.beginning is None:
        return
    _beginnings.keep((session.pk, raw.marks), _Last(raw.beginning, absent))
    key = actor, session.project_id, raw.marks
    known = _latest.get(key) or ()
    if session.parent_id is None and known[:1] != (session.pk,):
        others = (one for one in known if one != session.pk)
        _latest.keep(key, (session.pk, *others)[:_TRIED])


def find_continued(session_id: uuid.UUID, body: bytes) -> ContinuedRequest | None:
    """A request read from where the session's last one ended; None unless it starts with that."""
    last = _beginnings.get((session_id, b""))
    return None if last is None else read_continued(last.beginning, body)


def latest_sessions(actor: str, project_id: int, marks: bytes) -> Sequence[uuid.UUID]:
    """The sessions of a caller's last requests, the latest first."""
    return _latest.get((actor, project_id, marks)) or ()


def find_beginning(
    sessions: Iterable[uuid.UUID], marks: bytes, body: bytes
) -> tuple[uuid.UUID, _Last] | None:
    """The session whose last request a body starts with; the longest if there are several."""
    known = ((one, _beginnings.get((one, marks))) for one in sessions)
    found = [(one, at) for one, at in known if at and at.beginning.begins(body)]
    return max(found, key=lambda pair: pair[1].beginning.length, default=None)


class LazyMessages(Sequence[Form]):
    """The messages of a request; those that the last one also had are parsed only on access."""

    def __init__(self, raw: RawRequest, new: Sequence[Form]) -> None:
        self._raw, self._new = raw, new
        self._known = len(raw.messages) - len(new)

    def __len__(self) -> int:
        return len(self._raw.messages)

    @overload
    def __getitem__(self, place: int) -> Form: ...

    @overload
    def __getitem__(self, place: slice) -> list[Form]: ...

    def __getitem__(self, place: int | slice) -> Form | list[Form]:
        if isinstance(place, slice):
            return [self[at] for at in range(*place.indices(len(self)))]
        at = range(len(self))[place]
        if at >= self._known:
            return self._new[at - self._known]
        form: Form = read_json(self._raw.messages[at])
        return form
