"""Operations and entries of the log in the words of the public contract."""

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from operations.domain.log.log import EditState, Log, Recorded, controlled
from operations.domain.log.operation import (
    Amend,
    Condition,
    Control,
    Edit,
    Insert,
    Operation,
    Redact,
    Revert,
    Tag,
    Undo,
    messages_of,
    named_keys,
    spans_of,
)
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import entry_key, entry_number, made_key
from operations.domain.tree.span import Span
from operations.domain.tree.status import Report
from threads.domain.message import Role
from threads.sessions.presentation import present_parts

from .codec import encode
from .selectors import History, LogRow


def present_report(report: Report, recorded: Recorded, row: LogRow) -> dict[str, Any]:
    """An operation as the thread lists it: lightly."""
    return {
        "id": str(row.id),
        "key": report.key,
        "type": report.kind,
        "title": row.title,
        "status": report.status,
        "staged": recorded.entry.staged,
        "reason": report.reason,
        "hidden_by": report.hidden_by,
        "condition": present_condition(recorded.edit.condition),
        "bundle_id": str(row.bundle) if row.bundle else None,
        "actor": {"id": row.actor, "name": row.actor_name},
        "created_at": row.created_at.isoformat(),
        "reverted_at": None,
    }


def present_operations(
    thread: Thread, history: History, *, active_only: bool = False
) -> list[dict[str, Any]]:
    """All operations of a session in the order of the log; `active_only`: those that apply."""
    reverted_at = _reverted_at(history)
    return [
        {
            **present_report(
                report, history.log.edits[report.number], history.rows[report.number]
            ),
            "reverted_at": reverted_at.get(report.number),
        }
        for report in thread.operations
        if not active_only or report.status == "applied"
    ]


def present_operation(thread: Thread, history: History, number: int) -> dict[str, Any]:
    """An operation with all that it was recorded with, and its words in force."""
    recorded, row = history.log.edits[number], history.rows[number]
    report = thread.report(number)
    return {
        **present_report(report, recorded, row),
        "reverted_at": _reverted_at(history).get(number),
        **_fields(history.log, recorded),
        "operations": list(report.operations),
        "needs": list(report.needs),
        "amended": [
            {
                "key": entry_key(entry.number),
                "at": history.rows[entry.number].created_at,
            }
            for entry in history.log.entries
            if isinstance(entry.operation, Amend)
            and entry.operation.operation == report.key
            and not history.log.is_undone(entry.number)
        ],
    }


def present_log(history: History, numbers: Iterable[int]) -> list[dict[str, Any]]:
    """Entries as they were recorded."""
    return [
        {
            "number": number,
            "key": entry_key(number),
            "id": str(history.rows[number].id),
            "type": history.log.at(number).operation.kind,
            "entry": _payload(history.log, number),
            "proposed": history.log.at(number).proposed,
            "staged": history.log.at(number).staged,
            "bundle_id": history.log.at(number).bundle,
            "actor": {
                "id": history.rows[number].actor,
                "name": history.rows[number].actor_name,
            },
            "created_at": history.rows[number].created_at.isoformat(),
        }
        for number in numbers
    ]


def present_condition(condition: Condition) -> dict[str, Any] | None:
    """A condition; None where it always holds."""
    if not condition.tags and not condition.objectives:
        return None
    return {
        "tags": list(condition.tags),
        "objectives": list(condition.objectives),
        "match": condition.match,
    }


def _fields(log: Log, recorded: Recorded) -> dict[str, Any]:
    number = recorded.entry.number
    edit = log.masks.edit(number, recorded.edit)
    fields: dict[str, Any] = {"targets": list(named_keys(edit))}
    if isinstance(edit, Insert):
        fields = {"after": edit.after}
    if made := messages_of(edit):
        fields["messages"] = [
            {
                "key": made_key(number, place),
                **present_parts(Role(message.role), message.parts),
                "tokens": message.tokens,
            }
            for place, message in enumerate(made)
        ]
    if isinstance(edit, Tag):
        fields["tags"] = list(edit.tags)
    if spans := spans_of(edit):
        fields["spans"] = [present_span(span) for span in spans]
    return fields


def present_span(span: Span) -> dict[str, Any]:
    """A stretch of text that is changed: its place, not its words."""
    return {
        "key": span.key,
        "part": span.part,
        "start": span.start,
        "end": span.end,
        "replacement": span.text,
        "tokens_saved": span.saved,
    }


def _payload(log: Log, number: int) -> Any:
    """What an entry says, its messages masked where a redaction is on.

    The fingerprint of what a redaction masks is left out: of a short text it gives that away.
    """
    operation: Operation = log.at(number).operation
    if isinstance(operation, Amend):
        amended = entry_number(operation.operation) or 0
        edit = _without_fingerprints(operation.edit)
        operation = replace(operation, edit=log.masks.edit(amended, edit))
    elif not isinstance(operation, Control):
        operation = log.masks.edit(number, _without_fingerprints(operation))
    return json.loads(encode(operation)[1].decode("utf-8", "surrogatepass"))


def _without_fingerprints(edit: Edit) -> Edit:
    if not isinstance(edit, Redact):
        return edit
    return replace(edit, spans=tuple(replace(span, sha256="") for span in edit.spans))


def _reverted_at(history: History) -> dict[int, str]:
    """When each edit that is reverted now was taken back last."""
    taken: dict[int, int] = {}
    for entry in history.log.entries:
        match entry.operation:
            case Revert():
                taken.update(
                    (number, entry.number) for number in controlled(entry.operation)
                )
            case Undo(entries=numbers):
                taken.update((number, entry.number) for number in numbers)
    return {
        number: history.rows[entry].created_at.isoformat()
        for number, entry in taken.items()
        if number in history.log.edits
        and history.log.edits[number].state is EditState.REVERTED
    }
