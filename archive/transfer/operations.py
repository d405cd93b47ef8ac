"""Recording the operations of a document: through the checks that every door goes through."""

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
from operations.domain.tree.key import Key, made_place
from operations.forwarding.client_edits import CLIENT_CALLER
from operations.log.codec import decode
from operations.log.transaction import LogTransaction, counted, write_apart
from threads.domain.formats.contextstudio import read_part
from threads.domain.message import Role
from threads.models import Session

from .members import text_of

_ROLES = frozenset(role.value for role in Role)


def record_operations(
    caller: Caller, session: Session, given: Sequence[Any], active_tags: Sequence[str]
) -> dict[int, int]:
    """Record the operations, a bundle at a time; the new number of each by its old one.

    The tags come first: under others, operations would be in each other's way.
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
    """Add operations of one bundle, or one alone, and note their numbers."""
    head, edits = transaction.session.head, list[Edit]()
    for place, one in together:
        number, edit = _edit(one, place)
        numbers[number] = head + len(edits) + 1
        edits.append(counted(transaction.session, _renamed(edit, numbers)))
    _, last = together[-1]
    # What a client did to its own messages acts before all else, here as there.
    by = CLIENT_CALLER if last.get("client") is True else None
    tried: Thread | None = None
    try:
        checked = check(transaction.thread, edits, bundle=True)
        tried = None if by else checked.thread
    except Conflict:  # set aside by another that was switched on later, as it was there
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
    """Where a place among operations that are recorded together is in the document."""
    match at:
        case ("operations", int(among), *rest):
            return ("operations", together[among][0], *rest)
    return at


def _bundle(place: int, one: Any) -> object:
    """What operations that are recorded together have in common."""
    if not isinstance(one, dict):
        raise Invalid("An operation must be an object.", at=["operations", place])
    return one.get("bundle") or place


def _edit(one: Mapping[str, Any], place: int) -> tuple[int, Edit]:
    """The old number and the edit. Raises Invalid for what the log couldn't hold."""
    at: Place = ("operations", place)
    number, _ = made_place(text_of(one, "key")) or (0, None)
    kind = text_of(one, "type")
    if not number or kind not in EDITS or kind == Redact.kind:
        raise Invalid("There is no such operation.", at=at)
    try:
        edit = _read(kind, one.get("payload"), (*at, "payload"))
        if _is_sound(edit):
            return number, edit
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise Invalid("This operation can't be read.", at=at) from error
    raise Invalid("This operation can't be read.", at=at)


def _read(kind: str, payload: Any, at: Place) -> Edit:
    """The edit that a payload says; its messages are read as those of any file.

    Images and files come with their bytes: a name of bytes could name those of anybody.
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
    """Whether all of an edit but the parts of its messages is of the types that it should be."""
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
    """The edit with the keys that its own log's operations have here."""

    def here(key: Key) -> Key:
        number, place = made_place(key) or (0, None)
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
