"""What became of an edit when the log was replayed."""

from enum import StrEnum
from typing import NamedTuple

from .key import Key


class Status(StrEnum):
    """In this order the first that fits is reported."""

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
"""What is shown where it would be."""
WITHDRAWN = frozenset({Status.REVERTED, Status.REJECTED})
"""What is there for the record alone."""


class EditOutcome(NamedTuple):
    """What an edit came to: a sentence on why it didn't apply, and the nodes that it made,
    moved or marked; in a conflict, the operations in its way and the leaves that would do."""

    status: Status
    reason: str = ""
    nodes: tuple[int, ...] = ()
    operations: tuple[Key, ...] = ()
    needs: tuple[Key, ...] = ()


class Report(NamedTuple):
    """How one edit fared. `hidden_by` is the outermost fold, other than its own, in which all
    that it made or moved lies; `operations` and `needs` are those of a conflict."""

    number: int
    key: Key
    kind: str
    status: Status
    reason: str
    hidden_by: Key | None
    operations: tuple[Key, ...]
    needs: tuple[Key, ...]
