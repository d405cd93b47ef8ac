"""What the API takes and answers of threads and operations."""

import uuid
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from contextstudio.accounts.shape import RequestBody
from operations.domain.log.operation import named_keys
from operations.log.transaction import LogTransaction

from .arguments import AnyEdit, TagNames


class HeadIn(RequestBody):
    """The last entry of the log that the caller has seen."""

    expected_head: int | None = Field(None, ge=0)
    """Refuse (409) if the log has grown beyond this entry."""


class ToggleIn(HeadIn):
    """Whether to switch on or off."""

    active: bool
    """True to switch on, false to switch off."""


class AcceptIn(HeadIn):
    """How to accept several proposals."""

    skip_conflicts: bool = Field(
        False, description="Whether to accept the others if some can't be accepted."
    )


class BundleIn(HeadIn):
    """Edits to record as one bundle."""

    title: str = Field(
        "",
        max_length=300,
        description="A title for all of them; by default each keeps its own.",
    )
    operations: list[AnyEdit] = Field(min_length=1, max_length=1000)


class LensIn(RequestBody):
    """The tags of a lens."""

    tags: TagNames


class WarningOut(BaseModel):
    """Something to know about what was recorded."""

    code: str
    detail: str


class ChangedOut(BaseModel):
    """Another operation whose status has changed as a result."""

    key: str
    id: uuid.UUID
    type: str
    before: str
    """Its status before."""
    status: str
    """Its status now."""
    reason: str
    """Why it has this status."""


class SwitchOut(BaseModel):
    """The result of switching, undoing or reviewing."""

    success: bool
    head: int
    """Number of the last entry of the log."""
    warnings: list[WarningOut]
    changed: list[ChangedOut]
    """Other operations whose status has changed as a result."""


class ResolvedOut(BaseModel):
    """The messages that an edit acts on."""

    first: int | None
    """Index of the first original; null if it names none."""
    last: int | None
    count: int
    """The number of keys."""
    keys: list[str]


class OneRecorded(BaseModel):
    """An edit that was recorded."""

    operation_id: uuid.UUID
    key: str
    type: str
    resolved: ResolvedOut
    status: str
    """`applied`, `proposed`, …: docs/operations.md lists them."""
    reason: str
    """Why it has this status; empty if there is nothing to explain."""


class RecordedOut(SwitchOut, OneRecorded):
    """The result of recording one edit."""


class BundleOut(SwitchOut):
    """The result of recording a bundle."""

    bundle_id: uuid.UUID
    operations: list[OneRecorded]


class LensOut(BaseModel):
    """A named set of active tags."""

    model_config = ConfigDict(from_attributes=True)
    name: str
    tags: list[str]


def present_transaction(transaction: LogTransaction) -> dict[str, Any]:
    return {
        "success": True,
        "head": transaction.session.head,
        "warnings": [
            {"code": warning.code, "detail": warning.message}
            for warning in transaction.warnings
        ],
        "changed": [
            {
                "key": change.report.key,
                "id": str(transaction.history.rows[change.report.number].id),
                "type": change.report.kind,
                "before": change.before,
                "status": change.report.status,
                "reason": change.report.reason,
            }
            for change in transaction.changes
        ],
    }


def present_recorded(transaction: LogTransaction, number: int) -> dict[str, Any]:
    report = transaction.thread.report(number)
    keys = list(named_keys(transaction.thread.log.edits[number].edit))
    indexes = [int(key[1:]) for key in keys if key.startswith("m")]
    return {
        "operation_id": str(transaction.history.rows[number].id),
        "key": report.key,
        "type": report.kind,
        "resolved": {
            "first": min(indexes, default=None),
            "last": max(indexes, default=None),
            "count": len(keys),
            "keys": keys,
        },
        "status": report.status,
        "reason": report.reason,
    }


def present_edit(transaction: LogTransaction) -> dict[str, Any]:
    return {
        **present_transaction(transaction),
        **present_recorded(transaction, transaction.numbers[0]),
    }


def present_bundle(transaction: LogTransaction) -> dict[str, Any]:
    return {
        **present_transaction(transaction),
        "bundle_id": str(transaction.history.rows[transaction.numbers[0]].bundle),
        "operations": [
            present_recorded(transaction, number) for number in transaction.numbers
        ],
    }
