"""The dialogs: their forms, filled in with what they are about."""

import uuid
from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from contextstudio.accounts.domain.errors import DomainError, NotFound
from contextstudio.templatetags.look import messages
from operations.domain.log.operation import Edit, messages_of, named_keys
from operations.domain.text.left_out import left_out
from operations.domain.text.wording import words_of
from operations.editor.forms import FORMS, ActivateForm, AmendForm, EditForm, MoveForm
from operations.editor.panels.dialog import (
    Dialog,
    anchor_lead,
    dialog_of,
    lead_of,
    leaves_of,
)
from operations.editor.panels.drawer import drawer_of
from operations.editor.panels.versions import versions_of
from operations.editor.rows.look import Look
from operations.editor.rows.operation import Op
from operations.form_fields import sendable
from operations.log.selectors import load_thread
from operations.messages.names import name_of, ranges_of
from operations.messages.reader import MessageReader
from operations.requests import fields_of
from threads.models import Session
from threads.rendering.hidden import visible

from .requests import look_at

FORM = "operations/editor/dialogs/form.html"
_KINDS = {"move": "resequence", "paste": "resequence"}


@require_http_methods(["GET", "HEAD", "POST"])
def dialog(request: HttpRequest, session_id: uuid.UUID, kind: str) -> HttpResponse:
    """A dialog; the fields say upon what. A long list of keys may come by POST."""
    look = look_at(request, session_id)
    if kind in _READING:
        return _READING[kind](request, look)
    kind = _KINDS.get(kind, kind)
    if kind == "amend":
        return _amend(request, look)
    if kind not in FORMS:
        raise NotFound("There is no such dialog.")
    return _edit(request, look, kind)


def refused(
    request: HttpRequest,
    session: Session,
    form: EditForm,
    error: DomainError | None = None,
) -> HttpResponse:
    """A form that was not accepted: the dialog again, or where there was none a notice."""
    needs: Sequence[str] = ()
    if error is not None:
        form.refuse(error, _explained(session, error))
        needs = _needs_of(error)
    status = error.status if error is not None else 422
    words = ""
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
    context = {"form": form, "dialog": _head(session, form, needs=words)}
    return render(request, FORM, context, status=status)


def _explained(session: Session, error: DomainError) -> str:
    """The sentence of a conflict, with the operations that are in the way; else empty."""
    operations = error.facts.get("operations")
    if not isinstance(operations, list | tuple):
        return ""
    thread = load_thread(session)
    named = ", ".join(
        name_of(thread, key) for key in operations if thread.log.edit(key)
    )
    return f"{error.message} In the way: {named}." if named else ""


def _needs_of(error: DomainError) -> Sequence[str]:
    """The targets that would work, where the refusal knows some."""
    needs = error.facts.get("needs")
    return needs.get("keys", ()) if isinstance(needs, dict) else ()


def _edit(request: HttpRequest, look: Look, kind: str) -> HttpResponse:
    """A dialog to record an edit of the kind."""
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
    lead = lead_of(look.thread, leaves) if targets else anchor_lead(look.thread, after)
    head = dialog_of(kind, action=_action(look.session, "operations"), lead=lead)
    return render(request, FORM, {"form": form, "dialog": head})


def _words_now(
    look: Look, keys: Sequence[str], leaves: Sequence[str]
) -> dict[str, str]:
    """What the messages that are revised say now, and who says it."""
    words = MessageReader(look.session, look.thread).effective(leaves[:50])
    text = "\n\n".join(filter(None, (words_of(one.parts) for one in words.values())))
    role = next((one.role for one in words.values()), "user")
    return {"targets": " ".join(leaves), "text": sendable(text), "role": role}


def _amend(request: HttpRequest, look: Look) -> HttpResponse:
    """A dialog with the words of an operation that are in force."""
    key = fields_of(request).get("operation", "")
    op, edit = _operation(look, key)
    made = messages_of(edit)
    initial = {
        "type": "amend",
        "dialog": "1",
        "operation": key,
        "text": sendable(words_of(made[0].parts)) if len(made) == 1 else "",
        "tags": " ".join(edit.condition.tags),
    }
    form = AmendForm(initial=initial)
    if len(made) != 1:
        form.fields.pop("text")
    head = dialog_of(
        "amend",
        action=_action(look.session, f"operations/{key}/amend"),
        lead=f"{op.range or op.where}, {key}",
        word=op.word,
    )
    return render(request, FORM, {"form": form, "dialog": head})


def _versions(request: HttpRequest, look: Look) -> HttpResponse:
    """The versions of an operation's words."""
    key = fields_of(request).get("operation", "")
    op, _ = _operation(look, key)
    context = {"op": op, "versions": versions_of(look.operations, key)}
    return render(request, "operations/editor/dialogs/versions.html", context)


def _decide(request: HttpRequest, look: Look) -> HttpResponse:
    """An operation that waits, with what can be done about it."""
    key = fields_of(request).get("operation", "")
    op, _ = _operation(look, key)
    waiting = drawer_of(look, actor="", show_all=True).waiting
    decision = next((one for one in waiting if one.key == key), None)
    context = {"op": decision or op, "is_waiting": decision is not None}
    return render(request, "operations/editor/dialogs/decide.html", context)


def _left_out(request: HttpRequest, look: Look) -> HttpResponse:
    """What the originals of a digest name and its words don't."""
    key = fields_of(request).get("operation", "")
    op, edit = _operation(look, key)
    leaves = leaves_of(look.thread, named_keys(edit))
    words = MessageReader(look.session, look.thread).effective(leaves)
    summary = "\n".join(words_of(message.parts) for message in messages_of(edit))
    found = left_out((one.parts for one in words.values()), summary)
    groups = [
        {
            "title": name.capitalize(),
            "items": [visible(item) for item in items[:500]],
            "more": max(0, len(items) - 500),
        }
        for name, items in found._asdict().items()
        if items
    ]
    return render(
        request, "operations/editor/dialogs/left_out.html", {"op": op, "groups": groups}
    )


def _activate(request: HttpRequest, look: Look) -> HttpResponse:
    """A dialog to set the tags under which conditions hold."""
    tags = " ".join(sorted(look.thread.log.active_tags))
    return render(
        request, FORM, activation(look.session, ActivateForm(initial={"tags": tags}))
    )


def activation(session: Session, form: ActivateForm) -> dict[str, object]:
    """The dialog of the active tags: its head and its form."""
    head = dialog_of("activate", action=_action(session, "tags"), word="tag")
    return {"form": form, "dialog": head}


_READING = {
    "activate": _activate,
    "versions": _versions,
    "decide": _decide,
    "left-out": _left_out,
}


def _operation(look: Look, key: str) -> tuple[Op, Edit]:
    recorded = look.thread.log.edit(key)
    if recorded is None:
        raise NotFound(f"There is no operation {key[:40]}.", at=["operation"])
    return look.operations[key], look.thread.log.masks.edit(int(key[1:]), recorded.edit)


def _head(session: Session, form: EditForm, *, needs: str) -> Dialog:
    """The head of a dialog that is shown again."""
    thread = load_thread(session)
    if isinstance(form, AmendForm):
        key = form.data.get("operation", "")
        recorded = thread.log.edit(key)
        word = recorded.edit.kind if recorded else "digest"
        return dialog_of(
            "amend", action=_action(session, f"operations/{key}/amend"), word=word
        )
    name = "moved" if isinstance(form, MoveForm) else "targets"
    leaves = leaves_of(thread, form.data.get(name, "").split())
    lead = lead_of(thread, leaves) or anchor_lead(thread, form.data.get("after", ""))
    kind = str(form.data.get("type"))
    return dialog_of(
        kind, action=_action(session, "operations"), lead=lead, needs=needs
    )


def _action(session: Session, path: str) -> str:
    return reverse("operations:thread", args=[session.pk]) + path
