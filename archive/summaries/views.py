"""The page of a project's providers, and summaries in the digest dialog.

See `templates/archive/summaries/`.
"""

import json
import uuid
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)

from archive.domain.summaries.providers import PROVIDERS, RULES, Choice
from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import DomainError, Invalid
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.jobs import request_cancel, restart, resume
from contextstudio.accounts.jobs.kinds import result_of
from contextstudio.accounts.models import Job, Project
from contextstudio.accounts.selectors import get_job, get_job_to_change, get_project
from operations.form_fields import sendable
from operations.forwarding.upstreams.services import MAX_KEY_LENGTH
from operations.messages.reader import mask_text
from operations.requests import fields_of
from threads import rendering
from threads.models import Session
from threads.rendering.hidden import visible
from threads.store.selectors import get_session

from . import choosing, providers, services
from .jobs import STATE, SUMMARY, TEST
from .providers import KeySource, ModelTarget

_KEYS = {
    KeySource.ENVIRONMENT: "the server's",
    KeySource.PROJECT: "saved",
    KeySource.UPSTREAM: "the upstream's",
}
MAX_SHOWN = 30
"""Most dropped mentions that the dialog lists."""


class ProviderForm(forms.Form):
    """A provider to set up."""

    name = forms.ChoiceField(
        choices=[(one.name, one.label) for one in PROVIDERS.values()], label="Provider"
    )
    api_key = forms.CharField(
        max_length=MAX_KEY_LENGTH,
        required=False,
        label="API key",
        help_text="Stored encrypted and never shown. Leave empty to keep the saved key.",
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
    )
    base_url = forms.CharField(
        max_length=500,
        required=False,
        label="Base URL",
        help_text="For Ollama and OpenAI-compatible servers, such as "
        "https://models.example.com/v1. If empty, the provider's own.",
    )
    model = forms.CharField(
        max_length=128, required=False, help_text="If empty, its usual small model."
    )


class SettingsForm(forms.Form):
    """Which model summarises, if not the fastest, and whether automatically."""

    summarization_provider = forms.ChoiceField(
        required=False,
        label="Provider",
        choices=[
            ("", "The fastest that is set up"),
            *((one.name, one.label) for one in PROVIDERS.values()),
            (RULES, "None: by rule, without a model"),
        ],
    )
    summarization_model = forms.CharField(
        max_length=128,
        required=False,
        label="Model",
        help_text="If empty, the usual one.",
    )
    disable_auto_summarize = forms.BooleanField(
        required=False, label="Never summarise automatically"
    )


@dataclass(frozen=True, slots=True)
class ShownProvider:
    """One row of the table of providers."""

    name: str
    label: str
    address: str
    key: str
    """Where its key comes from; empty if it is not set up."""
    model: str
    is_chosen: bool
    is_own: bool
    """Whether the project itself set it up, and may remove it."""
    test: Job | None
    """The newest test of its current settings."""


@require_http_methods(["GET", "HEAD", "POST"])
def project_providers(request: HttpRequest, slug: str) -> HttpResponse:
    """The providers of a project, and the form for owners that sets one up."""
    caller = caller_of(request)
    project = get_project(caller, slug)
    form = ProviderForm(
        request.POST or None, initial=_saved(project, request.GET.get("name", ""))
    )
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            providers.set_provider(
                caller,
                slug,
                given["name"],
                base_url=given["base_url"],
                api_key=given["api_key"] or None,
                model=given["model"],
            )
        except Invalid as refused:
            place = str(refused.at[0]) if refused.at else ""
            form.add_error(place if place in form.fields else None, refused.message)
        else:
            messages.success(request, "Provider saved.")
            return redirect("archive:providers", slug=slug)
    return _providers_page(request, caller, project, form)


@require_POST
def settings(request: HttpRequest, slug: str) -> HttpResponse:
    """Choose which model summarises, and whether automatically."""
    form = SettingsForm(request.POST)
    if form.is_valid():
        choosing.set_project_settings(caller_of(request), slug, form.cleaned_data)
        messages.success(request, "Settings saved.")
    else:
        messages.error(request, "There is no such setting. Nothing was saved.")
    return redirect("archive:providers", slug=slug)


@require_POST
def remove(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Delete the project's settings for a provider."""
    providers.delete_provider(caller_of(request), slug, name)
    messages.success(request, "Provider removed.")
    return redirect("archive:providers", slug=slug)


@require_POST
def test(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Start a test call to a provider; the page shows the outcome."""
    services.order_test(caller_of(request), slug, name)
    return redirect("archive:providers", slug=slug)


def _saved(project: Project, name: str) -> dict[str, str]:
    """What the form starts with: the provider to change, without its key, or nothing."""
    row = providers.rows_of(project).get(name)
    if row is None:
        return {}
    return {"name": name, "base_url": row.base_url, "model": row.model}


def _providers_page(
    request: HttpRequest, caller: Caller, project: Project, form: ProviderForm
) -> HttpResponse:
    try:
        chosen, refusal = choosing.choices(project)[0], ""
    except Invalid as error:
        chosen, refusal = Choice("", "", ""), error.message
    shown = _shown(project, chosen)
    at_it = (Job.Status.QUEUED, Job.Status.RUNNING)
    is_testing = any(one.test is not None and one.test.status in at_it for one in shown)
    context = {
        "project": project,
        "providers": shown,
        "is_testing": is_testing,
        "chosen": chosen,
        "label": PROVIDERS[chosen.provider].label if chosen.provider else "",
        "refusal": refusal,
        "form": form,
        "settings": SettingsForm(initial=choosing.settings_of(project)),
        "may_administer": Right.ADMIN in caller.rights[project.pk],
        "may_test": Right.EDIT in caller.rights[project.pk],
    }
    part = "provider_rows" if request.headers.get("HX-Request") else "providers"
    status = 422 if form.is_bound and form.errors else 200
    return render(request, f"archive/summaries/{part}.html", context, status=status)


def _shown(project: Project, chosen: Choice) -> list[ShownProvider]:
    targets, own = providers.targets_of(project), providers.rows_of(project)
    tests = _tests(project)
    return [
        ShownProvider(
            name=name,
            label=provider.label,
            address=targets[name].base_url if name in targets else provider.base_url,
            key=_key(targets.get(name)),
            model=(targets[name].model if name in targets else "") or provider.small,
            is_chosen=name == chosen.provider,
            is_own=name in own,
            test=tests.get(name),
        )
        for name, provider in PROVIDERS.items()
    ]


def _tests(project: Project) -> dict[str, Job]:
    """Map of provider to its newest test, unless that ended before the settings changed."""
    changed, tests = providers.changed_at(project), dict[str, Job]()
    for job in Job.objects.filter(project=project, kind=TEST).order_by("created_at"):
        name = str(job.arguments.get("provider"))
        change, end = changed.get(name), job.finished_at
        tests.pop(name, None)
        if change is None or end is None or end > change:
            tests[name] = job
    return tests


def _key(target: ModelTarget | None) -> str:
    if target is None:
        return ""
    return _KEYS[target.source] if target.api_key else "none needed"


@require_POST
def order(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Order a summary for the digest dialog, or one that is recorded when it is done."""
    caller, fields = caller_of(request), fields_of(request)
    session = get_session(caller, session_id, Right.PROPOSE)
    try:
        ordered = services.order_summary(
            caller,
            session.pk,
            targets=fields.get("targets", "").split(),
            provider=RULES if fields.get("by_rule") else "",
            record=bool(fields.get("record")),
        )
    except DomainError as error:
        context = {"session": session, "refusal": error.message}
        return render(request, "archive/summaries/progress.html", context)
    answer = _progress(request, session, ordered.job)
    if fields.get("record"):
        told = {"summaryOrdered": {"job": str(ordered.job.pk)}}
        answer["HX-Trigger"] = json.dumps(told)
    return answer


@require_safe
def progress(
    request: HttpRequest, session_id: uuid.UUID, job_id: uuid.UUID
) -> HttpResponse:
    """A summary's progress and its text so far."""
    session = get_session(caller_of(request), session_id)
    job = _summary(get_job(caller_of(request), job_id), session.pk)
    return _progress(request, session, job)


@require_POST
def act(
    request: HttpRequest, session_id: uuid.UUID, job_id: uuid.UUID, verb: str
) -> HttpResponse:
    """Cancel a summary, continue one that asks to, retry one that failed, or dismiss it."""
    session = get_session(caller_of(request), session_id)
    job = _summary(get_job_to_change(caller_of(request), job_id), session.pk)
    acts = {"continue": resume, "retry": restart, "dismiss": services.dismiss}
    job = acts.get(verb, request_cancel)(job)
    return _progress(request, session, job)


@require_POST
def rebuild_state(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Have a model write STATE anew from the window, for the notes page."""
    caller = caller_of(request)
    session = get_session(caller, session_id, Right.PROPOSE)
    ordered = services.order_state(caller, session.pk)
    if ordered is None:
        sentence = "No provider is set up for this project."
        context = {"session": session, "refusal": sentence}
        return render(request, "archive/summaries/state.html", context)
    return _rebuilt(request, session, ordered.job)


@require_safe
def rebuilt_state(
    request: HttpRequest, session_id: uuid.UUID, job_id: uuid.UUID
) -> HttpResponse:
    """The progress of a STATE that a model writes, and its difference from the one in force."""
    session = get_session(caller_of(request), session_id)
    job = get_job(caller_of(request), job_id)
    if job.kind != STATE or job.arguments.get("session_id") != str(session.pk):
        raise Invalid("This job doesn't rebuild this session's STATE.", at=["job_id"])
    return _rebuilt(request, session, job)


def _rebuilt(request: HttpRequest, session: Session, job: Job) -> HttpResponse:
    result = result_of(job) if job.status == Job.Status.DONE else None
    context: dict[str, Any] = {"session": session, "job": job, "result": result}
    if result:
        before, after = result["previous"], result["state"]
        context["difference"] = rendering.render_difference(before, after)
        context["content"] = sendable(after)
        caller = caller_of(request)
        context["may_edit"] = caller.may(Right.EDIT, session.project_id)
    return render(request, "archive/summaries/state.html", context)


def _summary(job: Job, session_id: uuid.UUID) -> Job:
    """The job, if it is a summary of this session. Raises Invalid for any other."""
    if job.kind != SUMMARY or job.arguments.get("session_id") != str(session_id):
        raise Invalid("This job doesn't summarise this session.", at=["job_id"])
    return job


def _progress(request: HttpRequest, session: Session, job: Job) -> HttpResponse:
    result: dict[str, Any] = result_of(job) or {}
    dropped = result.get("dropped", []) if job.status == Job.Status.DONE else []
    context = {
        "session": session,
        "job": job,
        "preview": mask_text(session, job.notes.get("preview", "")),
        "result": result if job.status == Job.Status.DONE else None,
        "dropped": [
            {**one, "shown": visible(one["text"])} for one in dropped[:MAX_SHOWN]
        ],
        "more": max(0, int(result.get("dropped_count", 0)) - MAX_SHOWN),
        "address": reverse("archive:summary", args=[session.pk, job.pk]),
    }
    return render(request, "archive/summaries/progress.html", context)
