"""Estimates what a digest or snip would save, shown in its form before it is recorded."""

import uuid
from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.errors import DomainError
from operations.context.services import MAX_UNASKED
from operations.domain.ledger.saving import fold_around, would_save
from operations.domain.log.operation import Digest, Edit, messages_of, named_keys
from operations.domain.text.left_out import LeftOutNames, left_out
from operations.domain.text.wording import words_of
from operations.domain.thread.check import check
from operations.editor.forms import form_of
from operations.editor.rows.drawing import MAX_SEARCHED
from operations.ledger.services import try_out
from operations.ledger.views import line_of
from operations.log.selectors import load_thread
from operations.log.transaction import with_token_counts
from operations.messages.names import name_of
from operations.messages.reader import MessageReader
from threads.models import Session
from threads.rendering.hidden import visible
from threads.store.selectors import get_session

MAX_NAMED = 8
"""Most names listed of each kind that a digest leaves out."""


@require_POST
def estimate(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """The estimate for the form as filled in, or the reason why it would be refused.

    What a request would save takes two contexts to compute; for a long session that is done only
    if `asked` is given.
    """
    session = get_session(caller_of(request), session_id)
    fields = request.POST.copy()
    is_unwritten = (
        fields.get("type") == "digest" and not fields.get("summary", "").strip()
    )
    if is_unwritten:  # estimate it as if it showed nothing
        fields["type"] = "snip"
    form = form_of(fields)
    context: dict[str, Any] = {"is_unwritten": is_unwritten}
    is_asked = session.message_count <= MAX_UNASKED or bool(fields.get("asked"))
    if form.is_valid():
        try:
            context |= _lines(
                session, form.arguments.edit(session, load_thread(session)), is_asked
            )
        except DomainError as error:
            context["refusal"] = error.message
    return render(request, "operations/editor/dialogs/estimate.html", context)


def _lines(session: Session, given: Edit, is_asked: bool) -> dict[str, Any]:
    thread, edit = load_thread(session), with_token_counts(session, given)
    lines: dict[str, Any]
    if is_asked:
        trial = try_out(session, edit)
        line = line_of(trial.row, trial.prices)
        lines = {"added": -trial.saved, "line": line}
    else:
        (edit,) = check(thread, [edit]).edits
        address = reverse("operations:estimate", args=[session.pk])
        lines = {"added": -would_save(thread, edit), "ask_href": address}
    if inside := fold_around(thread, edit):
        lines["inside"] = name_of(thread, inside)
    if isinstance(edit, Digest) and len(edit.targets) <= MAX_SEARCHED:
        found = _left_out(session, edit)
        lines |= {"left_out": found.sentence, "names": _named(found)}
    return lines


def _left_out(session: Session, edit: Digest) -> LeftOutNames:
    words = MessageReader(session, load_thread(session)).effective(named_keys(edit))
    summary = "\n".join(words_of(message.parts) for message in messages_of(edit))
    return left_out((one.parts for one in words.values()), summary)


def _named(found: LeftOutNames) -> list[tuple[str, Sequence[str], int]]:
    """For each kind its title, some names, and how many more there are."""
    return [
        (name, [visible(one) for one in items[:MAX_NAMED]], len(items[MAX_NAMED:]))
        for name, items in found._asdict().items()
        if items
    ]
