"""The panels beside the thread: the operations, the outline, and the log in sentences."""

import uuid
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from contextstudio.accounts.authentication import caller_of
from contextstudio.templatetags.look import messages
from operations.domain.log.entry import Entry
from operations.domain.log.operation import (
    Accept,
    ActivateTags,
    Amend,
    Purge,
    Redo,
    Reject,
    Revert,
    Toggle,
    Undo,
)
from operations.domain.tree.key import Key, entry_key, entry_number
from operations.editor.panels.drawer import drawer_of
from operations.editor.panels.notice import control_title, describe_entries
from operations.editor.panels.outline import outline_of
from operations.editor.rows.look import Look
from operations.editor.rows.operation import Operations, author_of
from operations.messages.names import word_for, word_of
from operations.requests import number_of
from operations.snapshots.selectors import NamedPoint, list_snapshots
from operations.snapshots.services import may_delete
from threads.rendering.hidden import visible

from .requests import look_at

PAGE = 50
MAX_NAMED = 5
"""Most operations that a log entry names."""
MAX_ENTRIES = 10
"""Most entries that an undo or a redo names."""


@require_safe
def operations(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    look = look_at(request, session_id)
    caller, show_more = caller_of(request), bool(request.GET.get("more"))
    context = {
        "drawer": drawer_of(look, caller, show_more=show_more),
        "may_edit": look.may_edit,
        "may_propose": look.may_propose,
    }
    return render(request, "operations/editor/panels/panel.html", context)


@require_safe
def log(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """A page of the log, newest first, starting with the newest entry older than `before`.

    With `down_to`, the page reaches at least to that entry.
    """
    look, caller = look_at(request, session_id), caller_of(request)
    before = number_of(request.GET, "before", 0) or None
    down_to = number_of(request.GET, "down_to", 0) or None
    entries = _journal(look, before, down_to)
    last = int(entries[-1]["key"][1:]) if entries else 1
    address = reverse("operations:log", args=[session_id])
    older = f"{address}?before={last}" if last > 1 else ""
    snapshots = list_snapshots(look.session)
    taken: dict[str, list[NamedPoint]] = defaultdict(list)
    for snapshot in snapshots:
        taken[entry_key(snapshot.head)].append(snapshot)
    for entry in entries:
        entry["snapshots"] = taken[entry["key"]]
    context = {
        "session": look.session,
        "entries": entries,
        "older_href": older,
        "is_newest": before is None,
        "first_snapshots": [] if older else taken[entry_key(0)],
        "deletable": {
            one.pk for one in snapshots if may_delete(caller, look.session, one)
        },
        "may_propose": look.may_propose,
        "may_edit": look.may_edit,
    }
    return render(request, "operations/editor/panels/log.html", context)


@require_safe
def outline(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    look = look_at(request, session_id)
    return render(
        request,
        "operations/editor/frame/outline_list.html",
        {"outline": outline_of(look)},
    )


def _journal(
    look: Look, before: int | None, down_to: int | None
) -> list[dict[str, Any]]:
    """The `PAGE` entries with numbers below `before`, newest first; None means no upper limit.

    There are more entries if `down_to` requires it.
    """
    operations = look.operations
    entries: Sequence[Entry] = operations.thread.log.entries
    end = len(entries) if before is None else max(0, min(before - 1, len(entries)))
    first = max(0, min(end - PAGE, end if down_to is None else down_to - 1))
    lines = []
    for entry in reversed(entries[first:end]):
        row = operations.history.rows[entry.number]
        lines.append(
            {
                "key": entry_key(entry.number),
                "word": _word(operations, entry),
                "sentence": _sentence(look, entry),
                "waited": "staged"
                if entry.staged
                else "proposed"
                if entry.proposed
                else "",
                "title": control_title(look, entry.number),
                "author": author_of(row),
                "time": row.created_at,
            }
        )
    return lines


def _word(operations: Operations, entry: Entry) -> str:
    recorded = operations.thread.log.edits.get(entry.number)
    return word_for(recorded) if recorded else word_of(entry.operation.kind)


def _sentence(look: Look, entry: Entry) -> str:
    operations = look.operations
    match entry.operation:
        case Toggle(operations=keys, active=active, actor=actor):
            what = _named(operations, keys)
            if actor:
                name = visible(operations.history.names()[actor])
                what = f"all by {name}: {what}"
            return f"{what} {'on' if active else 'off'}"
        case (
            Revert(operations=keys) | Accept(operations=keys) | Reject(operations=keys)
        ):
            return _named(operations, keys)
        case Amend(operation=key):
            return _named(operations, [key])
        case Undo(entries=numbers) | Redo(entries=numbers):
            named = ", ".join(entry_key(number) for number in numbers[:MAX_ENTRIES])
            listed = f"{named}{_more(numbers, MAX_ENTRIES)}"
            done = describe_entries(look, numbers)
            return f"of {done} ({listed})" if done else f"of {listed}"
        case ActivateTags(tags=tags):
            return visible(", ".join(tags)) or "none"
        case Purge(targets=targets):
            return messages(len(targets))
        case _:
            op = operations[entry_key(entry.number)]
            return op.range or op.where


def _named(operations: Operations, keys: Sequence[Key]) -> str:
    numbers = [entry_number(key) or 0 for key in keys]
    if len(keys) > MAX_NAMED and (bundle := operations.bundle_of(numbers)):
        return bundle
    named = []
    for key in keys[:MAX_NAMED]:
        op = operations[key]
        named.append(f"{op.name} ({op.range or op.where})")
    return ", ".join(named) + _more(keys, MAX_NAMED)


def _more(listed: Sequence[object], most: int) -> str:
    """What follows the first `most` items, if there are more."""
    return f" and {len(listed) - most:,} more" if len(listed) > most else ""
