"""The dialogs that show something of an operation: versions, a decision, what is left out."""

from collections.abc import Iterator

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from contextstudio.accounts.domain.errors import NotFound
from operations.domain.log.edit import Edit, messages_of, named_keys
from operations.domain.log.operation import Amend, Control
from operations.domain.text.left_out import left_out
from operations.domain.text.wording import words_of
from operations.domain.tree.key import Key
from operations.editor.panels.drawer import drawer_of
from operations.editor.rows.look import Look
from operations.editor.rows.operation import (
    Op,
    Operations,
    author_of,
    leaves_of,
)
from operations.messages.reader import MessageReader
from operations.requests import fields_of
from threads.rendering.hidden import visible
from threads.rendering.message import render_difference


def operation_of(look: Look, key: Key) -> tuple[Op, Edit]:
    """An operation with its edit, masked. Raises NotFound."""
    recorded = look.thread.log.edit(key)
    if recorded is None:
        raise NotFound(f"There is no operation {key[:40]}.", at=["operation"])
    return look.operations[key], look.thread.log.masks.edit(int(key[1:]), recorded.edit)


def _versions(request: HttpRequest, look: Look) -> HttpResponse:
    key = fields_of(request).get("operation", "")
    op, _ = operation_of(look, key)
    context = {"op": op, "versions": _versions_of(look.operations, key)}
    return render(request, "operations/editor/dialogs/versions.html", context)


def _decide(request: HttpRequest, look: Look) -> HttpResponse:
    """An operation that waits, with what can be done about it."""
    key = fields_of(request).get("operation", "")
    op, _ = operation_of(look, key)
    waiting = drawer_of(look, actor="", show_all=True)["waiting"]
    decision = next((one for one in waiting if one.key == key), None)
    context = {"op": decision or op, "is_waiting": decision is not None}
    return render(request, "operations/editor/dialogs/decide.html", context)


def _left_out(request: HttpRequest, look: Look) -> HttpResponse:
    """What the originals of a digest name and its words don't."""
    key = fields_of(request).get("operation", "")
    op, edit = operation_of(look, key)
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


SHOWING = {"versions": _versions, "decide": _decide, "left-out": _left_out}


def _versions_of(operations: Operations, key: Key) -> list[dict[str, object]]:
    """The versions in force, newest first, each with its difference from the one before."""
    versions: list[dict[str, object]] = []
    before = ""
    for number, (entry, edit) in enumerate(_wordings(operations, key), start=1):
        row = operations.history.rows[entry]
        text = "\n\n".join(words_of(message.parts) for message in messages_of(edit))
        html = render_difference(before if number > 1 else text, text)
        before = text
        versions.append(
            {
                "number": number,
                "author": author_of(row),
                "time": row.created_at,
                "html": html,
            }
        )
    return versions[::-1]


def _wordings(operations: Operations, key: Key) -> Iterator[tuple[int, Edit]]:
    log = operations.thread.log
    number = int(key[1:])
    for entry in (number, *operations.amends(number)):
        operation = log.at(entry).operation
        if isinstance(operation, Amend):
            yield entry, log.masks.edit(number, operation.edit)
        elif not isinstance(operation, Control):
            yield entry, log.masks.edit(number, operation)
