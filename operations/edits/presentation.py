"""Operations and the log as the public contract gives them (DESIGN 6)."""

from typing import Any

from operations.domain.log.edit import named_keys
from operations.domain.thread.thread import Thread
from operations.log.writing import Writing


def present_writing(writing: Writing) -> dict[str, Any]:
    """What recording or switching answers."""
    answer: dict[str, Any] = {
        "success": True,
        "head": writing.session.head,
        "warnings": [
            {"code": warning.code, "detail": warning.message}
            for warning in writing.warnings
        ],
        "changed": [
            {
                "key": change.report.key,
                "id": str(writing.history.rows[change.report.number].id),
                "type": change.report.kind,
                "before": change.before,
                "status": change.report.status,
                "reason": change.report.reason,
            }
            for change in writing.changes
        ],
    }
    return answer


def present_recorded(writing: Writing, number: int) -> dict[str, Any]:
    """An edit that was just recorded."""
    report = writing.thread.report(number)
    return {
        "operation_id": str(writing.history.rows[number].id),
        "key": report.key,
        "type": report.kind,
        "resolved": resolved(writing.thread, number),
        "status": report.status,
        "reason": report.reason,
    }


def present_edit(writing: Writing) -> dict[str, Any]:
    """What recording one edit answers."""
    return {**present_writing(writing), **present_recorded(writing, writing.numbers[0])}


def present_bundle(writing: Writing) -> dict[str, Any]:
    """What recording a bundle answers."""
    return {
        **present_writing(writing),
        "bundle_id": str(writing.history.rows[writing.numbers[0]].bundle),
        "operations": [present_recorded(writing, number) for number in writing.numbers],
    }


def resolved(thread: Thread, number: int) -> dict[str, Any]:
    """What an edit names: the range of its originals, and its keys."""
    keys = list(named_keys(thread.log.edits[number].edit))
    indexes = [int(key[1:]) for key in keys if key.startswith("m")]
    return {
        "first": min(indexes, default=None),
        "last": max(indexes, default=None),
        "count": len(keys),
        "keys": keys,
    }
