"""Listing the archive, putting messages into it by hand, and what was recalled after all."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, Q, QuerySet, Sum
from django.db.transaction import atomic

from archive.domain.excerpt import summary_of
from archive.domain.pruning.plan import Stashed
from archive.domain.pruning.tool_uses import tool_uses
from archive.domain.tool_use import kind_of, paths_of
from archive.models import ArchiveEntry
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.paging import Page, clamp
from contextstudio.accounts.domain.rights import Right
from operations.context.pipeline import counter_of
from operations.domain.tree.key import Key
from operations.log.selectors import load_thread
from operations.messages.reader import MessageReader, MessageText
from threads.domain.text import fold
from threads.models import Session
from threads.store.selectors import get_session, newest_first, recallable_sessions

from .selectors import Readable, entries_by_reference, readable
from .store import keep, pack


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveQuery:
    """Which entries are asked for; what is empty is no condition."""

    session_id: uuid.UUID | None = None
    project: str | None = None
    content_type: str = ""
    tool: str = ""
    path: str = ""
    since: datetime | None = None
    until: datetime | None = None
    words: str = ""


class Regret(NamedTuple):
    """How much of what a rule left out was recalled after all."""

    rule: str
    archived: int
    recalled: int
    recalls: int


def list_entries(
    caller: Caller, query: ArchiveQuery, *, cursor: str | None, limit: int | None
) -> Page[Readable]:
    """Entries of what the caller may recall, the newest first. Raises NotFound, Invalid."""
    rows = _found(caller, query).select_related("session", "session__project")
    count, found = clamp(limit), list[Readable]()
    while True:
        page = newest_first(rows, "archived_at", cursor, count)
        # A masked text must not be found either.
        found += [one for one in readable(page.items) if _matches(one, query)]
        cursor = page.next_cursor
        if cursor is None or found:
            return Page(found, cursor)


def archive_by_hand(
    caller: Caller, session_id: uuid.UUID, keys: Sequence[Key]
) -> list[ArchiveEntry]:
    """Put messages into the archive; the thread stays as it is. Raises NotFound, Forbidden."""
    session = get_session(caller, session_id, Right.OWN_SESSION)
    reader = MessageReader(session, load_thread(session))
    words = reader.recorded(keys)
    packed = pack(session, [_by_hand(session, one) for one in words.values()], words)
    with atomic():
        keep(session, packed)
    return entries_by_reference(session, [one.entry.ref_id for one in packed])


def regret_of(session: Session) -> list[Regret]:
    """For each rule how much of what it left out was recalled, by agents or through the API."""
    rows = ArchiveEntry.objects.filter(session=session).exclude(rule="")
    counted = rows.values("rule").annotate(
        archived=Count("pk"),
        recalled=Count("pk", filter=Q(access_count__gt=0)),
        recalls=Sum("access_count"),
    )
    return [Regret(**one) for one in counted.order_by("rule")]


def facets_of(caller: Caller, query: ArchiveQuery) -> dict[str, list[str]]:
    """The kinds and tools that there are under a query's session and project."""
    rows = _found(
        caller, ArchiveQuery(session_id=query.session_id, project=query.project)
    )
    names = {"type": "content_type", "tool": "tool_name"}
    return {
        facet: sorted(
            filter(None, rows.order_by().values_list(name, flat=True).distinct())
        )
        for facet, name in names.items()
    }


def _found(caller: Caller, query: ArchiveQuery) -> QuerySet[ArchiveEntry]:
    sessions = recallable_sessions(caller, query.project)
    if query.session_id is not None:
        sessions = sessions.filter(pk=query.session_id)
    rows = ArchiveEntry.objects.filter(session__in=sessions).exclude(content=None)
    if query.project is not None:
        rows = rows.filter(project__slug=query.project)
    if query.content_type:
        rows = rows.filter(content_type=query.content_type)
    if query.tool:
        rows = rows.filter(tool_name=query.tool)
    if query.since is not None:
        rows = rows.filter(archived_at__gte=query.since)
    if query.until is not None:
        rows = rows.filter(archived_at__lt=query.until)
    for words in filter(None, (query.words, query.path)):
        rows = rows.filter(words__contains=fold(words).replace("\0", ""))
    return rows


def _matches(found: Readable, query: ArchiveQuery) -> bool:
    paths = [fold(path) for path in found.file_paths]
    told = "\n".join([fold(found.summary), fold(found.entry.tool_name), *paths])
    has_path = not query.path or any(fold(query.path) in path for path in paths)
    return has_path and fold(query.words) in told


def _by_hand(session: Session, message: MessageText) -> Stashed:
    """What the archive notes of a message that is put into it as it stands."""
    (use,) = tool_uses([message.parts])[:1] or (None,)
    call = use.call if use else None
    return Stashed(
        key=message.key,
        name=message.original.row.short_id if message.original else message.key,
        location=None,
        content_type=kind_of(call.name, call.arguments) if call else "other",
        summary=summary_of(message.parts),
        file_paths=tuple(paths_of(call)) if call else (),
        tool_name=use.name if use else "",
        tokens=counter_of(session.encoding)(message.parts),
    )
