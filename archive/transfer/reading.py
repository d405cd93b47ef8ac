"""Reading in a session that `writing` wrote: its messages, operations and archive, here anew.

The file may come from anybody. Messages are read like those of any import, operations are recorded
through the door that refuses what is malformed or doesn't fit, and all or nothing is kept.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from django.db.transaction import atomic

from archive.domain.pruning.classes import Rule
from archive.domain.pruning.plan import Stashed
from archive.domain.reference import read_location
from archive.entries.store import keep, pack
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Invalid, Place
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.selectors import project_to_edit
from operations.domain.log.operation import (
    EDITS,
    Edit,
    Insert,
    Redact,
    Resequence,
    TextEdit,
    messages_of,
    named_keys,
    spans_of,
)
from operations.domain.tree.key import Key, made_place
from operations.edits.services import record_bundle
from operations.log.codec import decode
from operations.log.selectors import load_thread
from operations.messages.reader import MessageReader
from threads.domain.formats.contextstudio import read_message
from threads.domain.message import Role
from threads.domain.part import ToolCall, ToolResult
from threads.domain.text import whole_text
from threads.models import Message as MessageRow
from threads.models import Session
from threads.sessions.services import NewSession, create_session

from .writing import NAME, VERSION

MOST_OPERATIONS = 20_000
_KINDS = frozenset({"file_view", "grep", "bash", "edit", "other"})
_ROLES = frozenset(role.value for role in Role)


@atomic
def read_session(
    caller: Caller, document: Mapping[str, Any], project: str | None
) -> Session:
    """Make the session of a document in a project. Raises Invalid with the place."""
    if document.get("format") != NAME or document.get("version") != VERSION:
        sentence = f"This is no {NAME} of version {VERSION}."
        raise Invalid(sentence, at=["format"])
    given = _list(document, "messages")
    messages = [read_message(one, at=("messages", n)) for n, one in enumerate(given)]
    new = NewSession(
        title=_text(document, "title"),
        model=_text(document, "model")[:128],
        parsing_strategy=_text(document, "strategy")[:32] or "openai",
        format="contextstudio",
        messages=messages,
    )
    target = project_to_edit(caller, project, Right.EDIT)
    session = create_session(caller, target, new)
    _name(session, given)
    numbers = _record(caller, session, _list(document, "operations"))
    session.refresh_from_db()
    _archive(session, _list(document, "archive"), numbers)
    return session


def _name(session: Session, given: Sequence[Any]) -> None:
    """Give the messages the short ids that references in texts name them by."""
    names = [one.get("short_id") for one in given]
    wanted = {
        index: name
        for index, name in enumerate(names)
        if isinstance(name, str)
        and len(name) == 12
        and name.startswith("msg-")
        and set(name[4:]) <= set("0123456789abcdef")
    }
    if len(set(wanted.values())) != len(wanted):
        raise Invalid("Two messages have one short id.", at=["messages"])
    rows = MessageRow.objects.filter(session=session)
    for index, name in wanted.items():
        rows.filter(index=index).update(short_id=name)


def _record(caller: Caller, session: Session, given: Sequence[Any]) -> dict[int, int]:
    """Record the operations, a bundle at a time; the new number of each by its old one."""
    if len(given) > MOST_OPERATIONS:
        sentence = f"A file has at most {MOST_OPERATIONS:,} operations."
        raise Invalid(sentence, at=["operations"])
    numbers: dict[int, int] = {}
    head = 0
    places = enumerate(given)
    for _, together in groupby(places, key=lambda one: _bundle(*one)):
        edits: list[Edit] = []
        title = ""
        for place, one in together:
            number, edit = _edit(one, place)
            numbers[number] = head + len(edits) + 1
            edits.append(_renamed(edit, numbers))
            title = _text(one, "title")[:300]
        recorded = record_bundle(caller, session.pk, edits, title=title)
        head = recorded.session.head
    return numbers


def _bundle(place: int, one: Any) -> object:
    """What operations that are recorded together have in common."""
    if not isinstance(one, dict):
        raise Invalid("An operation is an object.", at=["operations", place])
    return one.get("bundle") or place


def _edit(one: Mapping[str, Any], place: int) -> tuple[int, Edit]:
    """The old number and the edit. Raises Invalid for what the log couldn't hold."""
    at: Place = ("operations", place)
    number, _ = made_place(_text(one, "key")) or (0, None)
    kind = _text(one, "type")
    if not number or kind not in EDITS or kind == Redact.kind:
        raise Invalid("There is no such operation.", at=at)
    try:
        edit = decode(kind, json.dumps(one.get("payload")).encode())
        if isinstance(edit, Edit) and _is_sound(edit):
            return number, edit
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise Invalid("This operation can't be read.", at=at) from error
    raise Invalid("This operation can't be read.", at=at)


def _is_sound(edit: Edit) -> bool:
    """Whether all of an edit is of the types that it should be; its texts are read to see."""
    condition = edit.condition
    new = messages_of(edit)
    ids = (
        part.id if isinstance(part, ToolCall) else part.call_id
        for message in new
        for part in message.parts
        if isinstance(part, ToolCall | ToolResult)
    )
    texts = (
        *ids,
        *(*named_keys(edit), *getattr(edit, "tags", ()), *getattr(edit, "moved", ())),
        *(*condition.tags, *condition.objectives),
    )
    spans = [(span.part, span.start, span.end) for span in spans_of(edit)]
    for message in new:
        whole_text(message.parts).encode("utf-8", "surrogatepass")
    return (
        all(isinstance(text, str) for text in texts)
        and condition.match in ("all", "any", "none")
        and all(isinstance(number, int) for span in spans for number in span)
        and all(message.role in _ROLES for message in new)
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


def _archive(
    session: Session, given: Sequence[Any], numbers: Mapping[int, int]
) -> None:
    """Archive what the other archive had, of the messages as they are here."""
    reader = MessageReader(session, load_thread(session))
    keys = [_here(one, place, numbers) for place, one in enumerate(given)]
    words = reader.recorded(dict.fromkeys(keys))
    stashed = [
        _stashed(one, key, text.original.row.short_id if text.original else key)
        for one, key in zip(given, keys, strict=True)
        if (text := words.get(key))
    ]
    keep(session, pack(session, stashed, words))


def _here(one: Any, place: int, numbers: Mapping[int, int]) -> Key:
    if not isinstance(one, dict):
        raise Invalid("An entry is an object.", at=["archive", place])
    key = _text(one, "message")
    number, inner = made_place(key) or (0, None)
    return f"o{numbers.get(number, number)}.{inner}" if number else key


def _stashed(one: Mapping[str, Any], key: Key, name: str) -> Stashed:
    kind, rule = _text(one, "content_type"), _text(one, "rule")
    tokens = one.get("token_count")
    paths = [path for path in _list(one, "file_paths") if isinstance(path, str)]
    return Stashed(
        key=key,
        name=name,
        location=read_location(_text(one, "location")),
        content_type=kind if kind in _KINDS else "other",
        summary=_text(one, "summary")[:1000],
        file_paths=tuple(paths[:1000]),
        tool_name=_text(one, "tool_name"),
        tokens=tokens if isinstance(tokens, int) and 0 <= tokens < 10**9 else 0,
        rule=Rule(rule) if rule in list(Rule) else None,
    )


def _list(document: Mapping[str, Any], name: str) -> list[Any]:
    found = document.get(name, [])
    if not isinstance(found, list):
        raise Invalid(f"{name} is a list.", at=[name])
    return found


def _text(document: Mapping[str, Any], name: str) -> str:
    found = document.get(name) or ""
    if not isinstance(found, str):
        raise Invalid(f"{name} is a text.", at=[name])
    return found
