"""The actions on a tray: collect, take out, insert. The tray itself is shown beside the archive."""

import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from archive.entries.views import address_of, inserted, to_inserted
from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.errors import Conflict
from contextstudio.accounts.domain.rights import Right
from threads.store.selectors import get_session

from .services import collect, insert_tray, take_out, tray_of

_MAX_LENGTH = 500
"""Most characters of a reference."""

_OTHERS = {"list": "add-in-reading", "reading": "add-in-list"}
"""Map of where an entry that is listed and read was added to the id of its other button."""


@require_POST
def add(request: HttpRequest, session_id: uuid.UUID) -> HttpResponseBase:
    """Put what `ref` names into the tray; htmx gets the HTML that replaces the button."""
    caller = caller_of(request)
    session = get_session(caller, session_id)
    collect(caller, session.pk, request.POST.get("ref", "")[:_MAX_LENGTH])
    if "HX-Request" not in request.headers:
        return _back(request, session_id)
    context = {
        "session": session,
        "tray": tray_of(caller, session.pk),
        "shows_tray": "shows_tray" in request.POST,
        "may_edit": caller.may(Right.PROPOSE, session.project_id),
        "here": address_of(request.GET),
        "other": _OTHERS.get(request.POST.get("pair", "")),
    }
    return render(request, "archive/tray/added.html", context)


@require_POST
def remove(
    request: HttpRequest, session_id: uuid.UUID, item_id: uuid.UUID | None = None
) -> HttpResponseBase:
    """Take one reference out of the tray, or all of them."""
    caller = caller_of(request)
    get_session(caller, session_id)
    take_out(caller, item_id)
    return _back(request, session_id)


@require_POST
def insert(request: HttpRequest, session_id: uuid.UUID) -> HttpResponseBase:
    """Insert what is in the tray at the end of the thread, as one bundle.

    If it was inserted or emptied in another window in the meantime, redirects back to it.
    """
    try:
        found = insert_tray(caller_of(request), session_id)
    except Conflict as refusal:
        messages.error(request, refusal.message)
        return _back(request, session_id)
    many = "1 entry" if found.entries == 1 else f"{found.entries} entries"
    done = inserted(found.transaction)
    of = " of" if found.transaction.waits else ""
    together = "" if found.entries == 1 else ", as one bundle"
    said = f"{done}{of} {many} at the end of the thread{together}."
    if found.left:
        said += f" {found.left} can no longer be read and stayed in the tray."
    messages.success(request, said, extra_tags="undo")
    return to_inserted(found.transaction)


def _back(request: HttpRequest, session_id: uuid.UUID) -> HttpResponseBase:
    address = reverse("archive:archive", args=[session_id])
    return redirect(f"{address}{address_of(request.GET)}#tray")
