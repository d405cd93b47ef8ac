"""Snapshots on the thread page: taken from a dialog, restored and deleted from the log."""

import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.errors import DomainError
from operations.editor.forms import SnapshotForm
from operations.snapshots import services
from threads.rendering.hidden import visible
from threads.store.selectors import get_session

from .dialogs import FORM, naming_context
from .patches import answer, patch, recording
from .requests import look_at


@recording
def take(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Take a snapshot of the thread as it is. If it is refused, returns the form again."""
    caller, form = caller_of(request), SnapshotForm(request.POST)
    session = get_session(caller, session_id)
    status = 422
    if form.is_valid():
        try:
            made = services.take_snapshot(caller, session_id, form.arguments.name)
            notice = f'Took snapshot "{visible(made.name)}".'
            return patch(request, look_at(request, session_id), notice=notice)
        except DomainError as error:
            form.refuse(error)
            status = error.status
    return render(request, FORM, naming_context(session, form), status=status)


@recording
def restore(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Go back to a snapshot."""
    name = request.POST.get("name", "")
    return answer(request, services.restore(caller_of(request), session_id, name))


@recording
def delete(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Delete a snapshot."""
    name = request.POST.get("name", "")
    services.delete_snapshot(caller_of(request), session_id, name)
    notice = f'Deleted snapshot "{visible(name)}".'
    return patch(request, look_at(request, session_id), notice=notice)
