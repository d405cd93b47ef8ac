"""Renaming and deleting sessions from a page."""

import uuid

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.responses import go_to

from . import services


@require_POST
def rename(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    title = request.POST.get("title", "")
    services.update_session(caller_of(request), session_id, title=title)
    return go_to(request, reverse("operations:thread", args=[session_id]))


@require_POST
def delete(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    services.delete_session(caller_of(request), session_id)
    return go_to(request, reverse("operations:sessions"))
