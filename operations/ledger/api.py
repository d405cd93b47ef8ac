"""REST for the ledger: what operations cost once and save each turn."""

import uuid

from django.http import HttpRequest, HttpResponse
from ninja import Router

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.responses import json_response
from operations.context.services import ContextQuery
from operations.log.selectors import load_history

from .schemas import LedgerOut, present_ledger
from .services import ledger as ledger_of

router = Router(tags=["ledger"])


@router.get(
    "/sessions/{uuid:session_id}/ledger", response=LedgerOut, summary="Read the ledger"
)
def ledger(
    request: HttpRequest,
    session_id: uuid.UUID,
    provider: str = "",
    model: str = "",
    operation: str = "",
) -> HttpResponse:
    """What each operation costs once and saves each turn, and after how many turns it pays off.

    `operation` gives one row alone, by comparing the contexts with and without it; if it doesn't
    apply, the row says what it would cost and save. `total` compares with the originals.
    """
    query = ContextQuery(provider=provider, model=model)
    found = ledger_of(caller_of(request), session_id, query, operation)
    return json_response(present_ledger(found, load_history(found.context.session)))
