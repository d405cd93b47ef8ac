"""Finds entries by their properties, newest first, and lists the facets to choose from.

A project's entries are walked in the order they were archived, and the session of each is looked
up: that costs the same in an archive of a million entries as in a small one. Several projects are
walked one by one, and the results merged. Words are looked up in their index, which also returns
entries in archiving order; within one session the words are read instead.
"""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, OuterRef, QuerySet

from archive.models import ArchiveEntry, EntryWords
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.domain.paging import (
    Page,
    clamp,
    decode_cursor,
    encode_cursor,
)
from contextstudio.accounts.domain.storable import storable
from contextstudio.accounts.models import Project
from contextstudio.database.steps import chunks
from threads.domain.text import fold
from threads.store.selectors import newest_first, recallable_sessions

from .selectors import Readable, readable
from .words import ENTRIES, searched

MAX_EXAMINED = 5000
"""Most entries that one page examines for words; the next page continues from there."""
_AT_ONCE = 200
_SHOWN = ("session", "session__project")


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveQuery:
    """Which entries to find; an empty field is no condition."""

    session_id: uuid.UUID | None = None
    project: str | None = None
    content_type: str = ""
    tool: str = ""
    path: str = ""
    since: datetime | None = None
    until: datetime | None = None
    words: str = ""
    meaning: bool = False
    """Whether `words` are searched by meaning instead of literally."""

    @property
    def wanted(self) -> list[str]:
        """The strings that an entry's words must contain, longest first."""
        given = filter(None, (searched(self.words), searched(self.path)))
        return sorted(given, key=len, reverse=True)


def list_entries(
    caller: Caller, query: ArchiveQuery, *, cursor: str | None, limit: int | None
) -> Page[Readable]:
    """The entries that the caller may recall, newest first. Raises Invalid."""
    count, found = clamp(limit), list[Readable]()
    if query.session_id is None and query.wanted:
        return _holding(caller, query, cursor, count)
    while True:
        page = _newest(caller, query, cursor, count)
        # A masked text must not be found either.
        found += [one for one in readable(page.items) if matches(one, query)]
        cursor = page.next_cursor
        if cursor is None or found:
            return Page(found, cursor)


def facets_of(caller: Caller, query: ArchiveQuery) -> dict[str, list[str]]:
    """The kinds and tools that occur in a query's session or project."""
    below = ArchiveQuery(session_id=query.session_id, project=query.project)
    names = {"type": "content_type", "tool": "tool_name"}
    found: dict[str, set[str]] = {facet: set() for facet in names}
    for rows in _found(caller, below):
        for facet, name in names.items():
            found[facet].update(_values(rows, name))
    return {facet: sorted(values) for facet, values in found.items()}


def _holding(
    caller: Caller, query: ArchiveQuery, cursor: str | None, count: int
) -> Page[Readable]:
    """A page of entries that contain the wanted words.

    It ends early once `MAX_EXAMINED` entries were examined.
    """
    found: list[Readable] = []
    examined = 0
    named = ENTRIES.candidates(query.wanted[0], _position(cursor))
    for some in chunks(named, min(_AT_ONCE, max(20, count))):
        for key, one in _scan_words(caller, query, some):
            found.append(one)
            if len(found) == count:
                return Page(found, encode_cursor([key]))
        examined += len(some)
        if examined >= MAX_EXAMINED:
            return Page(found, encode_cursor([some[-1]]))
    return Page(found, None)


def _scan_words(
    caller: Caller, query: ArchiveQuery, keys: Sequence[int]
) -> Iterator[tuple[int, Readable]]:
    """Yield the rows of words, among these keys, that contain the wanted strings.

    Each comes with its entry, with redactions applied.
    """
    rows = EntryWords.objects.filter(pk__in=keys).order_by("-pk")
    words_of = {
        entry: key
        for key, entry, words in rows.values_list("pk", "entry", "words")
        if all(wanted in words for wanted in query.wanted)
    }
    if not words_of:
        return
    entries = (
        filtered_entries(caller, query).select_related(*_SHOWN).in_bulk(list(words_of))
    )
    held = [entries[entry] for entry in words_of if entry in entries]
    for one in readable(held):
        if matches(one, query):
            yield words_of[one.entry.pk], one


def _position(cursor: str | None) -> int | None:
    """The key of the words after which a page starts. Raises Invalid for another list's cursor."""
    if not cursor:
        return None
    (key,) = decode_cursor(cursor, 1)
    if type(key) is not int or not 0 < key < 1 << 62:
        raise Invalid("This cursor does not belong to this list.", at=["cursor"])
    return key


def _newest(
    caller: Caller, query: ArchiveQuery, cursor: str | None, count: int
) -> Page[ArchiveEntry]:
    """A page of entries that may match: the newest of every project, merged."""
    pages = [
        newest_first(rows.only("archived_at"), "archived_at", cursor, count)
        for rows in _found(caller, query)
    ]
    every = sorted(
        ((one.archived_at, one.pk) for page in pages for one in page.items),
        reverse=True,
    )
    kept = every[:count]
    # Join only here: a database that joins the sessions first would sort all of their entries.
    rows = ArchiveEntry.objects.select_related(*_SHOWN)
    entries = rows.in_bulk([key for _, key in kept])
    items = [entries[key] for _, key in kept if key in entries]
    if len(every) == len(kept) and all(page.next_cursor is None for page in pages):
        return Page(items, None)
    at, key = kept[-1]
    return Page(items, encode_cursor([at.isoformat(), str(key)]))


def _found(caller: Caller, query: ArchiveQuery) -> Iterator[QuerySet[ArchiveEntry]]:
    """The entries a query selects: one queryset for its session, or one per project."""
    rows = filtered_entries(caller, query)
    if query.session_id is not None:
        for wanted in query.wanted:
            rows = rows.filter(words__words__contains=wanted)
        yield rows.filter(session=query.session_id)
        return
    entries = ArchiveEntry.objects.filter(project=OuterRef("pk"))
    projects = Project.objects.filter(Exists(entries), pk__in=caller.recallable)
    if query.project is not None:
        projects = projects.filter(slug=storable(query.project))
    for key in projects.values_list("pk", flat=True):
        yield rows.filter(project=key)


def filtered_entries(caller: Caller, query: ArchiveQuery) -> QuerySet[ArchiveEntry]:
    """What the caller may recall, filtered by all of a query but its session and words."""
    sessions = recallable_sessions(caller, query.project)
    own = Exists(sessions.filter(pk=OuterRef("session")))
    rows = ArchiveEntry.objects.filter(own, content__isnull=False)
    if query.content_type:
        rows = rows.filter(content_type=storable(query.content_type))
    if query.tool:
        rows = rows.filter(tool_name=storable(query.tool))
    if query.since is not None:
        rows = rows.filter(archived_at__gte=query.since)
    if query.until is not None:
        rows = rows.filter(archived_at__lt=query.until)
    return rows


def _values(rows: QuerySet[ArchiveEntry], name: str) -> Iterator[str]:
    """The distinct values of a column, one index lookup each: few values, many entries."""
    ordered = rows.order_by(name).values_list(name, flat=True)
    value: str | None = ""
    while value := ordered.filter(**{f"{name}__gt": value}).first():
        yield value


def matches(found: Readable, query: ArchiveQuery) -> bool:
    """Whether an entry, with redactions applied, has the words and the path of a query."""
    paths = [fold(path) for path in found.file_paths]
    told = "\n".join([fold(found.summary), fold(found.entry.tool_name), *paths])
    has_path = not query.path or any(fold(query.path) in path for path in paths)
    return has_path and fold(query.words) in told
