"""What was recorded: a message with its records, and events, which became no message."""

import json
import uuid
from collections.abc import Iterator

from django.db.models import Count
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
)
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.errors import NotFound
from contextstudio.accounts.responses import Streamed
from operations.editor.rows.articles import changes_on
from operations.editor.rows.look import Look
from operations.log.selectors import load_history
from operations.messages.names import name_of
from operations.messages.reader import MessageReader, MessageText
from operations.requests import View, number_of
from threads.domain.body import encode_part
from threads.models import Event, Session
from threads.rendering.hidden import visible
from threads.store.records import load_record, load_records, open_record
from threads.store.selectors import get_session

from .requests import look_at

AT_ONCE = 30
BRIEF = 3000
"""Most characters of a record in the list; on its own page it is shown in full."""


@require_safe
def raw(request: HttpRequest, session_id: uuid.UUID, key: str) -> HttpResponseBase:
    """The page of a message or, with `record`, one of its records as a file.

    Redactions are applied here too.
    """
    look = look_at(request, session_id)
    words = MessageReader(look.session, look.thread).effective([key]).get(key)
    if words is None:
        raise NotFound(f"There is no message {key}.", at=["key"])
    if locator := request.GET.get("record"):
        return _record(look, words, locator)
    context = {
        "session": look.session,
        "key": key,
        "name": name_of(look.thread, key),
        "role": words.role,
        "sections": list(_sections(look, words)),
    }
    return render(request, "operations/editor/raw.html", context)


def _record(look: Look, words: MessageText, locator: str) -> HttpResponseBase:
    """A record that is too long for the page, as a file.

    Raises NotFound for a message that is redacted in part.
    """
    look.view = View.ORIGINAL
    found = None
    if words.original is not None and not changes_on(look, words.key):
        found = open_record(look.session, words.original.row.index, locator)
    if found is None:
        raise NotFound("There is no such record.", at=["record"])
    answer = Streamed(found, content_type="application/octet-stream")
    answer["Content-Disposition"] = f'attachment; filename="{words.key}.txt"'
    answer["X-Content-Type-Options"] = "nosniff"
    return answer


def _sections(look: Look, words: MessageText) -> Iterator[dict[str, str]]:
    parts = [encode_part(part) for part in words.parts]
    text = json.dumps(parts, ensure_ascii=False, indent=2)
    yield {"title": "Parts", "text": visible(text)}
    if words.original is None:
        return
    look.view = View.ORIGINAL
    if changes_on(look, words.key):
        hidden = "Not shown, because part of it is redacted."
        yield {"title": "Record", "text": hidden}
        return
    for record in load_records(look.session, words.original.row.index):
        title = f"Record, {record.locator.replace(':', ' ')}"
        section = {"title": title, "text": visible(record.text)}
        if record.is_cut:
            section["href"] = f"?{urlencode({'record': record.locator})}"
        yield section


@require_safe
def events(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """A page of events in the order they arrived, optionally of one `type`."""
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
    """One event in full."""
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


def _shown(event: Event, *, whole: bool) -> dict[str, object]:
    record = load_record(event.source, event.record)
    text = visible(record.text) if record else None
    is_long = text is not None and len(text) > BRIEF and not whole
    return {
        "type": event.type,
        "before": event.before_index,
        "when": event.created_at,
        "locator": event.record,
        "text": f"{text[:BRIEF]}…" if text is not None and is_long else text,
        "more_href": reverse("operations:event", args=[event.session_id, event.pk])
        if is_long
        else "",
    }
