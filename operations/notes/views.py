"""The notes of a session, with their forms: objective, STATE, scratchpad.

The template `operations/notes/kept.html` documents the contract.
"""

import uuid
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import SafeString
from django.views.decorators.http import require_http_methods

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Conflict, Invalid
from contextstudio.accounts.domain.rights import Right
from operations.context.rebuild_state import rebuild_state
from operations.domain.thread.thread import Thread
from operations.form_fields import LongTextField, sendable
from operations.log.selectors import load_thread
from operations.messages.names import Named, name_of
from operations.requests import number_of
from threads import rendering
from threads.domain.message import Role
from threads.domain.part import Text
from threads.models import Session
from threads.sessions.services import update_session
from threads.store.selectors import get_session

from . import scratchpads, states

MAX_VERSIONS = 20
"""Most versions listed, newest first."""


class ObjectiveForm(forms.Form):
    """The session's objective."""

    objective = forms.CharField(
        required=False,
        max_length=500,
        label="Objective",
        help_text="One line. Operations can be limited to an objective. Leave empty for none.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "dir": "auto"}),
    )


class StateForm(forms.Form):
    """New content for STATE."""

    content = LongTextField(
        rows=8,
        max_length=states.MAX_LENGTH,
        label="STATE",
        help_text="Active until a later response brings its own.",
    )


class ScratchpadForm(forms.Form):
    """New content for the scratchpad; `version` is the version it is based on."""

    content = LongTextField(
        rows=12, required=False, max_length=scratchpads.MAX_LENGTH, label="Markdown"
    )
    version = forms.IntegerField(min_value=0, widget=forms.HiddenInput)


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
    """The page, optionally with a `version` of the scratchpad and STATE compared with what is sent.

    htmx gets only the part with the notes. POST writes what `act` names.
    """
    caller = caller_of(request)
    session = get_session(caller, session_id)
    if request.method != "POST":
        return _shown(request, caller, session, {})
    act = request.POST.get("act", "")
    if act == "restore":
        version = number_of(request.POST, "version")
        scratchpads.restore_scratchpad(caller, session.pk, version)
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
    """Write what the form says; returns the page with the errors if it is refused."""
    form = _FORMS[act](request.POST)
    if not form.is_valid():
        return _shown(request, caller, session, {act: form}, status=422)
    try:
        given = form.cleaned_data
        if act == "objective":
            update_session(caller, session.pk, objective=given["objective"])
        elif act == "state":
            states.set_state(caller, session.pk, given["content"])
        else:
            content, version = given["content"], given["version"]
            scratchpads.write_scratchpad(
                caller, session.pk, content, expected_version=version
            )
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
    thread = load_thread(session)
    known = states.list_states(session, thread)
    current = next((one for one in known if one.in_force), None)
    goal = current.state.goal if current and not session.objective else ""
    scratchpad = asked = scratchpads.load_scratchpad(session)
    if request.GET.get("version"):
        version = number_of(request.GET, "version")
        asked = scratchpads.load_scratchpad(session, version)
    difference = SafeString()
    if asked.number != scratchpad.number:
        difference = rendering.render_difference(asked.content, scratchpad.content)
    notebook = {
        "state": _state(thread, current) if current else None,
        "states": [_state(thread, one) for one in reversed(known[-MAX_VERSIONS:])],
        "states_count": len(known),
        "scratchpad": scratchpad,
        "page": {
            "number": asked.number,
            "html": rendering.render(Role.USER, (Text(asked.content),), counts=None),
            "difference": difference,
        },
        "versions": scratchpads.list_scratchpads(session, MAX_VERSIONS),
    }
    initial: dict[str, dict[str, Any]] = {
        "objective": {"objective": session.objective},
        "state": {"content": sendable(current.state.text) if current else ""},
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
        "goal": sendable(" ".join(goal.split())[:500]),
        "forms": made,
        "rebuilt": _rebuilt(session) if request.GET.get("compare") else None,
        "may_edit": caller.may(Right.EDIT, session.project_id),
        "may_propose": caller.may(Right.PROPOSE, session.project_id),
    }
    part = "kept" if "HX-Request" in request.headers else "notes"
    return render(request, f"operations/notes/{part}.html", context, status=status)


def _state(thread: Thread, one: states.Versioned) -> dict[str, object]:
    """A version of STATE; `source` is the response it comes from, None if somebody set it."""
    return {
        "number": one.number,
        "text": one.state.text,
        "source": Named(one.key, name_of(thread, one.key)) if one.key else None,
        "author": one.actor_name,
        "time": one.created_at,
        "in_force": one.in_force,
    }


def _rebuilt(session: Session) -> dict[str, Any]:
    """STATE as read anew from what is sent; nothing is changed."""
    found = rebuild_state(session)
    return {
        "status": found.status,
        "key": found.key,
        "name": name_of(load_thread(session), found.key) if found.key else "",
        "difference": rendering.render_difference(found.in_force, found.text),
    }
