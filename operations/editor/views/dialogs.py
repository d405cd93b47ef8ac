"""The dialogs: their forms, with initial values."""

import uuid
from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from contextstudio.accounts.domain.errors import DomainError, NotFound
from contextstudio.templatetags.look import messages, tokens
from operations.domain.log.operation import Edit, messages_of
from operations.domain.text.wording import words_of
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key
from operations.editor.forms import (
    FORMS,
    ActivateForm,
    AmendForm,
    EditForm,
    MoveForm,
    SnapshotForm,
)
from operations.editor.rows.look import Look
from operations.editor.rows.operation import leaves_of, tokens_of
from operations.edits.lenses import list_lenses
from operations.form_fields import sendable
from operations.log.selectors import load_thread
from operations.messages.names import extent_of, name_of, ranges_of
from operations.messages.reader import MessageReader
from operations.requests import fields_of
from threads.models import Session

from .operation_dialogs import SHOWN, operation_of, show
from .requests import look_at, proposes

FORM = "operations/editor/dialogs/form.html"
_KINDS = {"move": "resequence", "paste": "resequence"}
_TITLES = {
    "resequence": "Move",
    "activate": "Active tags",
    "snapshot": "Take a snapshot",
}
_ESTIMATED = ("digest", "snip")
MAX_QUOTED = 50
"""Most messages whose text is filled into the dialog that replaces it."""
_BUTTONS = {
    "resequence": "Move",
    "amend": "Save",
    "activate": "Set",
    "snapshot": "Take snapshot",
}


@require_http_methods(["GET", "HEAD", "POST"])
def dialog(request: HttpRequest, session_id: uuid.UUID, kind: str) -> HttpResponse:
    """A dialog; the request's fields say what it is about. A long list of keys may come by POST."""
    look = look_at(request, session_id)
    kind = _KINDS.get(kind, kind)
    if kind in SHOWN:
        return show(request, look, kind)
    if kind == "activate":
        form = ActivateForm(initial={"tags": sorted(look.thread.log.active_tags)})
        return render(
            request, FORM, activation_context(look.session, look.thread, form)
        )
    if kind == "snapshot":
        return render(request, FORM, naming_context(look.session, SnapshotForm()))
    if kind == "amend":
        return _amend(request, look)
    if kind not in FORMS:
        raise NotFound("There is no such dialog.")
    return _edit(request, look, kind)


def activation_context(
    session: Session, thread: Thread, form: ActivateForm
) -> dict[str, object]:
    """The context of `form.html` for the active tags, with the lenses to choose from."""
    active = thread.log.active_tags
    known = [(lens, set(lens.tags) == active) for lens in list_lenses(session)]
    head = _head(session, "activate", "tags", word="tag")
    return {"form": form, "dialog": head | {"lenses": known}}


def naming_context(session: Session, form: SnapshotForm) -> dict[str, object]:
    """The context of `form.html` for the name of a snapshot."""
    lead = "Keeps the thread as it is now, to compare with later or to go back to."
    head = _head(session, "snapshot", "snapshots", lead=lead, word="clock")
    return {"form": form, "dialog": head}


def refusal_response(
    request: HttpRequest,
    session: Session,
    form: EditForm,
    error: DomainError | None = None,
) -> HttpResponse:
    """The response to a refused form: the dialog again, or a notice if there was no dialog."""
    needs: Sequence[Key] = ()
    words, status = "", 422
    if error is not None:
        form.refuse(error, _explained(session, error))
        status = error.status
        known = error.facts.get("needs")
        needs = known.get("keys", ()) if isinstance(known, dict) else ()
    if needs:
        words = ranges_of(load_thread(session), needs) or messages(len(needs))
    if not form.data.get("dialog"):
        context = {"form": form, "needs": words, "targets": " ".join(needs)}
        answer = render(
            request, "operations/editor/panels/refusal.html", context, status=status
        )
        answer["HX-Retarget"], answer["HX-Reswap"] = "#toasts", "beforeend"
        return answer
    form.data = {**form.data.dict(), "needs": " ".join(needs)}  # type: ignore[attr-defined]
    waits = proposes(request, session)
    head = _head_again(session, form, needs=words, waits=waits)
    context = {"form": form, "dialog": head}
    return render(request, FORM, context, status=status)


def _explained(session: Session, error: DomainError) -> str:
    """The message of a conflict with the operations in the way; empty if there are none."""
    operations = error.facts.get("operations")
    if not isinstance(operations, list | tuple) or error.code.startswith("is_"):
        return ""  # the message names the reverted or rejected operation already
    thread = load_thread(session)
    named = ", ".join(
        name_of(thread, key) for key in operations if thread.log.edit(key)
    )
    return f"{error.message} In the way: {named}." if named else ""


def _edit(request: HttpRequest, look: Look, kind: str) -> HttpResponse:
    fields = fields_of(request)
    targets, after = fields.get("targets", ""), fields.get("after", "")
    leaves = leaves_of(look.thread, targets.split())
    initial = {"type": kind, "dialog": "1", "targets": targets, "after": after}
    if kind == "resequence":
        initial["moved"] = targets
    elif kind == "revise":
        initial |= _words_now(look, targets.split(), leaves)
    else:
        initial["targets"] = " ".join(leaves)
    form = FORMS[kind](initial=initial)
    lead = _lead(look.thread, leaves) if targets else _anchor(look.thread, after)
    if kind == "revise" and len(leaves) > MAX_QUOTED:
        lead += f". The text is that of the first {MAX_QUOTED}."
    head = _head(look.session, kind, "operations", lead=lead, waits=not look.may_edit)
    return render(request, FORM, {"form": form, "dialog": head})


def _words_now(
    look: Look, keys: Sequence[str], leaves: Sequence[str]
) -> dict[str, str]:
    words = MessageReader(look.session, look.thread).effective(leaves[:MAX_QUOTED])
    text = "\n\n".join(filter(None, (words_of(one.parts) for one in words.values())))
    role = next((one.role for one in words.values()), "user")
    return {"targets": " ".join(leaves), "text": sendable(text), "role": role}


def _amend(request: HttpRequest, look: Look) -> HttpResponse:
    key = fields_of(request).get("operation", "")
    op, edit = operation_of(look, key)
    text = text_shown(edit)
    initial = {
        "type": "amend",
        "dialog": "1",
        "operation": key,
        "version": wording_entry(look, key),
        "text": text,
        "tags": edit.condition.tags,
    }
    form = AmendForm(initial=initial)
    if text is None:
        form.fields.pop("text")
    else:
        form.fields["text"].required = bool(initial["text"])
    lead = f"{op.range or op.where}, {key}"
    if (count := len(messages_of(edit))) > 1:
        lead += f". The text of its {count} messages can be changed with the amend_operation tool."
    head = _head(
        look.session, "amend", f"operations/{key}/amend", lead=lead, word=op.word
    )
    return render(request, FORM, {"form": form, "dialog": head})


def wording_entry(look: Look, key: Key) -> int:
    """The number of the entry that gave an operation its current text."""
    number = int(key[1:])
    return max((number, *look.operations.amends(number)))


def text_shown(edit: Edit) -> str | None:
    """The initial text of the dialog that amends an edit; None if it has no text field.

    `edit` is masked. Line endings are normalized to those that the form's data will have.
    """
    made = messages_of(edit)
    if len(made) != 1:
        return None
    words = sendable(words_of(made[0].parts))
    return words.replace("\r\n", "\n").replace("\r", "\n")


def _head(
    session: Session,
    kind: str,
    path: str,
    *,
    lead: str = "",
    word: str = "",
    needs: str = "",
    waits: bool = False,
) -> dict[str, object]:
    """What `form.html` says above and below the fields, and where it posts.

    `word` is the kind of an operation that is amended, `needs` a range that would work. `waits`
    says that what is recorded waits for review.
    """
    title = f"Edit {word}" if kind == "amend" else kind.capitalize()
    main = "Propose" if waits else _BUTTONS.get(kind, kind.capitalize())
    return {
        "word": word or kind,
        "title": _TITLES.get(kind, title),
        "main": main,
        "may_wait": kind in FORMS,
        "estimate": reverse("operations:estimate", args=[session.pk])
        if kind in _ESTIMATED
        else "",
        "is_ready": kind == "snip",
        "session": session,
        "is_summary": kind == "digest",
        "action": reverse("operations:thread", args=[session.pk]) + path,
        "lead": lead,
        "needs": needs,
    }


def _head_again(
    session: Session, form: EditForm, *, needs: str, waits: bool
) -> dict[str, object]:
    thread = load_thread(session)
    if isinstance(form, AmendForm):
        key = form.data.get("operation", "")
        recorded = thread.log.edit(key)
        word = recorded.edit.kind if recorded else "digest"
        if recorded and "text" in form.fields:
            form.fields["text"].required = bool(text_shown(recorded.edit))
        return _head(session, "amend", f"operations/{key}/amend", word=word)
    name = "moved" if isinstance(form, MoveForm) else "targets"
    leaves = leaves_of(thread, form.data.get(name, "").split())
    lead = _lead(thread, leaves) or _anchor(thread, form.data.get("after", ""))
    kind = str(form.data.get("type"))
    return _head(session, kind, "operations", lead=lead, needs=needs, waits=waits)


def _lead(thread: Thread, leaves: Sequence[Key]) -> str:
    """`36 messages, #61–#96, 31,902 tokens`."""
    if not leaves:
        return ""
    many = messages(len(leaves)), extent_of(thread, leaves)
    return ", ".join((*many, tokens(tokens_of(thread, leaves))))


def _anchor(thread: Thread, after: Key) -> str:
    return f"After {name_of(thread, after)}" if after else "At the top"
