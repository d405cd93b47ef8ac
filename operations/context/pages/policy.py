"""The policy of a session: its settings, and their effect before they are saved.

See `templates/operations/context/policy.html` and `effect.html`.
"""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.rights import Right
from operations.context import policies
from operations.context.services import Context, Effect, effect_of
from operations.domain.context.policy import PRESETS
from operations.domain.context.step import Step
from operations.domain.providers.request import Severity
from threads.models import Session
from threads.store.selectors import get_session

from .context import NAMES
from .forms import PolicyForm, fields_of

TITLES = {
    "replay": "Everything",
    "slop": "Lean",
    "nexora": "With pruning",
    "custom": "Custom",
}
"""The titles of presets for people; the names are what is stored and what the API accepts."""
_WORDS = {
    "replay": "Sends the whole thread; nothing is left out.",
    "slop": "Shorter tool results, isolation, guidelines, and memos that fit the question.",
    "nexora": "Sends the whole thread, pruned before it fills the model's window.",
}


@dataclass(frozen=True, slots=True)
class Preset:
    """A policy to start from."""

    name: str
    title: str
    words: str
    is_in_force: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyChange:
    """A step under both policies; None if the policy has no such step."""

    name: str
    before: int | None
    after: int | None
    left_out: int
    """Tokens that the new policy leaves out in this step."""
    messages: int
    """From how many messages or folds."""
    added: int
    shortened: int
    """Tokens by which replaced and masked text outweighs what was added."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyEffect:
    """What a policy changes, in tokens."""

    total: int
    shown: int
    before: int
    after: int
    changes: Sequence[PolicyChange]
    repaired: int
    repaired_before: int
    """How many of the provider's rules were repaired or refused."""

    @property
    def difference(self) -> int:
        """How many more tokens would be sent; negative if fewer."""
        return self.after - self.before


def effect_shown(effect: Effect) -> PolicyEffect:
    """The figures of an effect."""
    before, after = effect
    return PolicyEffect(
        total=after.assembly.total,
        shown=after.assembly.shown,
        before=before.sent,
        after=after.sent,
        changes=list(_changes(before, after)),
        repaired=_repaired(after),
        repaired_before=_repaired(before),
    )


def _changes(before: Context, after: Context) -> Iterator[PolicyChange]:
    old, new = _by_name(before), _by_name(after)
    for name, title in NAMES.items():
        was, is_now = old.get(name), new.get(name)
        if was is None and is_now is None:
            continue
        left_out = is_now.left_out if is_now else ()
        yield PolicyChange(
            name=title,
            before=was.after if was else None,
            after=is_now.after if is_now else None,
            left_out=sum(omission.tokens for omission in left_out),
            messages=len(left_out),
            added=max(0, is_now.added) if is_now else 0,
            shortened=is_now.shortened if is_now else 0,
        )


def _by_name(context: Context) -> Mapping[str, Step]:
    return {step.name: step for step in context.steps}


def _repaired(context: Context) -> int:
    issues = context.compiled.issues
    return sum(issue.severity is not Severity.NOTE for issue in issues)


PROJECT = "project"
"""Stands for the project's policy where a preset is named."""


@require_http_methods(["GET", "HEAD", "POST"])
def page(request: HttpRequest, session_id: uuid.UUID) -> HttpResponseBase:
    """The form, filled in from `preset` or the policy in force; POST saves."""
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
    in_force = policies.policy_in_force(session)
    current = in_force.policy.preset
    context = {
        "session": session,
        "form": form,
        "in_force": in_force,
        "active_title": TITLES[current],
        "presets": [
            Preset(name, TITLES[name], _WORDS[name], name == current)
            for name in PRESETS
        ],
        "chosen": request.GET.get("preset", ""),
        "may_edit": caller.may(Right.EDIT, session.project_id),
        "may_admin": caller.may(Right.ADMIN, session.project_id),
    }
    return render(request, "operations/context/policy.html", context, status=status)
