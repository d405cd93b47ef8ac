"""REST for text inside messages: what may be replaced, and what a redaction masks."""

import uuid
from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Router
from ninja.params.functions import Query

from contextstudio.accounts.authentication import caller_of
from threads.store.selectors import get_session

from . import services
from .schemas import RevealedOut, SuggestionList, present_revealed, present_suggestion

router = Router(tags=["operations"])


@router.get(
    "/sessions/{uuid:session_id}/suggestions",
    response=SuggestionList,
    operation_id="operations_pattern_api_suggestions",
    summary="List suggested replacements",
)
def suggestions(
    request: HttpRequest,
    session_id: uuid.UUID,
    include_folded: Annotated[
        bool, Query(description="Whether to search messages inside folds too.")
    ] = False,
) -> dict[str, Any]:
    """Patterns that are worth replacing: stack traces, output of package managers."""
    session = get_session(caller_of(request), session_id)
    found = services.suggestions(session, include_folded=include_folded)
    return {"suggestions": [present_suggestion(one) for one in found]}


@router.post(
    "/operations/{uuid:operation_id}/reveal",
    response=RevealedOut,
    operation_id="operations_pattern_api_reveal_operation",
    summary="Reveal a redaction",
)
def reveal_operation(request: HttpRequest, operation_id: uuid.UUID) -> dict[str, Any]:
    """The text that a redaction masks. Only an owner may ask, and the audit log records it."""
    revealed = services.reveal(caller_of(request), operation_id)
    return {"spans": [present_revealed(one) for one in revealed]}
