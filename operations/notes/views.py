"""What a session keeps beside its messages: objective, STATE, scratchpad."""

import uuid
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Conflict, Invalid
from contextstudio.accounts.domain.rights import Right
from operations.context.rebuild_state import rebuild_state
from operations.form_fields import sendable
from operations.log.selectors import load_thread
from operations.messages.names import name_of
from operations.requests import number_of
from threads.models import Session
from threads.rendering.message import render_difference
from threads.sessions.services import update_session
from threads.store.selectors import get_session

from .page import ObjectiveForm, ScratchpadForm, StateForm, notebook_of
from .scratchpads import load_scratchpad, write_scratchpad
from .states import set_state

_FORMS: dict[str, type[forms.Form]] = {
    "objective": ObjectiveForm,
    "state": StateForm,
    "scratchpad": ScratchpadForm,
}
_SAID = {
    "objective": "Objective saved.",
    "state": "STATE saved.",
    "scratchpad": "Scratchpad saved.",
    "restore": "Restored as a new version.",
}

_YOURS = "Save again to replace that version with yours."


@require_http_methods(["GET", "HEAD", "POST"])
def page(request: HttpRequest, session_id: uuid.UUID) -> HttpResponseBase:
    """The page, with `version` of the scratchpad, and STATE compared with what is sent.

    POST writes what `act` names.
    """
    caller = caller_of(request)
    session = get_session(caller, session_id)
    if request.method != "POST":
        return _shown(request, caller, session, {})
    act = request.POST.get("act", "")
    if act == "restore":
        old = load_scratchpad(session, number_of(request.POST, "version"))
        write_scratchpad(caller, session.pk, old.content)
    elif act not in _FORMS:
        raise Invalid("There is no form of that name.", at=["act"])
    elif refused := _write(request, caller, session, act):
        return refused
    messages.success(request, _SAID[act])
    section = "scratchpad" if act == "restore" else act
    address = reverse("operations:notes", args=[session.pk])
    return HttpResponse(status=302, headers={"Location": f"{address}#{section}"})


def _write(
    request: HttpRequest, caller: Caller, session: Session, act: str
) -> HttpResponse | None:
    """Write what the form says; the page with what is wrong where it can't be."""
    form = _FORMS[act](request.POST)
    if not form.is_valid():
        return _shown(request, caller, session, {act: form}, status=422)
    try:
        given = form.cleaned_data
        if act == "objective":
            update_session(caller, session.pk, objective=given["objective"])
        elif act == "state":
            set_state(caller, session.pk, given["content"])
        else:
            content, version = given["content"], given["version"]
            write_scratchpad(caller, session.pk, content, expected_version=version)
    except Invalid as error:
        form.add_error(None, str(error))
        return _shown(request, caller, session, {act: form}, status=422)
    except Conflict as error:
        newest = {"version": error.facts["version"]}
        form = _FORMS[act](form.cleaned_data | newest)
        form.add_error(None, f"{error} {_YOURS}")
        return _shown(request, caller, session, {act: form}, status=409)
    return None


def _shown(
    request: HttpRequest,
    caller: Caller,
    session: Session,
    given: dict[str, forms.Form],
    *,
    status: int = 200,
) -> HttpResponse:
    version = request.GET.get("version")
    notebook = notebook_of(
        session, number_of(request.GET, "version") if version else None
    )
    state, scratchpad = notebook.state, notebook.scratchpad
    initial: dict[str, dict[str, Any]] = {
        "objective": {"objective": session.objective},
        "state": {"content": sendable(state["text"]) if state else ""},
        "scratchpad": {
            "content": sendable(scratchpad.content),
            "version": scratchpad.number,
        },
    }
    made = {
        name: given.get(name) or form(initial=initial[name], auto_id=f"id_{name}_%s")
        for name, form in _FORMS.items()
    }
    context = {
        "session": session,
        "notebook": notebook,
        "goal": sendable(notebook.goal),
        "forms": made,
        "rebuilt": _rebuilt(session) if request.GET.get("compare") else None,
        "may_edit": caller.may(Right.EDIT, session.project_id),
    }
    return render(request, "operations/notes/notes.html", context, status=status)


def _rebuilt(session: Session) -> dict[str, Any]:
    """STATE read anew from what is sent; nothing is changed."""
    found = rebuild_state(session)
    return {
        "status": found.status,
        "key": found.key,
        "name": name_of(load_thread(session), found.key) if found.key else "",
        "difference": render_difference(found.in_force, found.text),
    }
