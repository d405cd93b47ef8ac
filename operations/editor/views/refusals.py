"""The dialog for proposals that can't be accepted: which, why, and what can be done."""

from typing import NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.errors import Conflict, DomainError
from contextstudio.templatetags.look import messages
from operations.domain.thread.thread import Thread
from operations.editor.rows.operation import Op
from operations.messages.names import names_of, ranges_of
from threads.models import Session

from .requests import look_of

SKIP = "skip_conflicts"
"""The form field that accepts the other proposals only."""


class RefusedProposal(NamedTuple):
    """A proposal that can't be accepted, and why in one sentence."""

    op: Op
    why: str
    widen: str = ""
    """The range with which it would work, if the dialog can offer that."""


def answer_refusal(
    request: HttpRequest, session: Session, conflict: Conflict
) -> HttpResponse:
    """The dialog for a conflict from `operations.domain.thread.acceptance`; re-raises any other."""
    fitting = conflict.facts.get("fitting")
    if not isinstance(fitting, list):
        raise conflict
    look = look_of(caller_of(request), session)
    found = [
        RefusedProposal(
            look.operations[str(fault.facts["operation"])], _why(look.thread, fault)
        )
        for fault in conflict.errors or (conflict,)
    ]
    # Among several proposals, what one needs depends on the others.
    if len(found) == 1 and not fitting and look.may_edit and not found[0].op.staged:
        found = [found[0]._replace(widen=_wider(look.thread, conflict))]
    context = {
        "refused": found,
        "fitting": len(fitting),
        "count": len(found) + len(fitting),
        "skip": SKIP,
        "action": request.path,
    }
    return render(
        request, "operations/editor/dialogs/refused.html", context, status=409
    )


def _wider(thread: Thread, fault: DomainError) -> str:
    """The range with which it would cut through nothing: `#97–#113`."""
    needs = fault.facts.get("needs")
    keys = needs.get("keys") if isinstance(needs, dict) else None
    return (ranges_of(thread, keys) or messages(len(keys))) if keys else ""


def _why(thread: Thread, fault: DomainError) -> str:
    """Why a proposal can't be accepted, with the names of the operations in the way."""
    known, needs = fault.facts.get("operations"), fault.facts.get("needs")
    keys = known if isinstance(known, list) else []
    named = names_of(thread, keys)
    if isinstance(needs, dict) and needs.get("keys"):
        return f"It would cut through {named}."
    return f"{fault.message.rstrip('.')}: {named}." if named else fault.message
