"""Recalls what a reference names, from archive entries or from messages the caller may read."""

import uuid
from collections.abc import Sequence
from json import dumps
from typing import Any, NamedTuple

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Conflict, Invalid, NotFound
from contextstudio.accounts.domain.paging import decode_cursor, encode_cursor
from operations.domain.text.left_out import left_out
from operations.domain.tree.key import Key, original_index, original_key
from operations.log.selectors import load_history, load_thread
from operations.messages.reader import MessageReader
from threads import tokens
from threads.domain.part import Part, ToolCall, ToolResult
from threads.models import Message, Session
from threads.store.originals import find_holding, load_messages_at
from threads.store.selectors import get_session, recallable_sessions

from .domain import excerpt
from .domain.reference import (
    Location,
    RecallReference,
    read_lines,
    read_reference,
    write_reference,
)
from .domain.tool_use import kind_of, paths_of
from .entries.selectors import (
    count_access,
    entries_of,
    nearest,
    readable,
    readable_parts,
)
from .models import ArchiveEntry

MAX_CANDIDATES = 20
OTHER = "other"
NEAR = 8
"""How many messages before a result without an id are searched for its call."""
_DIGITS = 32


class Recalled(NamedTuple):
    """What was recalled: the message it came from, and the tool's answer."""

    session: Session
    key: Key
    answer: dict[str, Any]


class _Found(NamedTuple):
    session: Session
    name: str
    key: Key
    parts: tuple[Part, ...]
    entries: tuple[ArchiveEntry, ...] = ()
    """The message's archive entries, if any."""


def look_up(
    caller: Caller,
    ref_id: str,
    *,
    lines: str = "",
    search: str = "",
    max_tokens: int = 2000,
    start: int = 0,
    session_id: uuid.UUID | None = None,
    project: str | None = None,
    counts: bool = True,
) -> Recalled:
    """What a reference names, with redactions applied; `session_id` is the current session.

    `start` is the index of the first character to return. With `counts`, the archive entry
    records that it was recalled.

    Raises NotFound if the reference names nothing that the caller may see, Conflict with
    `candidates` if it is ambiguous.
    """
    current = get_session(caller, session_id) if session_id else None
    reference = read_reference(ref_id)
    if reference is None:
        raise _not_found(ref_id)
    found = _resolve(caller, ref_id, reference, current, project)
    if found.key in load_history(found.session).log.purged:
        return _purged(found, reference.location)
    content = excerpt.at_location(found.parts, reference.location)
    if content is None:
        raise _not_found(ref_id)
    if lines:
        location = read_lines(lines)
        if location is None:
            raise Invalid(
                "Give lines as a range such as 10-50, counted from 1.", at=["lines"]
            )
        content = _lines_of(content, location)
    if search:
        content = "\n".join(excerpt.matching(content, search))
    count = tokens.counter(found.session.encoding)
    content = content[start:]
    # One character may have more tokens than `max_tokens`; the cursor must advance regardless.
    kept = excerpt.within(content, max_tokens, count) or content[:1]
    entry = nearest(found.entries, reference.location) if found.entries else None
    session, slug = found.session, found.session.project.slug
    answer = {
        "ref_id": write_reference(
            slug, str(session.pk), found.name, reference.location
        ),
        **_description(found, reference.location, entry),
        "content": kept,
        "truncated": kept != content,
        "token_count": count(kept),
    }
    if kept != content:
        answer["next_cursor"] = encode_cursor([start + len(kept)])
    if entry is not None and counts:
        count_access(entry)
    return Recalled(session, found.key, answer)


def _purged(found: _Found, location: Location | None) -> Recalled:
    """The answer for a message whose content was purged."""
    slug, session = found.session.project.slug, found.session
    answer = {
        "ref_id": write_reference(slug, str(session.pk), found.name, location),
        "content_type": OTHER,
        "summary": "",
        "file_paths": [],
        "content": "",
        "truncated": False,
        "token_count": 0,
        "purged": True,
    }
    return Recalled(session, found.key, answer)


def _lines_of(text: str, location: Location) -> str:
    """The given lines of a text. Raises Invalid if it ends before them."""
    wanted = excerpt.lines_of(text, location)
    if wanted is None:
        count = len(text.splitlines())
        sentence = f"There is no line {location.first:,}: the text has {count:,} lines."
        raise Invalid(sentence, at=["lines"])
    return wanted


def _description(
    found: _Found, location: Location | None, entry: ArchiveEntry | None
) -> dict[str, Any]:
    """A message's type, summary and paths: from its archive entry, or else from its calls now."""
    if entry is not None:
        (read,) = readable([entry])
        # If a message has several results, each has an entry with its own paths.
        whole = location is None and entry.location
        every = readable(found.entries) if whole else [read]
        paths = [path for one in every for path in one.file_paths]
        return {
            "content_type": entry.content_type,
            "summary": read.summary,
            "file_paths": list(dict.fromkeys(paths)),
        }
    calls, names = _tools_of(found, location)
    kinds = [kind_of(call.name, call.arguments) for call in calls]
    kinds += [kind_of(name, None) for name in names]
    paths = [path for call in calls for path in paths_of(call)]
    named = paths if calls else left_out([found.parts], "").paths
    return {
        "content_type": next((kind for kind in kinds if kind != OTHER), OTHER),
        "summary": excerpt.summary_of(found.parts),
        "file_paths": list(dict.fromkeys(named)),
    }


def place_of(cursor: str | None) -> int:
    """The character index that a cursor stands for. Raises Invalid."""
    place = decode_cursor(cursor, 1)[0] if cursor else 0
    if not isinstance(place, int) or place < 0:
        raise Invalid("This cursor does not belong to a recall.", at=["cursor"])
    return place


class _Tools(NamedTuple):
    """The calls that a message makes or answers, and the tool names of results without a call."""

    calls: list[ToolCall]
    names: list[str]


def _tools_of(found: _Found, location: Location | None) -> _Tools:
    """The calls of a message, or only the one that a location names."""
    calls = [part for part in found.parts if isinstance(part, ToolCall)]
    results = [part for part in found.parts if isinstance(part, ToolResult)]
    if location is not None and location.kind == "tool":
        place = location.first - 1
        calls, results = (
            calls[place : place + 1],
            [] if calls else results[place : place + 1],
        )
    names: list[str] = []
    for result in results:
        call = _call_of(found, result)
        if call is not None:
            calls.append(call)
        elif result.name:
            names.append(result.name)
    return _Tools(calls, names)


def _call_of(found: _Found, result: ToolResult) -> ToolCall | None:
    """The call that a result answers: the last one before it with its id.

    For a result without an id, the last one without an id in the `NEAR` messages before.
    """
    index = original_index(found.key)
    if index is None:
        return None
    if result.call_id:
        wanted = dumps(result.call_id, ensure_ascii=False)
        named = f'"id":{wanted},"name"'.encode("utf-8", "surrogatepass")
        holding = find_holding(found.session, named)
        near = [place for place in holding if place < index][-1:]
    else:
        near = list(range(max(0, index - NEAR), index))
    for original in reversed(load_messages_at(found.session, near).values()):
        for part in reversed(original.parts):
            if isinstance(part, ToolCall) and part.id == result.call_id:
                return part
    return None


def _resolve(
    caller: Caller,
    ref_id: str,
    reference: RecallReference,
    current: Session | None,
    project: str | None,
) -> _Found:
    sessions = _sessions_meant(caller, ref_id, reference, current, project)
    found = [
        found for session in sessions for found in _messages(session, reference.message)
    ]
    if not found:
        raise _not_found(ref_id)
    if len(found) > 1:
        raise _ambiguous(ref_id, found)
    return found[0]


def _sessions_meant(
    caller: Caller,
    ref_id: str,
    reference: RecallReference,
    current: Session | None,
    project: str | None,
) -> Sequence[Session]:
    """The sessions that a reference may mean; the current one if it names none."""
    if reference.session is None:
        if current is None:
            sentence = "Give session_id: the reference names no session."
            raise Invalid(sentence, at=["session_id"])
        if reference.project not in (None, current.project.slug):
            raise _not_found(ref_id)
        return [current]
    here = current.project.slug if current else None
    slug = reference.project or project or here
    first = uuid.UUID(reference.session[:_DIGITS].ljust(_DIGITS, "0"))
    last = uuid.UUID(reference.session[:_DIGITS].ljust(_DIGITS, "f"))
    rows = recallable_sessions(caller, slug).filter(pk__gte=first, pk__lte=last)
    return list(rows.select_related("project").order_by("pk")[:MAX_CANDIDATES])


def _ambiguous(ref_id: str, found: Sequence[_Found]) -> Conflict:
    """The error for a reference that may name any of these messages."""
    candidates = [
        write_reference(one.session.project.slug, str(one.session.pk), one.name)
        for one in found[:MAX_CANDIDATES]
    ]
    # The ids of several sessions may start with the same 8 digits.
    if len(set(candidates)) < len(candidates):
        candidates = [
            f"nexora://{one.session.project.slug}/{one.session.pk}/{one.name}"
            for one in found[:MAX_CANDIDATES]
        ]
    return Conflict(
        f"{ref_id[:200]} is ambiguous: it may be any of {', '.join(candidates)}.",
        at=["ref_id"],
        code="ambiguous",
        facts={"candidates": candidates},
    )


def _messages(session: Session, name: str) -> list[_Found]:
    """The messages that a short id, a prefix of one, or a key names."""
    index = original_index(name)
    if index is None and (archived := _archived(session, name)):
        return archived
    if index is not None:
        originals = load_messages_at(session, [index])
        return [_Found(session, name, name, one.parts) for one in originals.values()]
    if not name.startswith("msg-"):
        words = MessageReader(session, load_thread(session)).effective([name])
        return [_Found(session, name, name, read.parts) for read in words.values()]
    rows = Message.objects.filter(session=session, short_id__startswith=name)
    named = rows.order_by("index").values_list("index", "short_id")
    short = dict(named[:MAX_CANDIDATES])
    originals = load_messages_at(session, short)
    return [
        _Found(session, short[index], original_key(index), one.parts)
        for index, one in sorted(originals.items())
    ]


def _archived(session: Session, name: str) -> list[_Found]:
    """The messages that a name means, from the archive; empty unless all of them are archived."""
    by_name: dict[str, list[ArchiveEntry]] = {}
    for entry in entries_of(session, name, MAX_CANDIDATES):
        by_name.setdefault(entry.name, []).append(entry)
    if not by_name:
        return []
    named = Message.objects.filter(session=session, short_id__startswith=name)
    is_whole = name in by_name or len(by_name) == named.count()
    return [
        _Found(
            session,
            own,
            entries[0].message_key,
            readable_parts(session, entries[0]),
            tuple(entries),
        )
        for own, entries in by_name.items()
        if is_whole
    ]


def _not_found(ref_id: str) -> NotFound:
    return NotFound(f"reference not found: {ref_id[:200]}", at=["ref_id"])
