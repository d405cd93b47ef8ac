"""What undo and redo take, and what a control comes to before it is recorded."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from contextstudio.accounts.domain.errors import Conflict, NotFound
from operations.domain.tree.key import Key, entry_key, made_key
from operations.domain.tree.span import overlapping_pairs

from . import operation as op
from .entry import EditState, Entry, RecordedEdit
from .log import Log

_WAITING = (EditState.PROPOSED, EditState.REJECTED)


def undoable(log: Log, actor: str) -> tuple[int, ...]:
    """The entries that undo would take back for an actor: the newest, and its bundle.

    Undos, redos and purges are passed over, and so is what is taken back already.
    """
    for entry in log.entries_by(actor):
        if _can_be_undone(log, entry):
            return _bundle(log, entry)
    return ()


def redoable(log: Log, actor: str) -> tuple[int, ...]:
    """The entries that redo would bring back for an actor: those of its newest undo.

    None once the actor has recorded something else since.
    """
    for entry in log.entries_by(actor):
        if isinstance(entry.operation, op.Redo):
            continue
        if not isinstance(entry.operation, op.Undo):
            return ()
        if kept := log.still_undone(entry):
            return kept
    return ()


def staged(log: Log, actor: str) -> tuple[int, ...]:
    """The edits that an actor has staged, and neither committed nor taken back."""
    return tuple(
        number
        for number in log.staged
        if is_staged(recorded := log.edits[number]) and recorded.entry.actor == actor
    )


def waiting_moves(
    log: Log, actor: str, leaves: Iterable[Key], *, is_staged: bool
) -> tuple[int, ...]:
    """The moves that an actor has staged, or else proposed, of these leaves and of no others."""
    known = set(leaves)
    return tuple(
        recorded.entry.number
        for recorded in _proposed(log, actor)
        if recorded.entry.staged is is_staged
        if isinstance(edit := recorded.edit, op.Resequence)
        if edit.moved and known.issuperset(edit.moved)
    )


def _proposed(log: Log, actor: str) -> Iterator[RecordedEdit]:
    """The edits of an actor that wait, the newest first; a log is walked to the last of them."""
    counts = log.counts_by_actor.get(actor)
    found = (log.edits.get(entry.number) for entry in log.entries_by(actor))
    waiting = (one for one in found if one and one.state is EditState.PROPOSED)
    return islice(waiting, counts.proposed if counts else 0)


def staged_by_others(log: Log, keys: Iterable[Key], actor: str) -> tuple[int, ...]:
    """Which of some edits others have staged: these wait for their authors alone."""
    found = (log.edit(key) for key in keys)
    return tuple(
        recorded.entry.number
        for recorded in found
        if recorded and is_staged(recorded) and recorded.entry.actor != actor
    )


def is_staged(recorded: RecordedEdit) -> bool:
    """Whether its author is still collecting an edit, to commit it with others."""
    return recorded.entry.staged and recorded.state is EditState.PROPOSED


def count_staged(log: Log) -> int:
    """How many edits are staged, by whomever: proposals that wait for nobody's review."""
    return sum(is_staged(log.edits[number]) for number in log.staged)


def undo(log: Log, actor: str) -> op.Undo:
    """The undo of an actor's newest entry or bundle.

    Raises Conflict where there is none (`nothing_to_undo`), where the operation of another
    actor needs what would go (`needed`), or where text would be changed twice (`overlap`).
    """
    entries = undoable(log, actor)
    if not entries:
        raise Conflict("You have nothing to undo.", code="nothing_to_undo")
    control = op.Undo(entries=entries)
    after = _log_after(log, control, actor)
    needed = needed_by(log, after, actor)
    if needed:
        raise Conflict(
            f"Operations of others depend on what this would undo: {', '.join(needed)}.",
            code="needed",
            facts={"operations": list(needed)},
        )
    refuse_overlap(log, after)
    return control


def redo(log: Log, actor: str) -> op.Redo:
    """The redo of an actor's newest undo. Raises Conflict (`nothing_to_redo`, `overlap`)."""
    entries = redoable(log, actor)
    if not entries:
        raise Conflict("You have nothing to redo.", code="nothing_to_redo")
    control = op.Redo(entries=entries)
    refuse_overlap(log, _log_after(log, control, actor))
    return control


def needed_by(before: Log, after: Log, actor: str) -> tuple[Key, ...]:
    """The operations of others that name messages which one log has and the next has not.

    The next is the log with controls at its end: both have the same edits.
    """
    gone: set[Key] = set()
    for number in after.edits_changed_since(before.head):
        gone |= _made_keys(before.edits[number]) - _made_keys(after.edits[number])
    return tuple(
        entry_key(number)
        for number in after.edits_naming(gone)
        if (recorded := after.edits[number]).entry.actor != actor
        and not recorded.is_withdrawn
    )


def refuse_overlap(before: Log, after: Log) -> None:
    """Raise Conflict where what is new or restored changes text that others change."""
    edits = after.edits
    fresh = {
        number
        for number in {
            *after.edits_changed_since(before.head),
            *edits.after(before.head),
        }
        if not edits[number].is_withdrawn and op.spans_of(edits[number].edit)
        if number not in before.edits or before.edits[number].is_withdrawn
    }
    if not fresh:
        return
    keys = {key for number in fresh for key in op.named_keys(edits[number].edit)}
    standing = [
        (number, span)
        for number in after.edits_naming(keys)
        if not edits[number].is_withdrawn
        for span in op.spans_of(edits[number].edit)
        if span.key in keys
    ]
    clashes = {
        number
        for pair in overlapping_pairs(standing)
        if not fresh.isdisjoint(pair)
        for number in pair
    }
    others = [entry_key(number) for number in sorted(clashes - fresh)]
    if clashes:
        raise Conflict(
            "This changes text that another operation already changes, or the same text twice.",
            code="overlap",
            facts={"operations": others},
        )


def effective_control(log: Log, control: op.Control) -> op.Control | None:
    """A control as it is to be recorded; None where it would change nothing.

    Operations that are already as wanted are left out. Raises NotFound for what is not in
    the log, Conflict for what the state of an edit forbids, or where restoring would change
    text twice. Whether amended or accepted edits fit the thread, `check` decides.
    """
    match control:
        case op.Toggle() | op.Revert() | op.Accept() | op.Reject():
            return _effective_switch(log, control)
        case op.Amend():
            return _effective_amend(log, control)
        case op.ActivateTags(tags=tags):
            return None if log.active_tags == set(tags) else control
        case op.Purge(targets=targets):
            left = tuple(dict.fromkeys(key for key in targets if key not in log.purged))
            return op.Purge(targets=left) if left else None
        case op.Undo() | op.Redo():
            return control


def bundle_control(
    log: Log, control: op.Switch, *, restores: bool = False
) -> op.Switch:
    """A control of a whole bundle, without what was decided on alone before.

    To accept or reject it means those that wait, or else those that were rejected; to switch
    it, those that are on or off, or else, as with `restores`, those that were reverted. Where
    that leaves none, all are kept: what it then comes to, `effective_control` says.
    """
    match control:
        case op.Accept() | op.Reject():
            meant = [{EditState.PROPOSED}, {EditState.REJECTED}]
        case op.Toggle():
            reverted = {EditState.REVERTED}
            switched = {EditState.ON, EditState.OFF}
            meant = [reverted] if restores else [switched, reverted]
        case _:
            return control
    for states in meant:
        kept = tuple(
            key
            for key in control.operations
            if (recorded := log.edit(key)) and recorded.state in states
        )
        if kept:
            return replace(control, operations=kept)
    return control


def _effective_switch(log: Log, control: op.Switch) -> op.Switch | None:
    kept = []
    for place, key in enumerate(control.operations):
        recorded = log.edit(key)
        if recorded is None:
            raise NotFound(f"There is no operation {key}.", at=("operations", place))
        if key not in kept and _changes(control, recorded.state, key):
            kept.append(key)
    if not kept:
        return None
    effective = replace(control, operations=tuple(kept))
    refuse_overlap(log, _log_after(log, effective, ""))
    return effective


def _changes(control: op.Switch, state: EditState, key: Key) -> bool:
    """Whether a control changes an edit in this state. Raises Conflict where it may not."""
    match control:
        case op.Toggle() if state is EditState.PROPOSED:
            raise _refusal(key, state, "accept or reject it")
        case op.Toggle() if state is EditState.REJECTED:
            raise _refusal(key, state, "accept it first")
        case op.Toggle(active=active):
            return active is not (state is EditState.ON)
        case op.Revert():
            return state is not EditState.REVERTED
        case op.Accept() | op.Reject() if state is EditState.REVERTED:
            raise _refusal(key, state, "restore it first")
        case op.Accept():
            return state in _WAITING
        case op.Reject() if state not in _WAITING:
            # Perhaps accepted a moment ago, while a reviewer who may not switch it looked at it.
            way = "switch it off or revert it" if state is EditState.ON else "revert it"
            remedy = f"it can't be rejected, but whoever may edit can {way}"
            raise _refusal(key, state, remedy)
    return state is EditState.PROPOSED


def _refusal(key: Key, state: EditState, remedy: str) -> Conflict:
    return Conflict(
        f"{key} is {state}: {remedy}.", code=f"is_{state}", facts={"operations": [key]}
    )


def _effective_amend(log: Log, control: op.Amend) -> op.Amend | None:
    recorded = log.edit(control.operation)
    if recorded is None:
        raise NotFound(f"There is no operation {control.operation}.", at=("operation",))
    if recorded.is_withdrawn:
        way = "restore" if recorded.state is EditState.REVERTED else "accept"
        raise _refusal(control.operation, recorded.state, f"{way} it first")
    if op.retargets(recorded.edit, control.edit):
        raise Conflict(
            "An amendment may change content and condition, not targets.",
            code="retargets",
        )
    return None if control.edit == recorded.edit else control


def _can_be_undone(log: Log, entry: Entry) -> bool:
    if isinstance(entry.operation, op.Undo | op.Redo | op.Purge):
        return False
    recorded = log.edits.get(entry.number)
    if recorded is None:
        return not log.is_undone(entry.number)
    return recorded.state is not EditState.REVERTED


def _bundle(log: Log, entry: Entry) -> tuple[int, ...]:
    """An entry with its bundle; what is only staged yet goes one by one.

    With one that took the place of another goes the control that took that one back.
    """
    recorded = log.edits.get(entry.number)
    if entry.bundle is None:
        return (entry.number,)
    if recorded is not None and is_staged(recorded):
        before = log.at(entry.number - 1) if entry.number > 1 else entry
        is_instead = isinstance(before.operation, op.Revert)
        if is_instead and before.bundle == entry.bundle and _can_be_undone(log, before):
            return (before.number, entry.number)
        return (entry.number,)
    return tuple(
        other.number
        for other in log.bundle(entry.bundle)
        if other.actor == entry.actor and _can_be_undone(log, other)
    )


def _made_keys(recorded: RecordedEdit) -> set[Key]:
    if recorded.is_withdrawn:
        return set()
    number = recorded.entry.number
    places = range(len(op.messages_of(recorded.edit)))
    return {entry_key(number), *(made_key(number, place) for place in places)}


def _log_after(log: Log, control: op.Control, actor: str) -> Log:
    return log.extended([Entry(log.head + 1, control, actor)])
