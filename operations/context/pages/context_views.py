"""What the model sees: the context of a session, as a page and as a download."""

import uuid
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.responses import dump
from operations.context.comparison import context_of_originals, context_without
from operations.context.services import Context, ContextQuery, assemble_session
from operations.domain.providers import PROVIDERS
from operations.log.selectors import load_history
from operations.messages.names import word_of
from operations.requests import number_of
from threads.models import Session
from threads.store.selectors import get_session

from .context_page import (
    AT_ONCE,
    difference_of,
    heaviest_of,
    issues_of,
    layers_of,
    messages_of,
    steps_of,
)

ORIGINAL = "original"


@require_safe
def page(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """The page; `against` compares with the originals or with the context without `o7`."""
    session = get_session(caller_of(request), session_id)
    query = _query(request)
    context = assemble_session(session, query)
    against = request.GET.get("against", "")[:40]
    start = number_of(request.GET, "start", 0)
    before = _compared(session, query, against)
    total, sent = (
        messages_of(context, start)
        if before is None
        else difference_of(before, context, start)
    )
    address = _addresses(request, session, context, against)
    return render(
        request,
        "operations/context/context.html",
        {
            "session": session,
            "context": context,
            "before": before,
            "saved": before.sent - context.sent if before else 0,
            "against": against,
            "operations": _operations(session),
            "provider": PROVIDERS[context.provider],
            "providers": PROVIDERS.values(),
            "issues": issues_of(context),
            "heaviest": heaviest_of(context),
            "steps": steps_of(context),
            "layers": layers_of(context),
            "total": total,
            "sent": sent,
            "more_href": address(start + AT_ONCE) if start + AT_ONCE < total else "",
            "first_href": address(0) if start else "",
            "download_href": f"{reverse('operations:request', args=[session.pk])}"
            f"?{urlencode({'provider': context.provider, 'model': query.model})}",
        },
    )


@require_safe
def request_body(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """The request as it would be sent, as a download."""
    session = get_session(caller_of(request), session_id)
    context = assemble_session(session, _query(request))
    answer = HttpResponse(
        dump(context.compiled.request), content_type="application/json"
    )
    name = f"{session.pk}-{context.provider}.json"
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


def _query(request: HttpRequest) -> ContextQuery:
    provider, model = (request.GET.get(name, "") for name in ("provider", "model"))
    return ContextQuery(provider=provider, model=model.strip()[:128])


def _compared(session: Session, query: ContextQuery, against: str) -> Context | None:
    if not against:
        return None
    if against == ORIGINAL:
        return context_of_originals(session, query)
    return context_without(session, query, against)


def _operations(session: Session) -> list[tuple[str, str, str]]:
    """Key, name and title of the operations that can be left out, newest first."""
    history = load_history(session)
    return [
        (
            f"o{number}",
            f"{word_of(recorded.edit.kind)} o{number}",
            history.rows[number].title,
        )
        for number, recorded in reversed(history.log.edits.items())
        if not recorded.withdrawn and recorded.edit.kind != "redact"
    ]


def _addresses(
    request: HttpRequest, session: Session, context: Context, against: str
) -> Callable[[int], str]:
    address = reverse("operations:context", args=[session.pk])
    fields: dict[str, Any] = {"provider": context.provider, "against": against}
    fields["model"] = request.GET.get("model", "")

    def to(start: int) -> str:
        return f"{address}?{urlencode(fields | {'start': start})}#messages"

    return to
