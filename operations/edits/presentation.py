"""Operations and the log as the public contract gives them."""

from typing import Any

from operations.domain.log.operation import named_keys
from operations.domain.thread.thread import Thread
from operations.log.transaction import LogTransaction


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
    return {
        "operation_id": str(transaction.history.rows[number].id),
        "key": report.key,
        "type": report.kind,
        "resolved": resolved(transaction.thread, number),
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
