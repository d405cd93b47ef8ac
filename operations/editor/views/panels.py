"""What stands beside the thread: the operations, the log, the outline."""

import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from operations.editor.panels.journal import journal_of
from operations.editor.panels.outline import outline_of
from operations.requests import number_of

from .patches import drawer_for
from .requests import look_at


@require_safe
def operations(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """The panel of operations."""
    look = look_at(request, session_id)
    context = {
        "drawer": drawer_for(request, look, show_all=bool(request.GET.get("all"))),
        "may_edit": look.may_edit,
        "may_propose": look.may_propose,
    }
    return render(request, "operations/editor/panels/panel.html", context)


@require_safe
def log(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """A page of the log, newest first, or what is older than entry `before`."""
    look = look_at(request, session_id)
    before = number_of(request.GET, "before", 0) or None
    entries = journal_of(look.operations, before=before)
    last = int(entries[-1].key[1:]) if entries else 1
    address = reverse("operations:log", args=[session_id])
    older = f"{address}?before={last}" if last > 1 else ""
    return render(
        request,
        "operations/editor/panels/log.html",
        {"entries": entries, "older_href": older},
    )


@require_safe
def outline(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """The outline of the thread."""
    look = look_at(request, session_id)
    return render(
        request,
        "operations/editor/frame/outline_list.html",
        {"outline": outline_of(look)},
    )
