"""REST: one request of a session as it was sent, and what it changed of another."""

import uuid
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Router
from ninja.params.functions import Path, Query
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
    """Its position in the request, from 0."""
    kind: str
    """`tools`, `system` or `message`."""
    keys: list[str]
    """Keys of the messages that it was made of; none if a layer or a rule added it."""
    tokens: int
    body: Any


class SentChangeOut(BaseModel):
    """How a request differs from another one of the session, in tokens."""

    against: int
    """The number of the other request."""
    position: int
    """Position of the first piece that differs."""
    kept: int
    """Tokens before that position, which the provider's cache may hold."""
    again: int
    """Tokens after it, of pieces that the other request had too."""
    new: int
    """Tokens of pieces that the other request didn't have."""
    dropped: int
    """Tokens of pieces that only the other request had."""
    extends: bool
    """Whether it begins with the whole of the other request."""


class SentRequestOut(RequestOut):
    """A request with what was sent."""

    total: int
    """How many pieces it has."""
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
    number: Annotated[
        int, Path(description="The request's number in the session, from 1.")
    ],
    against: Annotated[
        int | None,
        Query(
            description="Number of the request to compare with; by default the one before."
        ),
    ] = None,
    start: Annotated[
        int, Query(description="Position of the first piece to return, from 0.")
    ] = 0,
    limit: int | None = None,
) -> HttpResponse:
    """A request as it was sent, in pieces, and how it differs from another one of the session."""
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
