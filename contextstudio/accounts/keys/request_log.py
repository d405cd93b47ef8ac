"""The log of requests made with keys: time, route, status and session.

Best effort, and no request waits for it: notes are collected while a request is answered, and
written in bulk a moment later. If the database is busy they wait for the next time. The newest
`MAX_KEPT` of each key are kept, none longer than `RETENTION`.
"""

import re
import uuid
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache

from django.urls import Resolver404, resolve
from django.utils import timezone

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.models import ApiKey, KeyRequest
from contextstudio.database.best_effort import write_if_free

MAX_KEPT = 1_000
"""The most requests kept of one key."""
RETENTION = timedelta(days=30)
MAX_WAITING = 10_000
"""The most notes that one process holds; while the database is down the oldest are lost."""
_MAX_LENGTH = 200
_PATHS = 256
"""How many paths are cached with their routes."""
Titles = Callable[[Caller, Collection[uuid.UUID]], Mapping[uuid.UUID, str]]
"""Returns the titles of the sessions that a caller may see, by id."""
_PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")


@dataclass(slots=True)
class RequestNote:
    """What is known of the current request."""

    method: str
    path: str
    key_id: int | None = None
    session_id: uuid.UUID | None = None
    tool: str = ""
    status: int = 0
    at: datetime = field(default_factory=timezone.now)


_current: ContextVar[RequestNote | None] = ContextVar("request at hand", default=None)
_pending: deque[RequestNote] = deque(maxlen=MAX_WAITING)
_titles: list[Titles] = []


@contextmanager
def noting_request(method: str, path: str) -> Iterator[RequestNote]:
    """A note of the request that is handled within the context; kept if it came with a key."""
    note = RequestNote(method, path)
    token = _current.set(note)
    try:
        yield note
    finally:
        _current.reset(token)
        if note.key_id is not None and note.status:
            _pending.append(note)


def note_key(key_id: int) -> None:
    """Note which key came with the current request, if there is one."""
    if (note := _current.get()) is not None:
        note.key_id = key_id


def note_session(session_id: uuid.UUID) -> None:
    """Note the first session named by the current request that its caller may see."""
    if (note := _current.get()) is not None and note.session_id is None:
        note.session_id = session_id


def note_tool(name: str) -> None:
    """Note the tool that the current request calls."""
    if (note := _current.get()) is not None:
        note.tool = name


def register(titles: Titles) -> None:
    """Register a function that returns the titles of sessions."""
    if titles not in _titles:
        _titles.append(titles)


def titles_of(caller: Caller, requests: Iterable[KeyRequest]) -> dict[uuid.UUID, str]:
    """The titles of the sessions in requests, by id, as far as the caller may see them."""
    named = {one.session_id for one in requests if one.session_id is not None}
    return {
        key: title for titles in _titles for key, title in titles(caller, named).items()
    }


def has_pending() -> bool:
    """Whether there are notes to write."""
    return bool(_pending)


def write_pending() -> None:
    """Write the waiting notes; if the database is busy or down they keep waiting."""
    notes = _take_pending()
    if notes and not write_if_free(lambda: _write(notes)):
        _pending.extend(
            [*notes, *_take_pending()]
        )  # appended, so that the oldest are dropped


def clean() -> None:
    """Delete requests older than `RETENTION`."""
    KeyRequest.objects.filter(at__lt=timezone.now() - RETENTION).delete()


def _take_pending() -> list[RequestNote]:
    return [_pending.popleft() for _ in range(len(_pending))]


def _write(notes: list[RequestNote]) -> None:
    named = {note.key_id for note in notes if note.key_id is not None}
    known = set(ApiKey.objects.filter(pk__in=named).values_list("pk", flat=True))
    rows = [_row(note, key_id) for note in notes if (key_id := note.key_id) in known]
    KeyRequest.objects.bulk_create(rows, batch_size=500)
    for key_id in known:
        of_key = KeyRequest.objects.filter(key=key_id).order_by("-pk")
        oldest = of_key.values_list("pk", flat=True)[MAX_KEPT : MAX_KEPT + 1].first()
        if oldest is not None:
            of_key.filter(pk__lte=oldest).delete()


def _row(note: RequestNote, key_id: int) -> KeyRequest:
    return KeyRequest(
        key_id=key_id,
        at=note.at,
        method=note.method[:10],
        route=_route(note),
        status=note.status,
        session_id=note.session_id,
    )


def _route(note: RequestNote) -> str:
    """The route of the request, with the called tool if any."""
    route = _route_of(note.path.replace("\x00", ""))
    if note.tool and not route.endswith(note.tool):
        route = f"{route} {note.tool}"
    return route[:_MAX_LENGTH]


@lru_cache(_PATHS)
def _route_of(path: str) -> str:
    """The route of a path, with parameter names in place of values; cached for loops."""
    try:
        match = resolve(path)
    except Resolver404:
        return path
    return "/" + _PARAMETER.sub(r"{\1}", match.route)
