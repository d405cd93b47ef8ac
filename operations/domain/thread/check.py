"""Strict at the door: whether an edit is well formed enough to be recorded and fits the thread."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from contextstudio.accounts.domain.errors import Conflict
from operations.domain.log.entry import EditState, Entry
from operations.domain.log.history import refuse_overlap
from operations.domain.log.operation import Amend, Edit, Fold
from operations.domain.tree.key import Key, entry_number, original_index
from operations.domain.tree.status import Report, Status

from .node import FoldNode
from .preparation import prepare
from .replay import replay
from .thread import Thread


class EditWarning(NamedTuple):
    """What the caller should know about an edit that is recorded nevertheless."""

    code: str
    message: str
    operation: Key


class CheckedEdits(NamedTuple):
    """Edits as they are to be recorded, with leaf keys only.

    `thread` is the thread as if they were all on and their conditions held.
    """

    edits: tuple[Edit, ...]
    warnings: tuple[EditWarning, ...]
    thread: Thread


def check(
    thread: Thread,
    edits: Sequence[Edit],
    *,
    proposed: bool = False,
    bundle: bool = False,
) -> CheckedEdits:
    """Check whether edits may be recorded at the head of a thread, in order, all or none.

    Conditions are assumed to hold. Raises Invalid with the place, in a bundle under
    `("operations", n)`. Raises Conflict with `operations` and `needs`; for proposals a conflict
    is only a warning.
    """
    prepared = prepare(thread, edits, bundle=bundle)
    head = thread.head
    entries = [
        Entry(number, edit, "", proposed=proposed)
        for number, edit in enumerate(prepared, start=head + 1)
    ]
    log = thread.log.extended(entries)
    refuse_overlap(thread.log, log)
    tried = replay(
        thread.leaves,
        log,
        thread.active_tags,
        assume={entry.number for entry in entries},
        known=thread,
    )
    warnings: list[EditWarning] = []
    for place, entry in enumerate(entries):
        report = tried.report(entry.number)
        if report.status is Status.CONFLICT and not proposed:
            raise conflict_of(
                tried, report, ("operations", place) if bundle else (), head
            )
        warnings += _warnings(tried, report)
    return CheckedEdits(tuple(prepared), tuple(warnings), tried)


def check_amend(thread: Thread, amend: Amend) -> CheckedEdits:
    """Check whether an amendment that `effective_control` accepted may be recorded.

    Raises as `check`. Only an edit that is on is checked for conflict.
    """
    number = entry_number(amend.operation) or 0
    (edit,) = prepare(thread, [amend.edit])
    control = Amend(operation=amend.operation, edit=edit)
    log = thread.log.extended([Entry(thread.head + 1, control, "")])
    is_on = log.edits[number].state is EditState.ON
    tried = replay(
        thread.leaves,
        log,
        thread.active_tags,
        assume={number} if is_on else frozenset(),
        known=thread,
    )
    report = tried.report(number)
    if is_on and report.status is Status.CONFLICT:
        raise conflict_of(tried, report)
    return CheckedEdits((edit,), tuple(_warnings(tried, report)), tried)


def expanded(thread: Thread, key: Key) -> Edit | None:
    """The edit with the smallest set of targets that would work at the head of the thread.

    None if the edit makes no fold, or no set would work. Costs a replay.
    """
    recorded = thread.log.edit(key)
    if recorded is None or not isinstance(recorded.edit, Fold):
        return None
    try:
        check(thread, [recorded.edit])
    except Conflict as conflict:
        needs = conflict.facts.get("needs")
        keys = needs.get("keys") if isinstance(needs, dict) else None
        return replace(recorded.edit, targets=tuple(keys)) if keys else None
    return recorded.edit


def conflict_of(
    thread: Thread,
    report: Report,
    at: Sequence[str | int] = (),
    head: int | None = None,
) -> Conflict:
    """The refusal of an edit that would be set aside, with what is in its way.

    Edits numbered after `head` were tried together and aren't recorded, so nobody knows their
    keys: they are named by their place in the bundle.
    """
    numbers = {key: entry_number(key) or 0 for key in report.operations}
    head = thread.head if head is None else head
    recorded = [key for key, number in numbers.items() if number <= head]
    tried = [number - head - 1 for number in numbers.values() if number > head]
    makers = " and ".join(f"operations[{place}]" for place in tried)
    made = f", made by {makers}." if tried else ""
    reason = report.reason.removesuffix(".") + made if made else report.reason
    needs: dict[str, object] = {"keys": list(report.needs)}
    indexes = [i for key in report.needs if (i := original_index(key)) is not None]
    if indexes:
        first, last = min(indexes), max(indexes)
        if set(thread.resolve_range(first, last)) == set(report.needs):
            needs |= {"first": first, "last": last}
    return Conflict(
        reason,
        at=at,
        facts={"operations": recorded, "needs": needs},
    )


def _warnings(thread: Thread, report: Report) -> list[EditWarning]:
    found = []
    if report.status in (Status.SUSPENDED, Status.VOID, Status.CONFLICT):
        found.append(EditWarning(report.status, report.reason, report.key))
    if report.status is Status.APPLIED and report.kind in ("digest", "condense"):
        node = thread.node(report.key)
        if isinstance(node, FoldNode) and node.tokens_after > node.tokens_before:
            sentence = "It is longer than what it replaces."
            found.append(EditWarning("longer", sentence, report.key))
    found += [
        EditWarning(
            "inside_fold",
            f"All of these messages are inside {fold}, so they are reordered there.",
            report.key,
        )
        for fold in thread.moved_within(report.key)
    ]
    return found
