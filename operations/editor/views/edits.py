"""Views that write: each calls the service that every door calls, and returns a patch."""

import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.errors import Conflict, DomainError, NotFound
from operations.domain.tree.key import entry_number
from operations.editor.forms import ActivateForm, AmendForm, form_of
from operations.editor.rows.look import Look
from operations.edits import lenses, own_entries, services
from operations.edits.arguments import RewordAmendment
from operations.edits.services import Act
from operations.log.selectors import get_bundle, load_history, load_thread
from operations.requests import number_of
from threads.models import Session
from threads.rendering.hidden import visible
from threads.store.selectors import get_session

from .dialogs import (
    FORM,
    activation_context,
    refusal_response,
    text_shown,
    wording_entry,
)
from .patches import answer, patch, recording
from .refusals import SKIP, answer_refusal
from .requests import look_at, look_of, operation_id_of

ACTS = (*Act, "widen")
"""The actions of a page on an operation."""
VERDICTS = (Act.ACCEPT, Act.REJECT)
"""The actions of a page on everything that waits."""
STEPS = {
    "undo": own_entries.undo,
    "redo": own_entries.redo,
    "commit": own_entries.commit,
    "discard": own_entries.discard,
}
"""The actions of a page on the caller's own entries."""


@recording
def record(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Record an edit. If it is refused, returns the form again, or a notice."""
    caller = caller_of(request)
    session = get_session(caller, session_id)
    form = form_of(request.POST)
    if not form.is_valid():
        return refusal_response(request, session, form)
    try:
        stage = bool(request.POST.get("stage"))
        return answer(
            request,
            services.record_edit(caller, session_id, form.arguments, stage=stage),
        )
    except DomainError as error:
        return refusal_response(request, session, form, error)


@recording
def act(
    request: HttpRequest, session_id: uuid.UUID, key: str, verb: str
) -> HttpResponse:
    """Switch or revert an operation, decide on it, or expand its targets."""
    caller = caller_of(request)
    session = get_session(caller, session_id)
    operation_id = operation_id_of(session, key)
    if verb == "widen":
        return answer(request, services.expand_targets(caller, operation_id))
    try:
        return answer(request, services.switch(caller, operation_id, Act(verb)))
    except Conflict as conflict:
        return answer_refusal(request, session, conflict)


@recording
def act_on_bundle(
    request: HttpRequest, session_id: uuid.UUID, bundle_id: uuid.UUID, verb: str
) -> HttpResponse:
    """Switch or revert a bundle, or decide on it."""
    caller = caller_of(request)
    session, _ = get_bundle(caller, bundle_id)
    if session.pk != session_id or verb == "widen":
        raise NotFound("There is no such bundle.", at=["bundle"])
    try:
        made = services.switch_bundle(
            caller, bundle_id, Act(verb), skip_conflicts=SKIP in request.POST
        )
    except Conflict as conflict:
        return answer_refusal(request, session, conflict)
    return answer(request, made)


@recording
def review(request: HttpRequest, session_id: uuid.UUID, verb: str) -> HttpResponse:
    """Accept or reject everything that waits, as far as the page has seen it."""
    caller = caller_of(request)
    session = get_session(caller, session_id)
    seen = number_of(request.POST, "seen", number_of(request.POST, "head", 0))
    try:
        made = services.review_all(
            caller,
            session_id,
            Act(verb),
            seen=seen,
            skip_conflicts=SKIP in request.POST,
        )
    except Conflict as conflict:
        return answer_refusal(request, session, conflict)
    return answer(request, made)


@recording
def switch_all(
    request: HttpRequest, session_id: uuid.UUID, actor: str, active: bool
) -> HttpResponse:
    """Switch all operations of an actor off, or back on."""
    transaction = services.switch_all(
        caller_of(request), session_id, actor, active=active
    )
    return answer(request, transaction)


@recording
def amend(request: HttpRequest, session_id: uuid.UUID, key: str) -> HttpResponse:
    """Give an operation new text or a new condition."""
    caller = caller_of(request)
    session = get_session(caller, session_id)
    form = AmendForm(request.POST)
    if not form.is_valid():
        return refusal_response(request, session, form)
    try:
        operation_id = operation_id_of(session, key)
        _refuse_stale(look_of(caller, session), key, form)
        amendment = _without_shown(session, key, form.arguments)
        return answer(request, services.amend(caller, operation_id, amendment.amended))
    except DomainError as error:
        return refusal_response(request, session, form, error)


def _refuse_stale(look: Look, key: str, form: AmendForm) -> None:
    """Raise Conflict if the operation was amended since the dialog was opened.

    The form's version is updated, so that saving again succeeds.
    """
    known, newest = form.cleaned_data["version"], wording_entry(look, key)
    if known not in (None, newest):
        form.data = form.data.copy()  # type: ignore[attr-defined]
        form.data["version"] = str(newest)  # type: ignore[index]
        raise Conflict(
            "It was amended after you opened this. Save again to replace that version with yours.",
            code="stale_version",
        )


def _without_shown(
    session: Session, key: str, typed: RewordAmendment
) -> RewordAmendment:
    """The amendment without its text if that is what the dialog showed.

    The shown text may be masked by a redaction, and must not replace the real one.
    """
    log = load_history(session).log
    number, recorded = entry_number(key) or 0, log.edit(key)
    shown = text_shown(log.masks.mask_edit(number, recorded.edit)) if recorded else None
    return typed.model_copy(update={"text": None}) if typed.text == shown else typed


@recording
def step(request: HttpRequest, session_id: uuid.UUID, name: str) -> HttpResponse:
    """Undo or redo the caller's newest entry, or commit or discard what they have staged."""
    caller = caller_of(request)
    if name != "commit":
        return answer(request, STEPS[name](caller, session_id))
    session = get_session(caller, session_id)
    try:
        made = own_entries.commit(
            caller, session_id, skip_conflicts=SKIP in request.POST
        )
    except Conflict as conflict:
        return answer_refusal(request, session, conflict)
    return answer(request, made)


@recording
def tags(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Set the active tags; if a name was typed, also save them as a lens."""
    caller, form = caller_of(request), ActivateForm(request.POST)
    status = 422
    if form.is_valid():
        tags, name = form.arguments.tags, form.cleaned_data["lens"]
        try:
            if name:
                lenses.save_lens(caller, session_id, name, tags)
            made = services.activate_tags(caller, session_id, tags)
            saved = f'Saved lens "{visible(name)}".' if name else ""
            return answer(request, made, notice=saved)
        except DomainError as error:
            form.refuse(error)
            status = error.status
    session = get_session(caller, session_id)
    context = activation_context(session, load_thread(session), form)
    return render(request, FORM, context, status=status)


@recording
def use_lens(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Set the active tags to those of a lens."""
    caller, name = caller_of(request), request.POST.get("name", "")
    lens = lenses.get_lens(get_session(caller, session_id), name)
    return answer(request, services.activate_tags(caller, session_id, lens.tags))


@recording
def delete_lens(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Delete a lens; the active tags stay as they are."""
    name = request.POST.get("name", "")
    lenses.delete_lens(caller_of(request), session_id, name)
    notice = f'Deleted lens "{visible(name)}".'
    return patch(request, look_at(request, session_id), notice=notice)
