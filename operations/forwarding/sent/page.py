"""The page of what the model saw: requests as they were sent, one at a time or two compared.

See `templates/operations/forwarding/sent.html`.
"""

import re
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from contextstudio.accounts.authentication import caller_of
from operations.context.pages.compared_messages import ComparedPage, compare_messages
from operations.context.pages.request_page import pieces_of
from operations.context.pages.sent_messages import (
    RequestMessage,
    alike_messages,
    leaves_of,
    links_of,
    listed,
)
from operations.domain.forwarding.sent import SentChange
from operations.domain.ledger.ledger import DiffSide
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key
from operations.log.selectors import load_history, load_thread
from operations.messages.names import Named, named, word_for
from operations.models import SentPiece, SessionRequest
from operations.requests import number_of
from threads.models import Session
from threads.store.selectors import get_session

from .reading import SentRequest, change_of, load_sent, read_pieces

MAX_ENTRIES = 12
"""The most operations that are listed between two requests."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a request differs from another one."""

    other: SentRequest
    change: SentChange
    first: Sequence[Named]
    """The sources of the first piece that differs."""
    is_tools: bool
    """Whether the first difference is in the tools."""
    operations: Sequence[tuple[str, str]]
    """Keys and names of the operations recorded between the two requests, newest first."""
    more: int
    """How many more operations there are."""


@require_safe
def page(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """The page of one request, by default the last; `against` compares it with another one.

    With `until`, only a run of messages that two requests have in common.
    """
    session = get_session(caller_of(request), session_id)
    numbers = SessionRequest.objects.filter(session=session).order_by("-number")
    last = numbers.values_list("number", flat=True).first() or 0
    number = number_of(request.GET, "request", last)
    asked = request.GET.get("against", "")
    start = number_of(request.GET, "start", 0)
    if "until" in request.GET:
        places = range(start, number_of(request.GET, "until"))
        return render(
            request,
            "operations/context/alike_messages.html",
            _alike_messages(session, number, places),
        )
    is_part = (
        "HX-Request" in request.headers
        and "HX-History-Restore-Request" not in request.headers
    )
    context = {"session": session, "last": last, "is_part": is_part, "asked": asked}
    against = _request_in(asked, last)
    is_refused = bool(last and asked and not against)
    if last:
        context |= _shown(session, number, against, start) | {"is_refused": is_refused}
    name = "sent_body" if is_part and last else "sent"
    return render(
        request,
        f"operations/forwarding/{name}.html",
        context,
        status=422 if is_refused else 200,
    )


def _request_in(asked: str, last: int) -> int:
    """The number of a request that was asked for; 0 if there is no such request."""
    number = int(asked) if re.fullmatch("[0-9]{1,9}", asked) else 0
    return number if number <= last else 0


def _alike_messages(session: Session, number: int, places: range) -> dict[str, Any]:
    """A run of messages of one request."""
    sent = load_sent(session, number)
    show = partial(_messages, session, sent, None)
    return {
        "session": session,
        "alike": alike_messages(len(sent.messages), places, show),
        "request_href": _address(session, request=number),
    }


def _address(session: Session, **fields: int) -> str:
    return f"{reverse('operations:sent', args=[session.pk])}?{urlencode(fields)}"


def _shown(session: Session, number: int, against: int, start: int) -> dict[str, Any]:
    """One request: its messages, or its differences from another one."""
    sent = load_sent(session, number)
    other = against or number - 1
    before = load_sent(session, other) if other else None
    show = partial(_messages, session, sent, before)
    messages, beside = list[RequestMessage](), ComparedPage()
    if against and before:
        leaves = partial(_leaves, load_thread(session), sent, before)
        beside = compare_messages(before.messages, sent.messages, start, leaves, show)
        total = beside.total
    else:
        total, messages = len(sent.messages), listed(len(sent.messages), start, show)

    def address(place: int) -> str:
        fields = {"request": number, "start": place}
        fields |= {"against": against} if against else {}
        return _address(session, **fields)

    return {
        "request_row": sent.row,
        "number": number,
        "against": against,
        "comparison": _comparison(session, before, sent) if before else None,
        "tools_tokens": sent.tools_tokens,
        "total": total,
        "sent": messages,
        "beside": beside,
        "request_href": _address(session, request=number),
        "old_word": f"Request {other:,}",
        "new_word": f"Request {number:,}",
        **links_of(total, start, address),
        **beside.links(address),
    }


def _leaves(
    thread: Thread, sent: SentRequest, before: SentRequest, side: DiffSide, place: int
) -> list[Key]:
    """The leaves that a message comes from, in the current thread."""
    shown = before if side is DiffSide.BEFORE else sent
    facts = shown.facts[shown.messages[place]]
    return leaves_of(thread, facts.keys, facts.kind)


def _messages(
    session: Session,
    sent: SentRequest,
    before: SentRequest | None,
    side: DiffSide,
    places: Sequence[int],
) -> Iterator[RequestMessage]:
    shown = before if before and side is DiffSide.BEFORE else sent
    numbers = [shown.messages[place] for place in places]
    read = read_pieces(session, numbers)
    thread = load_thread(session)
    for place, number in zip(places, numbers, strict=True):
        facts, said = shown.facts[number], read[number]
        is_system = facts.kind == SentPiece.Kind.SYSTEM
        form = said if isinstance(said, dict) else {"content": said}
        role = form.get("role") or form.get("type") or "message"
        yield RequestMessage(
            place=place,
            role="system" if is_system else str(role),
            pieces=pieces_of(form),
            origins=named(thread, facts.keys),
        )


def _comparison(
    session: Session, before: SentRequest, after: SentRequest
) -> Comparison:
    change = change_of(before, after)
    longer = after if change.place < len(after.numbers) else before
    piece = (
        longer.facts[longer.numbers[change.place]]
        if change.place < len(longer.numbers)
        else None
    )
    history = load_history(session)
    heads = sorted((before.row.head, after.row.head))
    between = [
        (f"o{number}", f"{word_for(recorded)} o{number}")
        for number, recorded in history.log.edits.items()
        if heads[0] < number <= heads[1]
    ]
    return Comparison(
        other=before,
        change=change,
        first=named(load_thread(session), piece.keys) if piece else (),
        is_tools=piece is not None and piece.kind == SentPiece.Kind.TOOLS,
        operations=between[::-1][:MAX_ENTRIES],
        more=max(0, len(between) - MAX_ENTRIES),
    )
