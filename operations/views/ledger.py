"""What operations cost and save, for the drawer: asked for once it is looked at."""

import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from contextstudio.accounts.authentication import caller_of
from operations.contexts import Wish
from operations.domain.status import Status
from operations.ledgers import quick_ledger
from operations.presenters.ledger import line_of, lines_of
from operations.staging import staged_ledger
from threads.selectors import get_session

STAGED = "staged"
"""What stands for all that is staged, where other lines have the key of an operation."""


@require_safe
def lines(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """A line for each operation that applies or waits, and one for all that is staged."""
    caller = caller_of(request)
    session = get_session(caller, session_id)
    found = quick_ledger(session, Wish())
    waiting = frozenset(
        report.key
        for report in found.context.thread.operations
        if report.status is Status.PROPOSED
    )
    found_lines = lines_of(found, waiting)
    staged = staged_ledger(session, caller, Wish())
    if staged is not None and staged.total is not None:
        found_lines.append(line_of(staged.total, staged.prices, key=STAGED))
    context = {"lines": found_lines}
    return render(request, "operations/ledger.html", context)
