"""What is said of a change that was just recorded, and where the focus belongs."""

from operations.domain.log.log import Entry, controlled
from operations.domain.log.operation import ActivateTags, Redo, Toggle, Undo, named_keys
from operations.domain.tree.key import Key, original_index
from operations.domain.tree.status import Status
from operations.editor.rows.look import Look
from operations.log.transaction import LogTransaction
from operations.messages.names import name_of, word_of


def sentence_of(look: Look, transaction: LogTransaction) -> tuple[str, Key]:
    """One sentence (`Digest #88–#131 off, +40,750 tokens.`) and the key of what changed."""
    if not transaction.numbers:
        return "Nothing to change.", ""
    number = transaction.numbers[-1]
    operation = transaction.thread.log.at(number).operation
    numbers = _concerned(look, number)
    named = ", ".join(_named(look, f"o{edit}") for edit in numbers[:3])
    match operation:
        case Toggle(active=active):
            text = f"{named} {'on' if active else 'off'}"
        case Undo() | Redo():
            text = f"{operation.kind.capitalize()}: {named or 'a log entry'}"
        case ActivateTags(tags=tags):
            text = f"Active tags: {', '.join(tags) or 'none'}"
        case _ if number in numbers:
            text = named + _waits(transaction.thread.log.at(number))
        case _:
            text = f"{named} {_PAST.get(operation.kind, operation.kind)}"
    # Whoever turned a switch stays at it; only what is new is gone to.
    focus = _visible(look, f"o{number}") if number in numbers else ""
    return f"{text}{_difference(transaction)}.{_set_aside(look, transaction)}", focus


def _waits(entry: Entry) -> str:
    """How an edit waits that was just recorded; empty where it applies."""
    return " staged" if entry.staged else " proposed" if entry.proposed else ""


_PAST = {
    "revert": "reverted",
    "accept": "accepted",
    "reject": "rejected",
    "amend": "amended",
}


def _concerned(look: Look, number: int) -> list[int]:
    """The edits that an entry is, or acts on."""
    log = look.thread.log
    operation = log.at(number).operation
    if isinstance(operation, Undo | Redo):
        found = [
            edit for entry in operation.entries for edit in _concerned(look, entry)
        ]
        return list(dict.fromkeys(found))
    return [number] if number in log.edits else list(controlled(operation))


def _named(look: Look, key: Key) -> str:
    op = look.operations[key]
    return f"{word_of(op.word).capitalize()} {op.range or op.where}"


def _difference(transaction: LogTransaction) -> str:
    """How many more or fewer tokens the model sees."""
    more = transaction.thread.tokens.effective - transaction.before.tokens.effective
    return f", {'+' if more > 0 else '−'}{abs(more):,} tokens" if more else ""


def _set_aside(look: Look, transaction: LogTransaction) -> str:
    """What fares otherwise on account of it."""
    aside = [one for one in transaction.changes if one.report.status == Status.CONFLICT]
    if not aside:
        return ""
    named = ", ".join(name_of(look.thread, one.report.key) for one in aside[:3])
    return f" Set aside by it: {named}."


def _visible(look: Look, key: Key) -> Key:
    """The row that shows an operation: its fold, or the first message that it made or names."""
    candidates = [key, f"{key}.0", *_targets(look, key)]
    return next((one for one in candidates if look.thread.holds(one)), "")


def _targets(look: Look, key: Key) -> list[Key]:
    moved = [one.keys[0] for one in look.thread.moved if one.operation == key]
    op = look.operations[key]
    if original_index(op.first) is not None:
        return [*moved, op.first]
    recorded = look.thread.log.edit(key)
    return [*moved, *(named_keys(recorded.edit)[:1] if recorded else ())]
