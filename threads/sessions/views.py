"""Renaming, deleting, restoring and erasing sessions from a page."""

import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.responses import go_to
from threads.rendering.hidden import visible
from threads.store.selectors import deleted_sessions, get_session

from . import erasing, services

MAX_LISTED = 100
"""How many deleted sessions the page lists, the latest first."""


@require_POST
def rename(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Rename a session; `back` is "list" if that was requested on the list."""
    caller = caller_of(request)
    if gone := deleted_sessions(caller).filter(pk=session_id).first():
        sentence = f'"{visible(gone.title)}" was deleted meanwhile and keeps its title.'
        return _lead_to_list(request, sentence)
    before = get_session(caller, session_id).title
    title = request.POST.get("title", request.GET.get("title", ""))
    session = services.update_session(caller, session_id, title=title)
    back = request.POST.get("back", request.GET.get("back", ""))
    if session.title != before:
        undo = reverse("threads:rename", args=[session_id])
        _notify(
            request,
            f'Renamed to "{visible(session.title)}".',
            f"{undo}?{urlencode({'title': before, 'back': back})}",
        )
    if back == "list":
        return go_to(request, reverse("operations:sessions"))
    return go_to(request, reverse("operations:thread", args=[session_id]))


@require_POST
def delete(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Hide a session for 30 days."""
    if gone := deleted_sessions(caller_of(request)).filter(pk=session_id).first():
        return _lead_to_list(request, f'"{visible(gone.title)}" was already deleted.')
    session = services.delete_session(caller_of(request), session_id)
    undo = reverse("threads:restore", args=[session_id])
    _notify(request, f'Deleted "{visible(session.title)}".', undo)
    return go_to(request, reverse("operations:sessions"))


@require_POST
def restore(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Restore a deleted session."""
    session = services.restore_session(caller_of(request), session_id)
    undo = reverse("threads:delete", args=[session_id])
    _notify(request, f'Restored "{visible(session.title)}".', undo)
    return go_to(request, reverse("operations:sessions"))


@require_POST
def purge(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Erase a deleted session before its 30 days are over."""
    session = services.delete_session(caller_of(request), session_id, purge=True)
    messages.success(request, f'Erased "{visible(session.title)}" for good.')
    return go_to(request, reverse("threads:deleted"))


@require_safe
def deleted(request: HttpRequest) -> HttpResponse:
    """List the sessions that were deleted and can still be restored."""
    caller = caller_of(request)
    found = deleted_sessions(caller).select_related("project")
    context = {
        "sessions": found[:MAX_LISTED],
        "may_restore": caller.projects(Right.EDIT),
        "may_purge": caller.projects(Right.ADMIN),
        "count": found.count(),
        "days": erasing.RETENTION.days,
    }
    return render(request, "threads/sessions/deleted.html", context)


def _lead_to_list(request: HttpRequest, warning: str) -> HttpResponse:
    """Show the list with the warning: it no longer has the session, and links to deleted ones."""
    messages.warning(request, warning)
    return go_to(request, reverse("operations:sessions"))


def _notify(request: HttpRequest, sentence: str, undo: str) -> None:
    """Add a notice to the next page, with the address to post to in order to undo."""
    messages.success(request, sentence, extra_tags=undo)
