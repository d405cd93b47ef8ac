"""The log in sentences, newest first: see `templates/operations/editor/panels/log.html`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from operations.domain.log.log import Entry
from operations.domain.log.operation import (
    Accept,
    ActivateTags,
    Amend,
    Purge,
    Redo,
    Reject,
    Revert,
    Toggle,
    Undo,
)
from operations.domain.tree.key import Key
from operations.editor.rows.operation import Author, Operations, author_of
from operations.messages.names import word_of
from threads.rendering.hidden import visible

PAGE = 50


@dataclass(frozen=True, slots=True)
class JournalLine:
    """One entry: see `log.html`."""

    key: Key
    word: str
    sentence: str
    author: Author
    time: datetime


def journal_of(
    operations: Operations, *, before: int | None = None
) -> list[JournalLine]:
    """The `PAGE` entries with numbers under `before`, newest first; None: the newest of all."""
    entries: Sequence[Entry] = operations.thread.log.entries
    end = len(entries) if before is None else max(0, min(before - 1, len(entries)))
    return [
        _line(operations, entry)
        for entry in reversed(entries[max(0, end - PAGE) : end])
    ]


def _line(operations: Operations, entry: Entry) -> JournalLine:
    row = operations.history.rows[entry.number]
    return JournalLine(
        key=f"o{entry.number}",
        word=word_of(entry.operation.kind),
        sentence=_sentence(operations, entry),
        author=author_of(row),
        time=row.created_at,
    )


def _sentence(operations: Operations, entry: Entry) -> str:
    match entry.operation:
        case Toggle(operations=keys, active=active):
            return f"{_named(operations, keys)} {'on' if active else 'off'}"
        case (
            Revert(operations=keys) | Accept(operations=keys) | Reject(operations=keys)
        ):
            return _named(operations, keys)
        case Amend(operation=key):
            return _named(operations, [key])
        case Undo(entries=numbers) | Redo(entries=numbers):
            return "of " + ", ".join(f"o{number}" for number in numbers[:10])
        case ActivateTags(tags=tags):
            return visible(", ".join(tags)) or "none"
        case Purge(targets=targets):
            return f"{len(targets):,} messages"
        case _:
            op = operations[f"o{entry.number}"]
            return op.range or op.where


def _named(operations: Operations, keys: Sequence[Key]) -> str:
    named = []
    for key in keys[:5]:
        op = operations[key]
        named.append(f"{op.name} ({op.range or op.where})")
    more = f" and {len(keys) - 5} more" if len(keys) > 5 else ""
    return ", ".join(named) + more
