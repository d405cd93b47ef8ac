"""The text of a notice about an entry: what was done to which messages, and its effect."""

from collections.abc import Iterable, Sequence
from itertools import islice

from contextstudio.templatetags.look import more_tokens, signed
from operations.domain.ledger.saving import saved_in_thread
from operations.domain.log.entry import controlled_entries
from operations.domain.log.log import Log
from operations.domain.log.operation import (
    Accept,
    ActivateTags,
    Amend,
    Operation,
    Redo,
    Reject,
    Revert,
    Toggle,
    Undo,
)
from operations.domain.tree.key import Key, entry_key
from operations.domain.tree.status import Status
from operations.editor.rows.look import Look
from operations.editor.rows.operation import Op, condition_words
from operations.log.transaction import LogTransaction
from operations.messages.names import name_of, names_of
from threads.rendering.hidden import visible

MAX_NAMED = 3
_MAX_LOOKED_AT = 50
"""How many operations are searched for different names, as naming each takes time."""
_PAST = {
    "revert": "reverted",
    "accept": "accepted",
    "reject": "rejected",
    "amend": "amended",
}
_DOING = {"revert": "reverting", "accept": "accepting", "reject": "rejecting"}


def notice_of(look: Look, transaction: LogTransaction) -> str:
    """One sentence about what was recorded last: `Digest #88–#131 off, +40,750 tokens.`"""
    if not transaction.numbers:
        return "Nothing to change."
    number = transaction.numbers[-1]
    operation = transaction.thread.log.at(number).operation
    numbers = _of_bundle(look, transaction) or _concerned_by(look, transaction.numbers)
    text = _deed(look, number, operation, numbers)
    figure = _difference(look, transaction, numbers)
    rest = _set_aside(look, transaction) + _left_waiting(look, transaction)
    return f"{text[:1].upper()}{text[1:]}{figure}.{rest}"


def describe_entries(look: Look, entries: Iterable[int]) -> str:
    """What undo or redo of these entries would change, in words: `digest #2–#4`."""
    log = look.thread.log
    found = list(entries)
    edits = [number for number in found if number in log.edits]
    if edits:
        return _named(look, edits)
    for number in found:
        if title := control_title(look, number):
            return title
        operation = log.at(number).operation
        named = _named(look, concerned_edits(look, number))
        match operation:
            case Toggle(active=active, actor=actor):
                turning = f"turning {'on' if active else 'off'}"
                return f"{turning} {_all_by(look, actor) if actor else named}"
            case Amend():
                return f"the edit of {named}"
            case ActivateTags():
                return "the change of active tags"
            case Accept() if _commits(log, number):
                return f"committing {named}"
            case Revert() | Accept() | Reject():
                return f"{_DOING[operation.kind]} {named}"
    return ""


def concerned_edits(look: Look, number: int) -> list[int]:
    """The edits an entry concerns: itself, if it is an edit, or those it acts on."""
    log = look.thread.log
    operation = log.at(number).operation
    if isinstance(operation, Undo | Redo):
        return _concerned_by(look, operation.entries)
    return [number] if number in log.edits else list(controlled_entries(operation))


def _concerned_by(look: Look, numbers: Iterable[int]) -> list[int]:
    """The edits that any of these entries concerns, each once."""
    found = [edit for number in numbers for edit in concerned_edits(look, number)]
    return list(dict.fromkeys(found))


def control_title(look: Look, number: int) -> str:
    """The title of controls that were recorded together, such as going back to a snapshot."""
    if number in look.thread.log.edits:
        return ""
    return visible(look.operations.history.title(number))


def _commits(log: Log, number: int) -> bool:
    """Whether an entry commits what its own author had staged."""
    control = log.at(number)
    staged = (log.edits[edit].entry for edit in controlled_entries(control.operation))
    return all(one.staged and one.actor == control.actor for one in staged)


def _of_bundle(look: Look, transaction: LogTransaction) -> list[int]:
    """The edits recorded in the transaction."""
    return [number for number in transaction.numbers if number in look.thread.log.edits]


def _deed(look: Look, number: int, operation: Operation, numbers: Sequence[int]) -> str:
    if title := control_title(look, number):
        return title
    named = _named(look, numbers)
    match operation:
        case Toggle(active=active, actor=actor):
            turned = _all_by(look, actor) if actor else named
            return f"{turned} {'on' if active else 'off'}"
        case Undo(entries=entries):
            return f"undid {describe_entries(look, entries)}"
        case Redo(entries=entries):
            return f"redid {describe_entries(look, entries)}"
        case ActivateTags(tags=tags):
            return f"active tags: {', '.join(tags) or 'none'}"
        case _ if number in numbers:
            entry = look.thread.log.at(number)
            waits = "staged" if entry.staged else "proposed" if entry.proposed else ""
            place = _place(look, number)
            return " ".join(filter(None, (named, place, waits)))
        case Accept() if _commits(look.thread.log, number):
            return f"{named} committed"
        case _:
            return f"{named} {_PAST.get(operation.kind, operation.kind)}"


def _all_by(look: Look, actor: str) -> str:
    return f"all by {visible(look.operations.history.names()[actor])}"


def _named(look: Look, numbers: Sequence[int]) -> str:
    """`digest #2–#4, snip #9`: if there are many, the first few or the title of their bundle.

    Operations with the same name are named once: `replace #0 (200 operations)`.
    """
    if len(numbers) > MAX_NAMED and (bundle := look.operations.bundle_of(numbers)):
        return bundle
    names: dict[str, None] = {}
    rest = iter(numbers)
    for number in islice(rest, _MAX_LOOKED_AT):
        names[_name(look.operations[entry_key(number)])] = None
        if len(names) == MAX_NAMED:
            break
    named, count, more = ", ".join(names), len(numbers), len(list(rest))
    if len(names) < count - more:
        return f"{named}{' and more' if more else ''} ({count:,} operations)"
    return f"{named} and {more:,} more" if more else named


def _name(op: Op) -> str:
    return f"{op.verb} {op.range or op.where}".rstrip()


def _place(look: Look, number: int) -> str:
    """Where a move put its messages, or would put them: `after #9`."""
    thread, key = look.thread, entry_key(number)
    if goes := look.operations[key].goes:
        return goes.words
    moved = next((one for one in thread.moves if one.operation == key), None)
    if moved is None or moved.within is not None:
        return ""
    place = thread.position(moved.keys[0])
    return f"after {name_of(thread, thread.keys[place - 1])}" if place else "to the top"


def _difference(look: Look, transaction: LogTransaction, numbers: Sequence[int]) -> str:
    """How many more or fewer tokens of the thread the model reads.

    If the entry changes the effect of other operations, its own share is given too.
    """
    thread = transaction.thread
    more = thread.tokens.effective - transaction.before.tokens.effective
    alone = saved_in_thread(look.thread, numbers[0]) if len(numbers) == 1 else None
    if len(numbers) == 1 and thread.status(numbers[0]) is Status.UNMET:
        condition = thread.log.edits[numbers[0]].edit.condition
        return f", applies only {condition_words(condition)}"
    if not more:
        one = look.operations[entry_key(numbers[0])] if len(numbers) == 1 else None
        if one is not None and one.hidden_by:
            return f", inside {one.hidden_by}"
        if not transaction.waits or not alone:
            return ""
        return f", {more_tokens(-alone)} if applied"
    if len(numbers) > 1:
        return f", {more_tokens(more)} together"
    own = _own(transaction, numbers[0], alone) if alone else more
    rest = f": {signed(own)} by itself, {signed(more - own)} through others"
    return f", {more_tokens(more)}{rest if own != more else ''}"


def _own(transaction: LogTransaction, number: int, alone: int) -> int:
    """An operation's own share of the difference; `alone` is what it saves by itself now."""
    if transaction.thread.status(number) is not Status.APPLIED:
        return alone
    if transaction.before.status(number) is not Status.APPLIED:
        return -alone
    return saved_in_thread(transaction.before, number) - alone  # amended


def _set_aside(look: Look, transaction: LogTransaction) -> str:
    """A sentence naming the operations that are set aside by it; empty if there are none."""
    aside: list[Key] = [
        one.report.key
        for one in transaction.changes
        if one.report.status == Status.CONFLICT
    ]
    if not aside:
        return ""
    return f" Set aside by it: {names_of(look.thread, aside, MAX_NAMED)}."


def _left_waiting(look: Look, transaction: LogTransaction) -> str:
    """A sentence naming the proposals that could not be accepted with the others."""
    left = [one.operation for one in transaction.warnings if one.code == "skipped"]
    named = names_of(look.thread, left, MAX_NAMED)
    return f" Still waiting: {named}." if left else ""
