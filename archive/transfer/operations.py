"""Records the operations of a transfer document, with the same checks as every door."""

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Conflict, Invalid, Place
from operations.domain.log.operation import (
    EDITS,
    ActivateTags,
    Edit,
    Insert,
    Redact,
    Resequence,
    TextEdit,
    messages_of,
    named_keys,
    spans_of,
)
from operations.domain.thread.check import check
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, parse_made_key
from operations.forwarding.client_edits import CLIENT_CALLER
from operations.log.codec import decode
from operations.log.transaction import LogTransaction, with_token_counts, write_apart
from threads.domain.formats.contextstudio import read_part
from threads.domain.message import Role
from threads.models import Session

from .members import text_of

_ROLES = frozenset(role.value for role in Role)


def record_operations(
    caller: Caller, session: Session, given: Sequence[Any], active_tags: Sequence[str]
) -> dict[int, int]:
    """Record the operations, one bundle at a time; returns the map of old number to new number.

    The active tags are recorded first: under other tags, operations could conflict.
    """
    if not given and not active_tags:
        return {}

    def write(transaction: LogTransaction) -> dict[int, int]:
        numbers: dict[int, int] = {}
        if active_tags:
            transaction.add(ActivateTags(tags=tuple(dict.fromkeys(active_tags))))
        places = enumerate(given)
        for _, together in groupby(places, key=lambda one: _bundle(*one)):
            _add(transaction, list(together), numbers)
        return numbers

    return write_apart(session, caller, write)


def _add(
    transaction: LogTransaction,
    together: Sequence[tuple[int, Any]],
    numbers: dict[int, int],
) -> None:
    """Add the operations of one bundle, or a single one, and record their numbers."""
    head, edits = transaction.session.head, list[Edit]()
    for place, one in together:
        number, edit = _edit(one, place)
        numbers[number] = head + len(edits) + 1
        edits.append(with_token_counts(transaction.session, _renamed(edit, numbers)))
    _, last = together[-1]
    # A client's edits of its own messages apply before all others, as they did in the source.
    by = CLIENT_CALLER if last.get("client") is True else None
    tried: Thread | None = None
    try:
        checked = check(transaction.thread, edits, bundle=True)
        tried = None if by else checked.thread
    except Conflict:  # set aside by a later edit, as it was in the source
        checked = check(transaction.thread, edits, bundle=True, proposed=True)
    except Invalid as refused:
        for one in (refused, *refused.errors):
            one.at = _in_document(one.at, together)
        raise
    transaction.add(
        *checked.edits,
        bundle=uuid.uuid4() if last.get("bundle") else None,
        title=text_of(last, "title")[:300],
        tried=tried,
        by=by,
    )


def _in_document(at: Place, together: Sequence[tuple[int, Any]]) -> Place:
    """Translate a place among the operations recorded together to its place in the document."""
    match at:
        case ("operations", int(among), *rest):
            return ("operations", together[among][0], *rest)
    return at


def _bundle(place: int, one: Any) -> object:
    """The grouping key of operations that are recorded together."""
    if not isinstance(one, dict):
        raise Invalid("An operation must be an object.", at=["operations", place])
    return one.get("bundle") or place


def _edit(one: Mapping[str, Any], place: int) -> tuple[int, Edit]:
    """The old number and the edit of an operation. Raises Invalid if the log can't hold it."""
    at: Place = ("operations", place)
    number, _ = parse_made_key(text_of(one, "key")) or (0, None)
    kind = text_of(one, "type")
    if not number or kind not in EDITS or kind == Redact.kind:
        raise Invalid(
            "This operation has a key or a type that can't be transferred.", at=at
        )
    try:
        edit = _read(kind, one.get("payload"), (*at, "payload"))
        if _is_sound(edit):
            return number, edit
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise Invalid("This operation can't be read.", at=at) from error
    raise Invalid("This operation can't be read.", at=at)


def _read(kind: str, payload: Any, at: Place) -> Edit:
    """Decode a payload to an edit; its messages are read like those of any imported file.

    Images and files must include their bytes, as a reference to stored bytes could name anybody's.
    """
    made = payload.get("messages", ())
    parts = [
        tuple(
            read_part(part, (*at, "messages", place, "parts", number))
            for number, part in enumerate(message["parts"])
        )
        for place, message in enumerate(made)
    ]
    bare = {"messages": [{**one, "parts": []} for one in made]} if made else {}
    edit: Any = decode(kind, json.dumps({**payload, **bare}).encode())
    new = messages_of(edit)
    read = (replace(one, parts=own) for one, own in zip(new, parts, strict=True))
    whole: Edit = replace(edit, messages=tuple(read)) if new else edit
    return whole


def _is_sound(edit: Edit) -> bool:
    """Whether all of an edit, except the parts of its messages, has the right types."""
    condition, spans = edit.condition, spans_of(edit)
    texts = (
        *(*named_keys(edit), *getattr(edit, "tags", ()), *getattr(edit, "moved", ())),
        *(*condition.tags, *condition.objectives),
        *(text for one in spans for text in (one.sha256, one.text)),
    )
    numbers = ((one.part, one.start, one.end, one.saved) for one in spans)
    return (
        all(isinstance(text, str) for text in texts)
        and condition.match in ("all", "any", "none")
        and all(isinstance(number, int) for span in numbers for number in span)
        and all(message.role in _ROLES for message in messages_of(edit))
    )


def _renamed(edit: Edit, numbers: Mapping[int, int]) -> Edit:
    """The edit with the keys of its own log translated to the keys here."""

    def here(key: Key) -> Key:
        number, place = parse_made_key(key) or (0, None)
        if not number:
            return key
        end = "" if place is None else f".{place}"
        return f"o{numbers.get(number, number)}{end}"

    if isinstance(edit, Insert):
        return replace(edit, after=edit.after and here(edit.after))
    if isinstance(edit, Resequence):
        order, moved = tuple(map(here, edit.order)), tuple(map(here, edit.moved))
        return replace(edit, order=order, moved=moved)
    if isinstance(edit, TextEdit):
        renamed = tuple(replace(span, key=here(span.key)) for span in edit.spans)
        return replace(edit, spans=renamed)
    return replace(edit, targets=tuple(map(here, edit.targets)))
