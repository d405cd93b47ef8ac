"""Caches for HTML: bodies in the database, finished rows in the process.

    parts → body (`Rendering`, by project, content and renderer version) → row (`Fragments`)

A body depends on nothing but its role, its parts and their token counts. A row's key holds
everything that the row depends on, so nothing in `rows` ever has to be invalidated; both may be
emptied at any time.
"""

import hashlib
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from sys import getsizeof
from threading import Lock
from typing import Generic, TypeVar

from cachetools import LRUCache
from django.utils.safestring import SafeString

from contextstudio.database.best_effort import write_if_free
from threads.domain.message import Role
from threads.domain.part import Part, Thinking
from threads.models import Rendering

from . import VERSION
from .message import render

MAX_BYTES = 96 * 1024 * 1024
"""The most bytes of finished rows that a process keeps: some 20,000 rows."""
_KEY_BYTES = 600
_AT_ONCE = 500


Text = TypeVar("Text", bound=str | bytes)


class Fragments(Generic[Text]):
    """An LRU cache of finished texts, bounded by their bytes."""

    def __init__(self, most: int = MAX_BYTES) -> None:
        # An item larger than the whole cache is kept alone.
        self._kept: LRUCache[Hashable, Text]
        self._kept = LRUCache(
            most, lambda html: min(getsizeof(html) + _KEY_BYTES, most)
        )
        self._lock = Lock()

    def get(self, keys: Iterable[Hashable]) -> list[Text | None]:
        """The cached value of each key, in order; None if absent."""
        with self._lock:
            return [self._kept.get(key) for key in keys]

    def keep(self, key: Hashable, html: Text) -> None:
        """Cache a fragment, evicting those used longest ago."""
        with self._lock:
            self._kept[key] = html

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()

    @property
    def size(self) -> int:
        """The number of bytes cached."""
        return int(self._kept.currsize)


rows = Fragments[SafeString]()
"""The finished rows of this process."""


@dataclass(frozen=True, slots=True)
class RenderableBody:
    """The content of a message; `digest` is that of exactly these parts.

    `counts` are the tokens of each part, if known; `is_original` says that a body row holds these
    parts, so that storing its HTML is worthwhile.
    """

    digest: bytes
    role: Role
    parts: tuple[Part, ...]
    counts: tuple[int, ...] = ()


def load_bodies(
    project_id: int, bodies: Iterable[RenderableBody]
) -> dict[bytes, SafeString]:
    """The HTML of each body by its digest: read in one query, or rendered and stored."""
    wanted = {_key(body): body for body in bodies}
    keys = list(wanted)
    found: dict[bytes, str] = {}
    stored = Rendering.objects.filter(project_id=project_id, version=VERSION)
    for first in range(0, len(keys), _AT_ONCE):
        some = stored.filter(digest__in=keys[first : first + _AT_ONCE])
        rows_found = some.values_list("digest", "html")
        found.update((bytes(key), html) for key, html in rows_found)
    made = {
        key: str(render(body.role, body.parts, counts=body.counts))
        for key, body in wanted.items()
        if key not in found
    }
    if made:
        new = [
            Rendering(project_id=project_id, digest=key, version=VERSION, html=html)
            for key, html in made.items()
        ]
        # If it can't be stored now, it is rendered again next time.
        write_if_free(
            lambda: Rendering.objects.bulk_create(
                new, ignore_conflicts=True, batch_size=_AT_ONCE
            )
        )
    html_of = found | made
    return {body.digest: SafeString(html_of[key]) for key, body in wanted.items()}


def _key(body: RenderableBody) -> bytes:
    """The digest under which a body's HTML is stored.

    Folded thinking shows its tokens, which depend on the session's encoding: then the counts are
    part of the key.
    """
    if not any(isinstance(part, Thinking) for part in body.parts):
        return body.digest
    return hashlib.sha256(body.digest + repr(body.counts).encode()).digest()
