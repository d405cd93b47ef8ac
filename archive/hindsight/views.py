"""Shows losses on markers and in the drawer, and trials on the policy page.

See `templates/archive/losses.html` and `trial.html`.
"""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from archive.domain.hindsight.losses import Loss
from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.errors import NotFound
from contextstudio.accounts.models import Job
from contextstudio.accounts.selectors import get_job
from operations.context.pages.forms import PolicyForm
from operations.context.services import MAX_UNASKED
from operations.domain.thread.thread import Thread
from operations.messages.names import Named, named
from threads.store.selectors import get_session

from .services import SessionHindsight, of_log
from .trials import KIND, try_in

MAX_PLACES = 3
"""How many messages that needed something a marker names."""
MAX_LISTED = 20
"""How many references the drawer lists per operation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownLoss:
    """A lost reference, with messages as names to show."""

    text: str
    kind: str
    left_out_in: Sequence[Named]
    used_in: Sequence[Named]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownLosses:
    """What an operation or a bundle lost; `key` is the operation's key or the bundle's id."""

    key: str
    count: int
    places: Sequence[Named]
    """The first messages that needed something."""
    more: int
    """How many other messages did."""
    listed: Sequence[ShownLoss]


@require_safe
def losses(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """A line for each operation that lost something.

    For a long session there are none unless `asked` is given.
    """
    caller = caller_of(request)
    session = get_session(caller, session_id)
    context: dict[str, object] = {"session": session, "operations": ()}
    if session.message_count <= MAX_UNASKED or request.GET.get("asked"):
        context["operations"] = list(shown_losses(of_log(caller, session_id)))
    return render(request, "archive/losses.html", context)


def shown_losses(found: SessionHindsight) -> Iterator[ShownLosses]:
    """The operations and bundles that lost something, ready to show."""
    of_each = [(cost.key, cost.losses) for cost in found.operations]
    of_bundles = [(bundle.id, bundle.losses) for bundle in found.bundles]
    for key, losses in (*of_each, *of_bundles):
        if losses:
            yield _shown_of(found.thread, key, losses)


def _shown_of(thread: Thread, key: str, losses: Sequence[Loss]) -> ShownLosses:
    places = list(dict.fromkeys(place for loss in losses for place in loss.used_in))
    return ShownLosses(
        key=key,
        count=len(losses),
        places=named(thread, places[:MAX_PLACES]),
        more=max(0, len(places) - MAX_PLACES),
        listed=[_shown(thread, loss) for loss in losses[:MAX_LISTED]],
    )


def _shown(thread: Thread, loss: Loss) -> ShownLoss:
    return ShownLoss(
        text=loss.text,
        kind=loss.kind.value,
        left_out_in=named(thread, loss.left_out_in[:MAX_PLACES]),
        used_in=named(thread, loss.used_in[:MAX_PLACES]),
    )


@require_POST
def start_trial(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Start a trial of the form's settings on the project's newest sessions."""
    caller = caller_of(request)
    session = get_session(caller, session_id)
    form = PolicyForm(request.POST)
    if not form.is_valid():
        return render(request, "archive/trial.html", {"form": form}, status=422)
    job = try_in(caller, session.project, form.settings())
    return render(request, "archive/trial.html", {"session": session, "job": job})


@require_safe
def trial(
    request: HttpRequest, session_id: uuid.UUID, job_id: uuid.UUID
) -> HttpResponse:
    """A trial's progress or result."""
    caller = caller_of(request)
    session = get_session(caller, session_id)
    job = get_job(caller, job_id)
    if job.kind != KIND:
        raise NotFound("There is no such trial.", at=["job_id"])
    context = {"session": session, "job": job, "parts": _parts(job)}
    return render(request, "archive/trial.html", context)


_TITLES = {"sent": "What is sent", "pruned": "Pruning"}


def _parts(job: Job) -> list[tuple[str, dict[str, float]]]:
    """What a trial found, one item per title; shares in percent."""
    found = job.result or {}
    return [
        (
            title,
            found[name]
            | {
                "saved_percent": 100 * found[name]["saved_share"],
                "lost_percent": 100 * found[name]["lost_share"],
            },
        )
        for name, title in _TITLES.items()
        if found.get(name)
    ]
