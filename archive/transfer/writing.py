"""Writes a session with its operations and its archive as one document, to be read elsewhere.

Redacted text is masked permanently in it, and purged messages are not in it. Of the log it has the
edits that are on, with the tags and the objective under which their conditions hold. It leaves out
reverted edits, and who recorded the edits, except that it marks the client's.
"""

import json
import uuid
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

from archive.entries.selectors import Readable, readable
from archive.models import ArchiveEntry
from contextstudio.accounts.domain.caller import Caller
from operations.domain.log.entry import CLIENT, EditState
from operations.domain.log.operation import (
    Edit,
    Insert,
    Redact,
    Replace,
    Resequence,
    TextEdit,
    messages_of,
    named_keys,
)
from operations.domain.tree.key import Key, entry_key, parse_made_key
from operations.log.codec import encode
from operations.log.selectors import History, load_history
from threads.domain.formats.contextstudio import SESSION, write_message, write_part
from threads.domain.formats.format import Heading
from threads.store import blobs
from threads.store.originals import load_messages
from threads.store.selectors import get_session

from .names import write_lenses, write_snapshots

NAME = SESSION
VERSION = 1
_ROWS = 500


def write_session(caller: Caller, session_id: uuid.UUID) -> dict[str, Any]:
    """The document of a session that the caller may read."""
    session = get_session(caller, session_id)
    history = load_history(session)
    heading = Heading(
        title=session.title,
        model=session.model,
        strategy=session.parsing_strategy,
        blob=blobs.read,
    )
    rows = ArchiveEntry.objects.filter(session=session).exclude(content=None)
    entries = rows.select_related("session").order_by("archived_at", "pk")
    in_force = _in_force(history)
    there = {number for number, _ in in_force}
    archived = [one for one in entries if _is_there(one.message_key, there)]
    return {
        "format": NAME,
        "version": VERSION,
        "title": session.title,
        "model": session.model,
        "strategy": session.parsing_strategy,
        "objective": session.objective,
        "active_tags": sorted(history.log.active_tags),
        "messages": [
            {"short_id": one.row.short_id, **write_message(one.written, heading)}
            for start in range(0, session.message_count, _ROWS)
            for one in load_messages(session, start, start + _ROWS)
        ],
        "operations": [
            _operation(number, edit, history, heading) for number, edit in in_force
        ],
        "snapshots": list(write_snapshots(session, history.log, there)),
        "lenses": write_lenses(session),
        "archive": [_entry(one) for one in readable(archived)],
    }


def _is_there(key: Key, operations: Collection[int]) -> bool:
    """Whether the document has a message: it is an original or made by one of these operations."""
    number, _ = parse_made_key(key) or (0, None)
    return not number or number in operations


def _in_force(history: History) -> list[tuple[int, Edit]]:
    """The edits that are on, with their number, as last amended.

    If any text is masked, replaces are left out, as their spans fit only the unmasked text. The
    edits name only messages in the document: messages of an operation that is off are not in it,
    and an edit that names nothing else is left out.
    """
    masks = history.log.masks
    found: dict[int, Edit] = {}
    for number, recorded in sorted(history.log.edits.items()):
        if (
            recorded.state is not EditState.ON
            or isinstance(recorded.edit, Redact)
            or (masks and isinstance(recorded.edit, Replace))
        ):
            continue
        edit = _narrowed(masks.mask_edit(number, recorded.edit), found)
        if edit is not None:
            found[number] = edit
    return list(found.items())


def _narrowed(edit: Edit, operations: Collection[int]) -> Edit | None:
    """The edit limited to keys that a document with these operations has; None if none is left."""

    def there(keys: Iterable[Key]) -> tuple[Key, ...]:
        return tuple(key for key in keys if _is_there(key, operations))

    if len(there(named_keys(edit))) == len(named_keys(edit)):
        return edit
    if isinstance(edit, Insert) or not there(named_keys(edit)):
        return None
    if isinstance(edit, Resequence):
        return replace(edit, order=there(edit.order), moved=there(edit.moved))
    if isinstance(edit, TextEdit):
        spans = (span for span in edit.spans if _is_there(span.key, operations))
        return replace(edit, spans=tuple(spans))
    return replace(edit, targets=there(edit.targets))


def _operation(
    number: int, edit: Edit, history: History, heading: Heading
) -> dict[str, Any]:
    kind, encoded = encode(edit)
    row = history.rows[number]
    payload = json.loads(encoded.decode("utf-8", "surrogatepass"))
    for made, form in zip(messages_of(edit), payload.get("messages", ()), strict=True):
        form["parts"] = [write_part(part, heading) for part in made.parts]
    return {
        "key": entry_key(number),
        "type": kind,
        "title": history.title(number),
        "bundle": str(row.bundle) if row.bundle else None,
        "client": row.actor == CLIENT,
        "payload": payload,
    }


def _entry(found: Readable) -> dict[str, Any]:
    entry = found.entry
    return {
        "message": entry.message_key,
        "location": entry.location,
        "content_type": entry.content_type,
        "summary": found.summary,
        "file_paths": list(found.file_paths),
        "tool_name": entry.tool_name,
        "token_count": entry.token_count,
        "rule": entry.rule,
    }
