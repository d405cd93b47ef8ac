"""What the list of sessions shows of a replayed thread."""

from collections import Counter
from typing import Any

from operations.domain.thread.thread import Thread
from operations.domain.tree.status import Status


def overview(thread: Thread) -> dict[str, Any]:
    """Effective tokens, and how many operations are on, off, proposed and in conflict."""
    statuses = Counter(report.status for report in thread.operations)
    return {
        "effective_tokens": thread.tokens.effective,
        "on": statuses[Status.APPLIED] + statuses[Status.UNMET] + statuses[Status.VOID],
        "off": statuses[Status.OFF],
        "proposed": statuses[Status.PROPOSED],
        "conflict": statuses[Status.CONFLICT],
    }
