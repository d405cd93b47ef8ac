"""What operations cost and save, for the drawer: asked for once it is looked at."""

import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from contextstudio.accounts.authentication import caller_of
from operations.context.services import MOST_UNASKED
from operations.domain.tree.status import Status
from operations.edits.own_entries import staged_keys
from operations.log.selectors import load_thread
from threads.store.selectors import get_session

from .page import lines_of, note_of
from .services import estimate


@require_safe
def lines(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """A line for each operation that applies or waits, and one for all that is staged.

    For a long session a button that asks for them, until `asked` is given.
    """
    caller = caller_of(request)
    session = get_session(caller, session_id)
    if session.message_count > MOST_UNASKED and not request.GET.get("asked"):
        return render(request, "operations/ledger/ledger.html", {"may_ask": True})
    found = estimate(session, staged_keys(session, caller))
    waiting = frozenset(
        report.key
        for report in load_thread(session).operations
        if report.status is Status.PROPOSED
    )
    context = {"lines": lines_of(found, waiting), "note": note_of(found)}
    return render(request, "operations/ledger/ledger.html", context)
