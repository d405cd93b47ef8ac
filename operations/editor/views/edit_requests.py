"""From a form that was filled in to what makes the edit (`services.Request.build`)."""

from dataclasses import replace
from typing import Any

from django.http import HttpRequest
from pydantic import TypeAdapter, ValidationError

from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.shape import wrong_shape
from operations.domain.log.condition import Condition
from operations.domain.log.edit import Edit, messages_of
from operations.domain.log.operation import Resequence, Revise
from operations.domain.text.wording import reworded
from operations.domain.thread.moving import order_behind
from operations.domain.thread.thread import Thread
from operations.domain.tree.made import New
from operations.editor.forms import FORMS, AmendForm, EditForm, MoveForm, ReviseForm
from operations.edits.arguments import AnyEdit
from operations.edits.services import Build
from operations.log.selectors import load_words
from threads.models import Session

_arguments: TypeAdapter[Any] = TypeAdapter(AnyEdit)


def form_of(request: HttpRequest) -> EditForm:
    """The form of the kind of edit that was posted. Raises Invalid for another."""
    kind = request.POST.get("type", "")
    if kind not in FORMS or FORMS[kind] is AmendForm:
        raise Invalid(f"There is no edit {kind[:40]!r}.", at=["type"])
    return FORMS[kind](request.POST)


def build_of(session: Session, form: EditForm) -> Build:
    """What makes the edit of a valid form. Raises Invalid with the place."""
    if isinstance(form, MoveForm):
        moved, anchor = form.cleaned_data["moved"], form.anchor
        return lambda thread: Resequence(order=order_behind(thread, moved, anchor))
    try:
        arguments = _arguments.validate_python(
            {"type": form.data["type"], **form.arguments()}
        )
    except ValidationError as error:
        raise wrong_shape(error.errors()) from error
    if isinstance(form, ReviseForm):
        return lambda thread: _revised(session, thread, form, arguments.edit(thread))
    build: Build = arguments.edit
    return build


def _revised(session: Session, thread: Thread, form: ReviseForm, edit: Revise) -> Edit:
    """Of one message that is revised, all but its words is kept: calls, images, ids."""
    targets = form.chosen()
    if len(targets) != 1 or not thread.holds(targets[0]):
        return edit
    words = load_words(session, thread, targets).get(targets[0])
    if words is None:
        return edit
    parts = reworded(words.parts, form.cleaned_data["text"])
    return replace(
        edit, messages=(New(form.cleaned_data["role"] or words.role, parts),)
    )


def amended(form: AmendForm, edit: Edit) -> Edit:
    """An edit with the words and the tags of its condition that were filled in."""
    made = messages_of(edit)
    condition: Condition = replace(
        edit.condition, tags=tuple(form.cleaned_data["tags"])
    )
    text = form.cleaned_data["text"]
    if len(made) != 1 or not text:
        return replace(edit, condition=condition)
    (message,) = made
    new = New(message.role, reworded(message.parts, text))
    return replace(edit, messages=(new,), condition=condition)  # type: ignore[arg-type]
