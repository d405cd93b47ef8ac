"""The list of sessions."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.selectors import visible_projects
from threads.imports.jobs import index_if_worth
from threads.imports.views import import_jobs
from threads.search.services import SearchHit, search
from threads.store.selectors import list_sessions, visible_sessions

from .page import listed

PAGE = 50
SHOWN_MATCHES = 20


@require_safe
def start(request: HttpRequest) -> HttpResponse:
    """The first page: the only session there is, as at the first start, else the list."""
    sessions = visible_sessions(caller_of(request)).values_list("pk", flat=True)[:2]
    if len(only := list(sessions)) == 1:
        return redirect("operations:thread", only[0])
    return redirect("operations:sessions")


@require_safe
def matches(request: HttpRequest) -> HttpResponse:
    """Messages that hold the words `q`: for a script alone, else on the list's page."""
    if not request.headers.get("HX-Request"):
        return index(request)
    caller = caller_of(request)
    return render(request, "operations/sessions/matches.html", _found(request, caller))


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """Sessions, newest change first; for a script only the rows."""
    caller = caller_of(request)
    query, cursor = request.GET.get("q", ""), request.GET.get("cursor") or None
    found = list_sessions(caller, cursor=cursor, limit=PAGE, query=query)
    projects = list(visible_projects(caller))
    address = reverse("operations:sessions")
    older = urlencode({"q": query, "cursor": found.next_cursor or ""})
    context = {
        "sessions": listed(found.items),
        "count": visible_sessions(caller).count(),
        "jobs": import_jobs(caller),
        "query": query,
        "older_href": f"{address}?{older}" if found.next_cursor else "",
        "newest_href": address if cursor else "",
        "project": ", ".join(project.name for project in projects) or "no project",
        "may_edit": any(caller.may(Right.EDIT, project.pk) for project in projects),
    }
    if query and not cursor:
        context |= _found(request, caller)
    name = (
        "operations/sessions/rows.html"
        if request.headers.get("HX-Request")
        else "operations/sessions/sessions.html"
    )
    return render(request, name, context)


def _found(request: HttpRequest, caller: Caller) -> dict[str, object]:
    """What `threads/sessions/matches.html` shows."""
    query, after = request.GET.get("q", ""), request.GET.get("after") or None
    found = search(caller, query, cursor=after, limit=SHOWN_MATCHES)
    index_if_worth()
    more = urlencode({"q": query, "after": found.next_cursor or ""})
    return {
        "matches": [_shown(match) for match in found.matches],
        "more_href": f"{reverse('operations:matches')}?{more}"
        if found.next_cursor
        else "",
        "first": after is None,
    }


def _shown(match: SearchHit) -> dict[str, object]:
    """A match as its row shows it, the words in the midst apart."""
    text, place = match.excerpt.text, match.excerpt
    return {
        "session": match.session,
        "key": match.original.key,
        "index": match.original.row.index,
        "role": match.original.role,
        "before": ("…" if place.cut_before else "") + text[: place.start],
        "words": text[place.start : place.end],
        "behind": text[place.end :] + ("…" if place.cut_after else ""),
    }
