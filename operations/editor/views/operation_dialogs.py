"""The dialogs about one operation: its versions, a decision, and what it leaves out."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from contextstudio.accounts.domain.errors import NotFound
from operations.domain.log.operation import (
    Amend,
    Control,
    Edit,
    messages_of,
    named_keys,
)
from operations.domain.text.left_out import left_out
from operations.domain.text.wording import words_of
from operations.domain.tree.key import Key
from operations.editor.panels.drawer import decision_of
from operations.editor.rows.look import Look
from operations.editor.rows.operation import Op, author_of, leaves_of
from operations.messages.reader import MessageReader
from operations.requests import fields_of
from threads.rendering import render_difference
from threads.rendering.hidden import visible


def operation_of(look: Look, key: Key) -> tuple[Op, Edit]:
    """An operation with its masked edit. Raises NotFound."""
    recorded = look.thread.log.edit(key)
    if recorded is None:
        raise NotFound(f"There is no operation {key[:40]}.", at=["operation"])
    return look.operations[key], look.thread.log.masks.mask_edit(
        int(key[1:]), recorded.edit
    )


def show(request: HttpRequest, look: Look, kind: str) -> HttpResponse:
    """The dialog of this kind, one of `SHOWN`, about the requested operation."""
    op, edit = operation_of(look, fields_of(request).get("operation", ""))
    name = f"operations/editor/dialogs/{kind.replace('-', '_')}.html"
    return render(request, name, {"op": op, **SHOWN[kind](look, op, edit)})


def _versions(look: Look, op: Op, edit: Edit) -> dict[str, object]:
    """The versions of an operation, newest first, each with its difference from the one before."""
    number, log = int(op.key[1:]), look.thread.log
    versions: list[dict[str, object]] = []
    before: str | None = None
    for entry in (number, *look.operations.amends(number)):
        operation = log.at(entry).operation
        words = operation.edit if isinstance(operation, Amend) else operation
        if isinstance(words, Control):
            continue
        made = messages_of(log.masks.mask_edit(number, words))
        text = "\n\n".join(words_of(message.parts) for message in made)
        row = look.operations.history.rows[entry]
        versions.append(
            {
                "number": len(versions) + 1,
                "author": author_of(row),
                "time": row.created_at,
                "html": render_difference(text if before is None else before, text),
            }
        )
        before = text
    return {"versions": versions[::-1]}


def _decide(look: Look, op: Op, edit: Edit) -> dict[str, object]:
    """A waiting operation, with what can be done about it."""
    decision = decision_of(look, op.key)
    return {"op": decision or op, "is_waiting": decision is not None}


def _left_out(look: Look, op: Op, edit: Edit) -> dict[str, object]:
    """What the originals of a digest name and its text doesn't."""
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
    return {"groups": groups}


SHOWN = {"versions": _versions, "decide": _decide, "left-out": _left_out}
