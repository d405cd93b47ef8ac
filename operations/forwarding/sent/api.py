"""REST: one request of a session as it was sent, and what it changed of another."""

import uuid
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Router
from pydantic import BaseModel

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.paging import clamp
from contextstudio.accounts.responses import json_response
from operations.forwarding.requests.presentation import RequestOut, present_request
from threads.store.selectors import get_session

from .reading import change_of, load_sent, read_pieces

router = Router(tags=["operations"])


class SentPieceOut(BaseModel):
    """The list of tools, the system prompt or a message, as it was sent."""

    position: int
    kind: str
    """`tools`, `system` or `message`."""
    keys: list[str]
    """The messages of the thread that it was made of; none of what a layer or a rule added."""
    tokens: int
    body: Any


class SentChangeOut(BaseModel):
    """How a request differs from another one. `kept`, `again`, `new` and `dropped` are tokens."""

    against: int
    position: int
    """Of the first piece that differs."""
    kept: int
    """Before that position: the provider's cache may hold it."""
    again: int
    """Behind it, of pieces that the other request had too."""
    new: int
    dropped: int
    """Of pieces that only the other request had."""
    extends: bool


class SentRequestOut(RequestOut):
    """A request with what was sent."""

    total: int
    pieces: list[SentPieceOut]
    change: SentChangeOut | None


@router.get(
    "/sessions/{uuid:session_id}/requests/{int:number}",
    response=SentRequestOut,
    operation_id="operations_api_request",
    summary="Read a request",
)
def sent_request(
    request: HttpRequest,
    session_id: uuid.UUID,
    number: int,
    against: int | None = None,
    start: int = 0,
    limit: int | None = None,
) -> HttpResponse:
    """A request as it was sent, and how it differs from `against`, by default the one before."""
    session = get_session(caller_of(request), session_id)
    sent = load_sent(session, number)
    first = max(start, 0)
    shown = sent.numbers[first : first + clamp(limit)]
    bodies = read_pieces(session, shown)
    other = against if against is not None else number - 1
    change = None
    if other:
        found = change_of(load_sent(session, other), sent)._asdict()
        change = {"against": other, "position": found.pop("place"), **found}
    pieces = [
        {
            "position": first + place,
            **sent.facts[piece]._asdict(),
            "body": bodies[piece],
        }
        for place, piece in enumerate(shown)
    ]
    return json_response(
        {
            **present_request(sent.row),
            "total": len(sent.numbers),
            "pieces": pieces,
            "change": change,
        }
    )
