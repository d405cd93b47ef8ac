"""Operations and entries of the log, in the form of the public contract."""

import json
import uuid
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from typing import Any, Literal

from pydantic import BaseModel

from contextstudio.accounts.domain.caller import is_agent
from operations.domain.log import operation as op
from operations.domain.log.entry import EditState, RecordedEdit
from operations.domain.log.history import staged
from operations.domain.log.log import Log
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import (
    entry_key,
    entry_number,
    made_key,
    original_index,
    original_number,
)
from operations.domain.tree.status import Report, Status
from threads.domain.formats.io.fields import one_line
from threads.domain.message import Role
from threads.domain.text import whole_text
from threads.sessions.presentation import present_parts

from .codec import encode
from .selectors import History, LogRow

MAX_QUOTED_LENGTH = 100
"""Most characters that a list quotes of what an operation shows."""


class ActorOut(BaseModel):
    """Who recorded something."""

    id: str
    """Such as `user:1`, or `key:5` for a key."""
    name: str


class AuthorOut(ActorOut):
    """Who recorded operations, and how many of them are on, off and proposed.

    Staged operations are in none of these counts.
    """

    is_agent: bool
    on: int
    off: int
    proposed: int


class ActorList(BaseModel):
    """Who recorded operations of a session, in the order of their first operation."""

    actors: list[AuthorOut]


class ConditionOut(BaseModel):
    """When an operation applies."""

    tags: list[str]
    """Tags that are compared with the active ones."""
    objectives: list[str]
    """Objectives that are compared with the session's."""
    match: Literal["all", "any", "none"]
    """Whether all of them must be active, any, or none."""


class OperationOut(BaseModel):
    """An operation in brief."""

    id: uuid.UUID
    key: str
    type: str
    title: str
    status: str
    """`applied`, `off`, `proposed`, …: docs/operations.md lists them."""
    staged: bool
    """Whether it is staged: proposed, until its author commits it together with others."""
    reason: str
    """Why it has this status."""
    hidden_by: str | None
    """Key of the fold that hides all that it shows; null if any of it is visible."""
    condition: ConditionOut | None
    """Null if it applies whatever tags are active."""
    bundle_id: uuid.UUID | None
    actor: ActorOut
    created_at: str
    reverted_at: str | None


class OperationList(BaseModel):
    """Some operations of a session, in the order of the log."""

    operations: list[OperationOut]
    next_cursor: str | None = None


class EntryOut(BaseModel):
    """An entry of the log, as it was recorded."""

    number: int
    """Its number in the log, from 1."""
    key: str
    """`o` and its number."""
    id: uuid.UUID
    type: str
    entry: dict[str, Any]
    """What was recorded; redacted text is masked."""
    proposed: bool
    """Whether it was recorded as a proposal."""
    staged: bool
    """Whether it was staged."""
    bundle_id: uuid.UUID | None
    actor: ActorOut
    created_at: str


class LogPage(BaseModel):
    """Some entries of a log."""

    items: list[EntryOut]
    next_cursor: str | None


def _present_report(report: Report, history: History) -> dict[str, Any]:
    """An operation in the short form in which the thread lists it."""
    recorded, row = history.log.edits[report.number], history.rows[report.number]
    return {
        "id": str(row.id),
        "key": report.key,
        "type": report.kind,
        "title": history.title(report.number),
        "status": report.status,
        "staged": recorded.entry.staged,
        "reason": _reason(report, history),
        "hidden_by": report.hidden_by,
        "condition": _present_condition(recorded.edit.condition),
        "bundle_id": str(row.bundle) if row.bundle else None,
        "actor": _actor(row),
        "created_at": row.created_at.isoformat(),
        "reverted_at": _reverted_at(history, report.number),
    }


def present_page(
    thread: Thread,
    history: History,
    *,
    after: int,
    limit: int,
    active_only: bool = False,
) -> tuple[list[dict[str, Any]], int | None]:
    """Operations after a number, in log order, and the last one's number if there are more."""
    found: list[dict[str, Any]] = []
    for number in history.log.edits.after(after):
        report = thread.report(number)
        if active_only and report.status != "applied":
            continue
        if len(found) == limit:
            return found, after
        found.append(_present_report(report, history))
        after = number
    return found, None


def present_newest(
    thread: Thread, history: History, limit: int
) -> list[dict[str, Any]]:
    """The newest operations of a session, in log order."""
    newest = list(islice(reversed(history.log.edits), limit))
    return [
        _present_report(thread.report(number), history) for number in reversed(newest)
    ]


def present_operations(
    thread: Thread, history: History, *, active_only: bool = False, newest: int = 0
) -> list[dict[str, Any]]:
    """Operations of a session in log order, each with what it covers and shows.

    `active_only` limits them to those that apply, `newest` to the newest so many (0 for all).
    """
    found = [
        report
        for report in thread.reports
        if not active_only or report.status == "applied"
    ]
    return [
        {
            **_present_report(report, history),
            **_gist(history.log, history.log.edits[report.number]),
        }
        for report in found[-newest:]
    ]


def _gist(log: Log, recorded: RecordedEdit) -> dict[str, Any]:
    """What an operation covers, and the first words of what it shows, or its tags."""
    edit = log.masks.mask_edit(recorded.entry.number, recorded.edit)
    keys = op.named_keys(edit)
    originals = [key for key in keys if original_index(key) is not None]
    ordered = sorted(originals, key=original_number) or keys
    said = (whole_text(message.parts[:1]) for message in op.messages_of(edit)[:1])
    words = ", ".join(edit.tags) if isinstance(edit, op.Tag) else "".join(said)
    return {
        "first": ordered[0] if ordered else None,
        "last": ordered[-1] if ordered else None,
        "count": len(keys),
        "words": one_line(words, MAX_QUOTED_LENGTH),
    }


def present_operation(thread: Thread, history: History, number: int) -> dict[str, Any]:
    """An operation with everything that it was recorded with, as last amended."""
    report = thread.report(number)
    return {
        **_present_report(report, history),
        **_fields(history.log, history.log.edits[number]),
        "operations": list(report.operations),
        "needs": list(report.needs),
        "amended": [
            {
                "key": entry_key(entry.number),
                "at": history.rows[entry.number].created_at,
            }
            for entry in history.log.controls(number)
            if isinstance(entry.operation, op.Amend)
        ],
    }


def present_actors(history: History) -> list[dict[str, Any]]:
    """The actors who recorded operations, with their newest name and their counts."""
    names = history.names()
    return [
        {
            "id": actor,
            "name": names[actor],
            "is_agent": is_agent(actor),
            **standing._asdict(),
            "proposed": standing.proposed - len(staged(history.log, actor)),
        }
        for actor, standing in history.log.counts_by_actor.items()
    ]


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
            "actor": _actor(history.rows[number]),
            "created_at": history.rows[number].created_at.isoformat(),
        }
        for number in numbers
    ]


def _present_condition(condition: op.Condition) -> dict[str, Any] | None:
    """A condition; None if it always holds."""
    if not condition.tags and not condition.objectives:
        return None
    return {
        "tags": list(condition.tags),
        "objectives": list(condition.objectives),
        "match": condition.match,
    }


def _actor(row: LogRow) -> dict[str, str]:
    return {"id": row.actor, "name": row.actor_name}


def _fields(log: Log, recorded: RecordedEdit) -> dict[str, Any]:
    number = recorded.entry.number
    edit = log.masks.mask_edit(number, recorded.edit)
    fields: dict[str, Any] = {"targets": list(op.named_keys(edit))}
    if isinstance(edit, op.Insert):
        fields = {"after": edit.after}
    if made := op.messages_of(edit):
        fields["messages"] = [
            {
                "key": made_key(number, place),
                **present_parts(Role(message.role), message.parts),
                "tokens": message.tokens,
            }
            for place, message in enumerate(made)
        ]
    if isinstance(edit, op.Tag):
        fields["tags"] = list(edit.tags)
    if spans := op.spans_of(edit):
        # The position of the text, but not the text itself.
        fields["spans"] = [
            {
                "key": span.key,
                "part": span.part,
                "start": span.start,
                "end": span.end,
                "replacement": span.text,
                "tokens_saved": span.saved,
            }
            for span in spans
        ]
    return fields


def _payload(log: Log, number: int) -> Any:
    """The payload of an entry, masked by redactions that are on.

    The fingerprints of redacted texts are left out, as that of a short text gives it away.
    """
    operation: op.Operation = log.at(number).operation
    if isinstance(operation, op.Amend):
        amended = entry_number(operation.operation) or 0
        edit = _without_fingerprints(log, operation.edit)
        operation = replace(operation, edit=log.masks.mask_edit(amended, edit))
    elif not isinstance(operation, op.Control):
        operation = log.masks.mask_edit(number, _without_fingerprints(log, operation))
    return json.loads(encode(operation)[1].decode("utf-8", "surrogatepass"))


def _without_fingerprints(log: Log, edit: op.Edit) -> op.Edit:
    if not isinstance(edit, op.TextEdit):
        return edit
    hidden = {span.key for span in edit.spans if isinstance(edit, op.Redact)}
    hidden.update(
        log.masks.keys
    )  # a replacement that doesn't apply may cover masked text too
    spans = (
        replace(span, sha256="") if span.key in hidden else span for span in edit.spans
    )
    return replace(edit, spans=tuple(spans))


def _reason(report: Report, history: History) -> str:
    """The reason for an operation's status; for a rejected one, who rejected it."""
    by = [
        history.rows[control.number].actor_name
        for control in history.log.controls(report.number)
        if isinstance(control.operation, op.Reject)
    ]
    is_rejected = report.status is Status.REJECTED and by
    return f"{by[-1]} rejected it in review." if is_rejected else report.reason


def _reverted_at(history: History, number: int) -> str | None:
    """When an edit was last reverted; None if it isn't reverted now."""
    if history.log.edits[number].state is not EditState.REVERTED:
        return None
    *_, taken = (
        control.number
        for control in history.log.controls(number)
        if isinstance(control.operation, op.Revert | op.Undo)
    )
    return history.rows[taken].created_at.isoformat()
