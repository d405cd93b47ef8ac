"""REST for the ledger: what operations cost once and save each turn."""

import uuid
from typing import Annotated

from django.http import HttpRequest, HttpResponse
from ninja import Router
from ninja.params.functions import Query

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.responses import json_response
from operations.context.services import ContextQuery
from operations.log.selectors import load_history

from .schemas import LedgerModel, LedgerOut, LedgerProvider, present_ledger
from .services import ledger as ledger_of

router = Router(tags=["ledger"])


@router.get(
    "/sessions/{uuid:session_id}/ledger", response=LedgerOut, summary="Read the ledger"
)
def ledger(
    request: HttpRequest,
    session_id: uuid.UUID,
    provider: LedgerProvider = "",
    model: LedgerModel = "",
    operation: Annotated[
        str, Query(description="Key of the only operation to return a row for.")
    ] = "",
) -> HttpResponse:
    """What each operation costs once and saves each turn, and after how many turns it pays off.

    With `operation`, the only row compares the contexts with and without that operation; if it
    doesn't apply now, the row says what it would cost and save.
    """
    query = ContextQuery(provider=provider, model=model)
    found = ledger_of(caller_of(request), session_id, query, operation)
    return json_response(present_ledger(found, load_history(found.context.session)))
