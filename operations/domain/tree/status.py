"""What became of an edit when the log was replayed."""

from collections.abc import Iterable
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
    VOID = "void"
    CONFLICT = "conflict"
    APPLIED = "applied"


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


def applied(nodes: Iterable[int]) -> EditOutcome:
    """An edit that acted on these nodes."""
    return EditOutcome(Status.APPLIED, "", tuple(nodes))


def void(reason: str) -> EditOutcome:
    """An edit that found nothing to act on."""
    return EditOutcome(Status.VOID, reason)


def conflict(
    reason: str, *, operations: Iterable[Key], needs: Iterable[Key] = ()
) -> EditOutcome:
    """An edit that others stand in the way of."""
    return EditOutcome(Status.CONFLICT, reason, (), tuple(operations), tuple(needs))
