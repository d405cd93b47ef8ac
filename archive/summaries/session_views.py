"""A session's summary settings, and the summaries that are being written into its thread.

See `templates/archive/summaries/`.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from archive.domain.summaries.providers import PROVIDERS, RULES
from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.errors import Invalid, NotFound
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.jobs.kinds import result_of
from contextstudio.accounts.models import Job
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key
from operations.log.selectors import load_thread
from operations.messages.names import range_of
from operations.messages.reader import mask_text
from threads.models import Session
from threads.store.selectors import get_session

from . import choosing, services

_MAX_SHOWN = 10
"""Most pending summaries shown in one thread."""
_AUTOMATIC = [
    ("", "As the project says"),
    ("no", "When pruning doesn't make enough room"),
    ("yes", "Never"),
]
_STORED = {"": None, "no": False, "yes": True}


class SessionSettingsForm(forms.Form):
    """The summary settings that a session overrides."""

    summarization_provider = forms.ChoiceField(
        required=False,
        label="Provider",
        choices=[
            ("", "As the project says"),
            *((one.name, one.label) for one in PROVIDERS.values()),
            (RULES, "None: by rule, without a model"),
        ],
    )
    summarization_model = forms.CharField(
        max_length=128,
        required=False,
        label="Model",
        help_text="If empty, the provider's usual one.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    disable_auto_summarize = forms.ChoiceField(
        required=False,
        label="Summarise automatically",
        choices=_AUTOMATIC,
        help_text="Only where the policy prunes automatically. Imported sessions never are unless"
        " you choose it here.",
    )

    def clean_disable_auto_summarize(self) -> bool | None:
        """The choice as it is stored; None for the project's."""
        return _STORED[self.cleaned_data["disable_auto_summarize"]]


@require_http_methods(["GET", "HEAD", "POST"])
def settings(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Which model summarises this session, as a part of the policy page; POST saves."""
    caller = caller_of(request)
    session = get_session(caller, session_id)
    if request.method == "POST":
        form = SessionSettingsForm(request.POST)
        if form.is_valid():
            choosing.set_session_settings(caller, session.pk, form.cleaned_data)
            messages.success(request, "Settings for summaries saved.")
        else:
            messages.error(request, "There is no such setting. Nothing was saved.")
        return redirect(f"{reverse('operations:policy', args=[session.pk])}#summaries")
    own = choosing.settings_of(session.project, session)
    stored = own["disable_auto_summarize"]
    initial = own | {
        "disable_auto_summarize": next(
            word for word, value in _STORED.items() if value is stored
        )
    }
    context = {
        "session": session,
        "form": SessionSettingsForm(initial=initial),
        "may_edit": caller.may(Right.EDIT, session.project_id),
        **_in_force(session),
    }
    return render(request, "archive/summaries/settings.html", context)


def _in_force(session: Session) -> dict[str, Any]:
    disabled = choosing.in_force(session.project, session).disable_auto_summarize
    try:
        chosen, refusal = choosing.choices(session.project, session)[0], ""
    except Invalid as error:
        chosen, refusal = None, error.message
    return {"chosen": chosen, "refusal": refusal, "is_automatic": not disabled}


@dataclass(frozen=True, slots=True)
class Pending:
    """A summary being written into the thread, or one that has just finished."""

    job: Job
    key: Key
    """The row in which it is shown, which is where its digest will be."""
    range: str
    preview: str
    result: dict[str, Any] | None
    address: str


@require_safe
def pending(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """The summaries that are being written into a thread.

    Includes finished ones that the page names in `known`, and the last one if it failed.
    """
    session = get_session(caller_of(request), session_id)
    failed = services.newest_failed(session)
    named = _ids(request.GET.get("known", "")) + ([failed.pk] if failed else [])
    shown = Q(status__in=services.UNFINISHED) | Q(pk__in=named)
    found = services.into_thread(session).filter(shown).order_by("created_at")
    context = {"session": session, "pending": _shown(session, list(found[:_MAX_SHOWN]))}
    return render(request, "archive/summaries/pending.html", context)


def _shown(session: Session, jobs: Sequence[Job]) -> list[Pending]:
    if not jobs:
        return []
    thread = load_thread(session)
    shown = []
    for job in jobs:
        keys = [key for key in job.arguments["keys"] if _holds(thread, key)]
        is_done = job.status == Job.Status.DONE
        shown.append(
            Pending(
                job=job,
                key=thread.top_key(keys[0]) if keys else "",
                range=range_of(thread, keys[0], keys[-1]) if keys else "",
                preview=mask_text(session, job.notes.get("preview", "")),
                result=result_of(job) if is_done else None,
                address=reverse("archive:summary", args=[session.pk, job.pk]),
            )
        )
    return shown


def _holds(thread: Thread, key: Key) -> bool:
    try:
        thread.node(key)
    except NotFound:
        return False
    return True


def _ids(given: str) -> list[uuid.UUID]:
    """The UUIDs in a comma-separated list; anything else in it is skipped."""
    found = []
    for one in given.split(",")[:_MAX_SHOWN]:
        try:
            found.append(uuid.UUID(one))
        except ValueError:
            continue
    return found
