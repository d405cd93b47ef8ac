"""Queries a session's own history in SQL over a private copy (docs/decisions/0040).

The rows are the originals of the session, with redactions masked.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from operations.domain.log.operation import Snip
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import entry_number, original_key
from operations.log.selectors import load_thread
from threads.domain.part import Part, Thinking, ToolCall, ToolResult
from threads.domain.text import whole_text
from threads.models import Session
from threads.store.originals import Original, load_messages

from .sandbox import QueryRow, Sandbox

_AT_ONCE = 500


def run_query(session: Session, sql: str) -> dict[str, Any]:
    """Run one SELECT over the table `messages`; returns `{"columns", "rows", "truncated"}`.

    Raises Invalid with the code `sql` (SQLite could not read it), `not_allowed`, `too_long` or
    `too_large`.
    """
    with Sandbox(_load_rows(session)) as sandbox:
        return sandbox.ask(sql)._asdict()


def _load_rows(session: Session) -> Iterator[QueryRow]:
    """Every original with its status in the thread, in order of index."""
    thread = load_thread(session)
    names: dict[str, str] = {}
    for start in range(0, session.message_count, _AT_ONCE):
        for original in load_messages(session, start, start + _AT_ONCE):
            for part in original.parts:
                if isinstance(part, ToolCall):
                    names[part.id] = part.name
            yield _row(thread, original, names)


def _row(thread: Thread, original: Original, names: Mapping[str, str]) -> QueryRow:
    row, key = original.row, original.key
    at = row.created_at
    return QueryRow(
        row.index,
        key,
        row.group_id,
        row.role,
        _storable(whole_text(p for p in original.parts if not isinstance(p, Thinking))),
        status(thread, row.index, original.parts),
        row.parsing_strategy,
        _tools(original.parts, names),
        row.tokens,
        _storable(json.dumps(thread.tags(key), ensure_ascii=False)),
        at.isoformat() if at else None,
    )


def status(thread: Thread, index: int, parts: tuple[Part, ...]) -> str:
    """`dropped` if snipped or purged, else `folded` if in a fold, else `tool_call` or `active`."""
    key = original_key(index)
    kinds = {
        thread.log.edits[entry_number(fold) or 0].edit.kind for fold in thread.path(key)
    }
    if Snip.kind in kinds or key in thread.log.purged:
        return "dropped"
    if kinds:
        return "folded"
    calls = any(isinstance(part, ToolCall | ToolResult) for part in parts)
    return "tool_call" if calls else "active"


def _tools(parts: tuple[Part, ...], names: Mapping[str, str]) -> str | None:
    """The tools that a message calls or answers for, each once; None if it does neither."""
    found = [
        part.name
        if isinstance(part, ToolCall)
        else part.name or names.get(part.call_id, "")
        for part in parts
        if isinstance(part, ToolCall | ToolResult)
    ]
    return _storable(", ".join(dict.fromkeys(filter(None, found)))) or None


def _storable(text: str) -> str:
    """Text that SQLite can hold: no lone surrogates, and no NUL, which would end it."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "�").encode("utf-8", "replace").decode()
