"""The records of a session's files that became no message, as they were recorded."""

import uuid
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.errors import NotFound
from operations.log.selectors import load_history
from operations.requests import number_of
from threads.models import Event, Session
from threads.rendering.hidden import visible
from threads.store.records import load_record
from threads.store.selectors import get_session

AT_ONCE = 30
BRIEF = 3000
"""Characters of a record in the list; alone it is shown whole."""


@dataclass(frozen=True, slots=True)
class ShownEvent:
    """A record: see `templates/operations/editor/events.html`."""

    type: str
    before: int
    when: datetime | None
    locator: str
    text: str | None
    more_href: str


@require_safe
def events(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Some events in the order in which they came; `type` chooses among them."""
    session = get_session(caller_of(request), session_id)
    kind, after = request.GET.get("type", ""), number_of(request.GET, "after", 0)
    rows = Event.objects.filter(session=session, pk__gt=after).order_by("pk")
    if kind:
        rows = rows.filter(type=kind)
    found = list(rows.select_related("source")[: AT_ONCE + 1])
    last = found[AT_ONCE - 1].pk if len(found) > AT_ONCE else None
    return _page(request, session, found[:AT_ONCE], kind=kind, last=last)


@require_safe
def event(request: HttpRequest, session_id: uuid.UUID, event_id: int) -> HttpResponse:
    """One event, whole."""
    session = get_session(caller_of(request), session_id)
    rows = Event.objects.filter(session=session, pk=event_id).select_related("source")
    found = rows.first()
    if found is None:
        raise NotFound("There is no such event.")
    return _page(request, session, [found], whole=True)


def _page(
    request: HttpRequest,
    session: Session,
    found: list[Event],
    *,
    kind: str = "",
    last: int | None = None,
    whole: bool = False,
) -> HttpResponse:
    is_masked = bool(load_history(session).log.masks)
    kinds = Event.objects.filter(session=session).values_list("type")
    address = reverse("operations:events", args=[session.pk])
    older = urlencode({"type": kind, "after": str(last)})
    context = {
        "session": session,
        "is_masked": is_masked,
        "kinds": kinds.annotate(Count("pk")).order_by("type"),
        "kind": kind,
        "events": [] if is_masked else [_shown(one, whole=whole) for one in found],
        "older_href": f"{address}?{older}" if last else "",
        "whole": whole,
    }
    return render(request, "operations/editor/events.html", context)


def _shown(event: Event, *, whole: bool) -> ShownEvent:
    record = load_record(event.source, event.record)
    text = visible(record.text) if record else None
    is_long = text is not None and len(text) > BRIEF and not whole
    return ShownEvent(
        type=event.type,
        before=event.before_index,
        when=event.created_at,
        locator=event.record,
        text=f"{text[:BRIEF]}…" if text is not None and is_long else text,
        more_href=reverse("operations:event", args=[event.session_id, event.pk])
        if is_long
        else "",
    )
