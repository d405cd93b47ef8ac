"""The policy of a session: its settings, and what they would change before they are saved."""

import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.rights import Right
from operations.context import policies
from operations.context.services import effect_of
from operations.domain.context.policy import PRESETS
from threads.models import Session
from threads.store.selectors import get_session

from .forms import PolicyForm, fields_of
from .policy_page import TITLES, effect_shown, presets_of

PROJECT = "project"
"""Stands for the project's policy where a preset is named."""


@require_http_methods(["GET", "HEAD", "POST"])
def page(request: HttpRequest, session_id: uuid.UUID) -> HttpResponseBase:
    """The form, filled in with `preset`, or with what is in force; POST saves."""
    caller = caller_of(request)
    session = get_session(caller, session_id)
    if request.method == "POST":
        return _save(request, caller, session)
    preset = request.GET.get("preset", "")
    policy = policies.policy_of(session)
    if preset == PROJECT:
        policy = policies.default_policy(session.project)
    elif preset in PRESETS:
        policy = PRESETS[preset]
    return _shown(request, caller, session, PolicyForm(initial=fields_of(policy)))


@require_safe
def effect(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """What the settings in the form would change; nothing is saved."""
    caller = caller_of(request)
    get_session(caller, session_id)
    form = PolicyForm(request.GET)
    if not form.is_valid():
        return render(
            request, "operations/context/effect.html", {"form": form}, status=422
        )
    found = effect_of(caller, session_id, form.settings())
    context = {"form": form, "effect": effect_shown(found)}
    return render(request, "operations/context/effect.html", context)


def _save(request: HttpRequest, caller: Caller, session: Session) -> HttpResponseBase:
    form, act = PolicyForm(request.POST), request.POST.get("act")
    if act == "reset":
        policies.set_policy(caller, session.pk, None)
        messages.success(request, "This session now uses the project default.")
    elif not form.is_valid():
        return _shown(request, caller, session, form, status=422)
    elif act == PROJECT:
        policies.set_default_policy(caller, session.project.slug, form.settings())
        messages.success(request, "Saved as the project default.")
    else:
        policies.set_policy(caller, session.pk, form.settings())
        messages.success(request, "Saved for this session.")
    return redirect("operations:policy", session.pk)


def _shown(
    request: HttpRequest,
    caller: Caller,
    session: Session,
    form: PolicyForm,
    *,
    status: int = 200,
) -> HttpResponse:
    in_force = policies.in_force(session)
    context = {
        "session": session,
        "form": form,
        "in_force": in_force,
        "active_title": TITLES[in_force.policy.preset],
        "presets": presets_of(in_force.policy.preset),
        "chosen": request.GET.get("preset", ""),
        "may_edit": caller.may(Right.EDIT, session.project_id),
        "may_admin": caller.may(Right.ADMIN, session.project_id),
    }
    return render(request, "operations/context/policy.html", context, status=status)
