"""The page of a session's requests: what its client sent, and the outcome of each.

The contract is in `templates/operations/forwarding/request_list.html`.
"""

import uuid
from dataclasses import dataclass
from fractions import Fraction

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from contextstudio.accounts.authentication import caller_of
from operations.domain.ledger.money import dollars
from operations.models import SessionRequest
from threads.store.selectors import get_session

from .presentation import RequestState, request_state, sentence
from .records import list_requests

_A_PAGE = 50
_FORMATS = {
    "openai": "Chat Completions",
    "anthropic": "Messages",
    "openai_responses": "Responses",
    "openai-responses": "Responses",
    "gemini": "Gemini",
}
_SIGNS = {
    SessionRequest.Status.PREPARED: "check",
    SessionRequest.Status.SENT: "clock",
    SessionRequest.Status.ANSWERED: "check",
    SessionRequest.Status.PARTIAL: "warn",
    SessionRequest.Status.FAILED: "x",
    SessionRequest.Status.REFUSED: "x",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRequest:
    """One row of the list."""

    row: SessionRequest
    sentence: str
    format: str
    state: RequestState
    sign: str
    suspended: int
    reasons: list[tuple[str, str]]
    """The reasons why operations were suspended, each with their keys."""
    edits: str
    """The keys of the client's edits that were recorded."""
    cost: str
    """In dollars; empty if not known."""


@require_safe
def requests(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """The requests of a session, newest first; scripts get only the list."""
    caller = caller_of(request)
    session = get_session(caller, session_id)
    cursor = request.GET.get("cursor")
    found = list_requests(caller, session_id, cursor=cursor, limit=_A_PAGE)
    older = urlencode({"cursor": found.next_cursor}) if found.next_cursor else ""
    context = {
        "session": session,
        "requests": [_shown(row) for row in found.items],
        "older": older,
        "is_newest": not cursor,
    }
    part = "request_list" if "HX-Request" in request.headers else "requests"
    return render(request, f"operations/forwarding/{part}.html", context)


def _shown(row: SessionRequest) -> ShownRequest:
    standing = request_state(row)
    return ShownRequest(
        row=row,
        sentence=sentence(row),
        format=_FORMATS.get(row.format, row.format),
        state=standing,
        sign=_SIGNS[standing.status],
        suspended=sum(map(len, row.suspended.values())),
        reasons=[(why, ", ".join(keys)) for why, keys in row.suspended.items()],
        edits=", ".join(dict.fromkeys(one["key"] for one in row.edits)),
        cost="" if row.cost is None else dollars(Fraction(row.cost)),
    )
