"""The status and outcome of an edit when the log is replayed."""

from enum import StrEnum
from typing import NamedTuple

from .key import Key


class Status(StrEnum):
    """The status of an edit. The first that applies, in this order, is reported."""

    PROPOSED = "proposed"
    REJECTED = "rejected"
    REVERTED = "reverted"
    OFF = "off"
    UNMET = "unmet"
    SUSPENDED = "suspended"
    VOID = "void"
    CONFLICT = "conflict"
    APPLIED = "applied"


MARKED = frozenset({Status.PROPOSED, Status.OFF, Status.UNMET, Status.CONFLICT})
"""Edits marked in the thread where they would be."""
WITHDRAWN = frozenset({Status.REVERTED, Status.REJECTED})
"""Edits kept only for the record."""


class EditOutcome(NamedTuple):
    """The outcome of an edit.

    It has the status, a sentence on why the edit didn't apply, and the nodes that it made, moved
    or marked; in a conflict, also the operations in its way and the leaves that would work.
    """

    status: Status
    reason: str = ""
    nodes: tuple[int, ...] = ()
    operations: tuple[Key, ...] = ()
    needs: tuple[Key, ...] = ()


class Report(NamedTuple):
    """The report of one edit.

    `hidden_by` is the outermost fold, other than its own, that holds all that it made or moved;
    `operations` and `needs` are given in a conflict.
    """

    number: int
    key: Key
    kind: str
    status: Status
    reason: str
    hidden_by: Key | None
    operations: tuple[Key, ...]
    needs: tuple[Key, ...]
