"""The list of sessions: see `templates/operations/sessions/row.html`."""

import uuid
from collections.abc import Collection, Sequence
from functools import partial
from itertools import groupby
from typing import Any

from django.db.models import Exists, Min, OuterRef, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.models import Project
from contextstudio.accounts.selectors import get_project, visible_projects
from contextstudio.database.best_effort import write_if_free
from operations.domain.log.operation import Redact
from operations.log.selectors import load_thread, overview
from operations.models import LogEntry
from threads.domain.formats.kit.transcripts import typed_parts
from threads.domain.formats.sources import source_of
from threads.domain.message import Role
from threads.imports.jobs import enqueue_index_if_free
from threads.imports.views import import_jobs, projects_to_import_into
from threads.models import Message, Session
from threads.rendering import summary
from threads.rendering.hidden import visible
from threads.rendering.text import ansi
from threads.search import meaning
from threads.search.by_meaning import search_by_meaning
from threads.search.services import SearchHit, search
from threads.store.originals import load_recorded_at
from threads.store.origins import load_parents
from threads.store.selectors import deleted_sessions, list_sessions, visible_sessions

PAGE = 50
NAMED_PROJECTS = 3
SHOWN_MATCHES = 20
TOKENS = "tokens"
"""The value of `sort` that lists the sessions with the most tokens first."""
MAX_REPLAYED = 20
"""Most threads that one request replays; later requests replay the others."""


_PROPOSED = LogEntry.objects.filter(session=OuterRef("pk"), proposed=True, staged=False)
AWAITING = Q(overview__proposed__gt=0) | Q(Exists(_PROPOSED), overview__isnull=True)
"""Sessions in which something waits for review, or may wait if their overview isn't cached."""


@require_safe
def start(request: HttpRequest) -> HttpResponse:
    """The start page: the only session if there is just one, otherwise the list."""
    sessions = visible_sessions(caller_of(request)).values_list("pk", flat=True)[:2]
    if len(only := list(sessions)) == 1:
        return redirect("operations:thread", only[0])
    return redirect("operations:sessions")


@require_safe
def matches(request: HttpRequest) -> HttpResponse:
    """Messages that contain the words `q`: a fragment for htmx, otherwise the list's page."""
    if not request.headers.get("HX-Request"):
        return index(request)
    caller = caller_of(request)
    return render(request, "operations/sessions/matches.html", _found(request, caller))


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """The list of sessions, last changed first, or most tokens first if `sort` says so.

    `awaiting` limits it to sessions in which something waits for review, `project` to one project.
    """
    caller, chosen = caller_of(request), request.GET.get("project") or None
    query, cursor = request.GET.get("q", ""), request.GET.get("cursor") or None
    source, awaiting = request.GET.get("source", ""), "awaiting" in request.GET
    by_tokens = request.GET.get("sort") == TOKENS
    found = list_sessions(
        caller,
        project=chosen,
        cursor=cursor,
        limit=PAGE,
        query=query,
        source=source,
        among=AWAITING if awaiting else None,
        by_tokens=by_tokens,
    )
    projects, own = visible_projects(caller), projects_to_import_into(caller)
    listed = [get_project(caller, chosen)] if chosen else projects
    address = reverse("operations:sessions")
    by_meaning = _is_by_meaning(request)
    said = ({"project": chosen} if chosen else {}) | {"q": query, "source": source}
    if awaiting:
        said = {"awaiting": "on"} | said
    if by_meaning:
        said = {"meaning": "on"} | said
    in_order = {"sort": TOKENS} if by_tokens else {}
    otherwise = _said(said | ({} if by_tokens else {"sort": TOKENS}))
    said = in_order | said
    older = urlencode({**said, "cursor": found.next_cursor or ""})
    newest = _said(said)
    context = {
        "sessions": _listed(caller, found.items, listed),
        "deleted_count": deleted_sessions(caller).count(),
        "count": visible_sessions(caller, chosen).count(),
        "jobs": import_jobs(caller),
        "query": query,
        "source": source,
        "awaiting": awaiting,
        "awaiting_count": visible_sessions(caller, chosen).filter(AWAITING).count(),
        "awaiting_href": _said({"awaiting": "on", "project": chosen or ""}),
        "sources": _sources(caller),
        "all_projects": projects,
        "chosen": chosen,
        "has_meaning": meaning.is_on(),
        "by_meaning": by_meaning,
        "by_tokens": by_tokens,
        "otherwise_href": f"{address}{otherwise}",
        "older_href": f"{address}?{older}" if found.next_cursor else "",
        "newest_href": f"{address}{newest}" if cursor else "",
        "project": _named([project.name for project in listed]),
        "may_edit": bool(own),
        "projects": own,
    }
    if query and not cursor:
        context |= _found(request, caller)
    return render(request, "operations/sessions/sessions.html", context)


def _named(projects: Sequence[str]) -> str:
    """The names of the projects, or their number if there are many."""
    if len(projects) > NAMED_PROJECTS:
        return f"{len(projects):,} projects"
    return ", ".join(map(visible, projects)) or "no project"


def _said(fields: dict[str, str]) -> str:
    """The query string of a list: `?q=tide&sort=tokens`; empty fields are left out."""
    given = urlencode({name: word for name, word in fields.items() if word})
    return f"?{given}" if given else ""


def _sources(caller: Caller) -> list[str]:
    """The sources of all visible sessions, in alphabetical order."""
    formats = visible_sessions(caller).order_by().values_list("format", flat=True)
    return sorted({source_of(name) for name in formats.distinct()}, key=str.lower)


def _found(request: HttpRequest, caller: Caller) -> dict[str, object]:
    query, after = request.GET.get("q", ""), request.GET.get("after") or None
    by_meaning = _is_by_meaning(request)
    find = search_by_meaning if by_meaning else search
    found = find(
        caller,
        query,
        project=request.GET.get("project") or None,
        source=request.GET.get("source", ""),
        among=AWAITING if "awaiting" in request.GET else None,
        cursor=after,
        limit=SHOWN_MATCHES,
    )
    enqueue_index_if_free()
    kept = ("q", "project", "source", "awaiting", "meaning")
    asked = {name: word for name in kept if (word := request.GET.get(name))}
    more = urlencode(asked | {"after": found.next_cursor or ""})
    return {
        "by_meaning": by_meaning,
        "pending": found.pending,
        "groups": [
            {"session": session, "matches": [_match(match) for match in matches]}
            for session, matches in groupby(found.matches, key=lambda one: one.session)
        ],
        "more_href": f"{reverse('operations:matches')}?{more}"
        if found.next_cursor
        else "",
        "first": after is None,
    }


def _is_by_meaning(request: HttpRequest) -> bool:
    """Whether search by meaning was asked for and is on."""
    return "meaning" in request.GET and meaning.is_on()


def _match(match: SearchHit) -> dict[str, object]:
    """A match as its row shows it: the words apart from the text around, without ANSI codes."""
    text, place = match.excerpt.text, match.excerpt
    return {
        "key": match.original.key,
        "index": match.original.row.index,
        "role": match.original.role,
        "similarity": match.similarity,
        "before": ("…" if place.cut_before else "") + ansi.strip(text[: place.start]),
        "words": text[place.start : place.end],
        "behind": ansi.strip(text[place.end :]) + ("…" if place.cut_after else ""),
    }


def _listed(
    caller: Caller, sessions: Sequence[Session], projects: Collection[Project]
) -> list[dict[str, Any]]:
    """The rows of the sessions; each names its project if there are several projects."""
    names = {one.pk: one.name for one in projects if len(projects) > 1}
    overviews, first_words = _load_overviews(sessions), _load_first_words(sessions)
    parents = load_parents(sessions)
    widest = max((session.original_tokens for session in sessions), default=0)
    rows = []
    for session in sessions:
        numbers, line = overviews[session.pk], first_words.get(session.pk, "")
        says_title = line.startswith(session.title.rstrip("…")[:80])
        original, effective = session.original_tokens, numbers["effective_tokens"]
        rows.append(
            {
                "id": session.pk,
                "title": session.title,
                "line": "" if says_title else line,
                "project": names.get(session.project_id, ""),
                "kin": parents.get(session.pk),
                "source": source_of(session.format),
                "message_count": session.message_count,
                "original": original,
                "effective": effective,
                "has_bar": original >= widest / 50 > 0,
                "original_width": _width(original, widest),
                "effective_width": _width(effective, widest),
                "on": numbers.get("on", 0),
                "off": numbers.get("off", 0),
                "proposed": numbers.get("proposed", 0),
                "conflicts": numbers.get("conflict", 0),
                "updated": session.updated_at,
                "may_edit": caller.may(Right.EDIT, session.project_id),
            }
        )
    return rows


def _load_overviews(sessions: Sequence[Session]) -> dict[uuid.UUID, dict[str, Any]]:
    """Map of session to its overview, which is computed again if it isn't cached."""
    found, replayed = {}, 0
    for session in sessions:
        if session.overview is not None:
            found[session.pk] = session.overview
        elif session.head and replayed < MAX_REPLAYED:
            replayed += 1
            found[session.pk] = numbers = overview(load_thread(session))
            unchanged = Session.objects.filter(
                pk=session.pk, head=session.head, message_count=session.message_count
            )
            write_if_free(partial(unchanged.update, overview=numbers))
        else:
            found[session.pk] = {"effective_tokens": session.original_tokens}
    return found


def _load_first_words(sessions: Sequence[Session]) -> dict[uuid.UUID, str]:
    """Map of session to the first words of its first user message, as the user typed them.

    Sessions in which anything was redacted are left out, so that no masked text is shown.
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
            words[session.pk] = summary(original.role, typed_parts(original.parts))
    return words


def _width(tokens: int, widest: int) -> str:
    """The width of a bar, in per cent of the widest in the list."""
    return f"{min(100.0, 100 * tokens / widest):.1f}%" if widest else "0%"
