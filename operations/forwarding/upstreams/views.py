"""The page of a project's upstreams: where the proxy sends requests, and with whose key.

See `templates/operations/forwarding/upstreams.html`.
"""

from dataclasses import dataclass

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.models import Project
from contextstudio.accounts.selectors import get_project
from operations.models import Upstream

from . import services
from .services import MAX_KEY_LENGTH, PUBLIC, WireProvider

LABELS = {
    WireProvider.OPENAI: "OpenAI",
    WireProvider.ANTHROPIC: "Anthropic",
    WireProvider.GEMINI: "Gemini",
}
SERVES = {
    WireProvider.OPENAI: "/v1/chat/completions, /v1/responses",
    WireProvider.ANTHROPIC: "/v1/messages",
    WireProvider.GEMINI: "/v1beta/models/…",
}


class UpstreamForm(forms.Form):
    """Where requests of one form go."""

    provider = forms.ChoiceField(
        choices=[(one.value, LABELS[one]) for one in WireProvider], label="Requests for"
    )
    base_url = forms.CharField(
        max_length=500,
        label="Base URL",
        help_text="As the provider's own SDK takes it, such as https://api.example.com/v1.",
    )
    api_key = forms.CharField(
        max_length=MAX_KEY_LENGTH,
        required=False,
        label="API key",
        help_text="Stored encrypted and never shown. Leave empty to keep the saved key; "
        "without one, callers send their own.",
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
    )
    model = forms.CharField(
        max_length=128,
        required=False,
        help_text="Sent instead of the model that the caller names.",
    )
    tools = forms.CharField(
        max_length=500,
        required=False,
        help_text="ContextStudio's tools to add to each request, such as edit,recall. Their calls "
        "are answered here, with the rights of the caller's key. If empty, none.",
    )


@dataclass(frozen=True, slots=True)
class ShownUpstream:
    """One line: the current destination of requests in one form."""

    provider: str
    label: str
    serves: str
    base_url: str
    row: Upstream | None
    """None means the public provider, with the caller's own key."""


@require_http_methods(["GET", "HEAD", "POST"])
def upstreams(request: HttpRequest, slug: str) -> HttpResponse:
    """The upstreams of a project, with the form that sets one for owners."""
    caller = caller_of(request)
    project = get_project(caller, slug)
    saved = _saved(project, request.GET.get("provider", ""))
    form = UpstreamForm(request.POST or None, initial=saved)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            services.set_upstream(
                caller,
                slug,
                WireProvider(given["provider"]),
                base_url=given["base_url"],
                api_key=given["api_key"] or None,
                model=given["model"],
                tools=given["tools"],
            )
        except Invalid as refused:
            place = str(refused.at[0]) if refused.at else ""
            form.add_error(place if place in form.fields else None, refused.message)
        else:
            messages.success(request, "Upstream saved.")
            return redirect("operations:upstreams", slug=slug)
    context = {
        "project": project,
        "upstreams": _shown(services.list_upstreams(project)),
        "form": form,
        "may_administer": Right.ADMIN in caller.rights[project.pk],
        "private": settings.ALLOW_PRIVATE_UPSTREAMS,
    }
    status = 422 if form.is_bound and form.errors else 200
    return render(
        request, "operations/forwarding/upstreams.html", context, status=status
    )


@require_POST
def remove(request: HttpRequest, slug: str) -> HttpResponse:
    """Delete an upstream with its key; requests then go to the public provider again."""
    try:
        provider = WireProvider(request.POST.get("provider", ""))
    except ValueError:
        raise Invalid("There is no such provider.", at=["provider"]) from None
    services.delete_upstream(caller_of(request), slug, provider)
    messages.success(request, "Upstream removed.")
    return redirect("operations:upstreams", slug=slug)


def _saved(project: Project, provider: str) -> dict[str, str]:
    """What the form starts with: the upstream to change, without its key, or nothing."""
    rows = [row for row in services.list_upstreams(project) if row.provider == provider]
    return {
        name: getattr(row, name)
        for row in rows
        for name in ("provider", "base_url", "model", "tools")
    }


def _shown(rows: list[Upstream]) -> list[ShownUpstream]:
    known = {row.provider: row for row in rows}
    return [
        ShownUpstream(
            provider=one.value,
            label=LABELS[one],
            serves=SERVES[one],
            base_url=known[one].base_url if one in known else PUBLIC[one],
            row=known.get(one),
        )
        for one in WireProvider
    ]
