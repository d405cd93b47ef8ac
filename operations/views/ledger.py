"""What operations cost and save, for the drawer: asked for once it is looked at."""

import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from contextstudio.accounts.authentication import caller_of
from operations.contexts import Wish
from operations.domain.status import Status
from operations.ledgers import quick_ledger
from operations.presenters.ledger import lines_of
from threads.selectors import get_session


@require_safe
def lines(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """A line for each operation that applies or waits."""
    session = get_session(caller_of(request), session_id)
    found = quick_ledger(session, Wish())
    waiting = frozenset(
        report.key
        for report in found.context.thread.operations
        if report.status is Status.PROPOSED
    )
    context = {"lines": lines_of(found, waiting)}
    return render(request, "operations/ledger.html", context)
