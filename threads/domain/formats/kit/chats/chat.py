"""Files that hold lists of messages: the containers that OpenAI's and Anthropic's formats share.

A conversation is a list of messages, an object with `messages` (a request, a log of request and
response, a row of a data set), or JSON Lines of messages. In a list or JSON Lines of such objects,
each holds one conversation. So do the objects in batch files, where the request or the reply is
nested deeper. In an object with none of this, conversations are found by the contents of its lists
(`spoken`), whatever its members are called. `source.children` finds the pieces, so a file is never
held whole.
"""

from collections.abc import Container, Iterable, Iterator
from dataclasses import replace
from functools import reduce
from io import SEEK_END
from itertools import chain, islice, takewhile
from typing import Any, BinaryIO

from threads.domain.formats.io import fields, json_file, source, speakers
from threads.domain.formats.io.json_file import Members
from threads.domain.formats.io.source import BROKEN, ByteSpan
from threads.domain.formats.kit import normalize, spoken
from threads.domain.formats.kit.transcripts import (
    TITLE_WITHIN,
    require_transcripts,
    title_of,
    with_skipped_warnings,
)
from threads.domain.formats.sample import HEAD, RECORDS, Sample
from threads.domain.message import Message
from threads.domain.transcript import Transcript, Warning

from . import sessions
from .answers import LinkedConversation
from .chat_items import PREFERRED, READ_MEMBERS, ChatDialect, Envelope, Lines
from .chat_rows import Rows, by_session

IDS = ("external_id", "session_id", *speakers.SESSIONS)
"""Members with the conversation's id; `id` itself is a request's."""
PROXY_REQUEST = "proxy_server_request"
"""The member with the request in LiteLLM's log, whose own `messages` are then empty, not a list."""
HOLDERS = (
    *(("request",), ("params",), ("body",)),
    *(("response", "body"), ("result", "message")),
    *(("session",), ("thread",), ("chat",), ("data",)),
    (PROXY_REQUEST,),
)
"""Paths to the messages or choices of an object that has none of its own: in a log, in a batch as
the APIs of Anthropic and OpenAI take and return it, in whatever programs call a conversation, and
in LiteLLM's spend log."""
MAX_TITLE_LENGTH = 300
"""The most characters of a file's title: as in a session, so that our own format restores it."""
UNREAD = READ_MEMBERS - {"system", "title", "model"}
"""Members of a conversation that mean something else in a row with a question and its answer."""


def read(file: BinaryIO, dialect: ChatDialect) -> list[Transcript]:
    """The conversations of a file. Raises Invalid if it holds no message at all."""
    skipped: list[Warning] = []
    held = _conversations(file, dialect, skipped)
    found = list(_transcripts(held, skipped))
    return with_skipped_warnings(require_transcripts(found, skipped), skipped)


def read_from(
    file: BinaryIO, dialect: ChatDialect, span: ByteSpan, skipped: list[Warning]
) -> Iterator[Transcript]:
    """The conversations in one piece of a file; a piece without messages gives a warning."""
    return _transcripts(_envelope(file, dialect, span, skipped), skipped)


def _transcripts(
    found: Iterable[Lines | Envelope], skipped: list[Warning]
) -> Iterator[Transcript]:
    for held in found:
        for items in by_session(held, skipped):
            if (made := _transcript(items, skipped)) is not None:
                yield made


def opening_messages(sample: Sample, roles: Container[str]) -> list[dict[str, Any]]:
    """The first messages of a file that holds lists of messages; empty for other files."""
    rows: list[Any] = list(sample.rows)
    if rows and not fields.text(rows[0], "role"):
        inner = message_holder(rows[0])
        rows = [inner] if "role" in inner else fields.items(inner, "messages")
    said = [row for row in rows if fields.text(row, "role") in roles]
    is_cut = len(sample.head) >= HEAD  # the content may come after the cut
    found = [row for row in said if is_cut or normalize.is_message(row)]
    return found if 2 * len(found) > len(rows) else []


def message_holder(row: dict[str, Any]) -> dict[str, Any]:
    """The object that holds the messages: the row itself, or an object in it (`HOLDERS`)."""
    if PROXY_REQUEST in row and not isinstance(row.get("messages"), list):
        row = {name: value for name, value in row.items() if name != "messages"}
    if _is_open(row) and "requests" not in row:  # the usual case, checked often
        return row
    row = next(iter(fields.items(row, "requests")), row)
    row = fields.mapping(row)
    held = (reduce(fields.mapping, path, row) for path in _holders(row))
    return next((one for one in (row, *held) if _is_open(one)), row)


def _holders(members: Container[str | int]) -> Iterable[tuple[str, ...]]:
    return (("input",),) if PREFERRED in members else HOLDERS


def _is_open(members: Container[str | int]) -> bool:
    return "role" in members or "messages" in members or "choices" in members


def _conversations(
    file: BinaryIO, dialect: ChatDialect, skipped: list[Warning]
) -> Iterator[Lines | Envelope]:
    rows = _first_rows(file)
    are_lists = json_file.are_lists(rows)
    if are_lists or json_file.first_record(rows) is not None:
        if not are_lists and _are_messages(
            file, (line.span for line in source.lines(file))
        ):
            yield Lines(file, dialect)
            return
        for line in json_file.lines(file, skipped):
            if line.value is not BROKEN:
                yield from _envelope(file, dialect, line.span, skipped)
    elif not _is_list_of_envelopes(file, dialect):
        whole = ByteSpan(0, file.seek(0, SEEK_END))
        yield from _envelope(file, dialect, whole, skipped)
    else:
        for child in source.children(file):
            yield from _envelope(file, dialect, child.span, skipped)


def _are_messages(file: BinaryIO, spans: Iterable[ByteSpan]) -> bool | None:
    """Whether objects are messages (True) or hold messages (False), by the first that tells.

    Returns None if none tells.
    """
    for place, span in enumerate(spans):
        members = json_file.places(file, span, [])
        if "role" in members and "messages" not in members:
            return True
        held = (_inner(file, members, path, [])[1] for path in _holders(members))
        if any(map(_is_open, (members, *held))) or "requests" in members:
            return False
        if place < RECORDS or speakers.may_speak(members):
            record = json_file.known_value(file, span, [])
            if spoken.row_in(record):
                return False
            if spoken.said_in(record):
                return True
    return None


def _first_rows(file: BinaryIO) -> list[bytes]:
    """The first lines, which show whether it is JSON Lines; none if it is one long line."""
    return [] if json_file.is_one_line(file) else json_file.first_lines(file)


def _is_list_of_envelopes(file: BinaryIO, dialect: ChatDialect) -> bool:
    listed = takewhile(lambda one: isinstance(one.key, int), source.children(file))
    told = _are_messages(file, (child.span for child in listed))
    if told is None:
        whole = json_file.places(file, json_file.whole(file), [])
        return 0 in whole and any(_found(file, dialect, whole, spoken.DEEPEST))
    return not told


def _envelope(
    file: BinaryIO, dialect: ChatDialect, span: ByteSpan, skipped: list[Warning]
) -> Iterator[Envelope]:
    """The conversations in the container at a place; nothing if it isn't a container."""
    warnings: list[Warning] = []
    found = json_file.children(file, span.start, warnings)
    first = list(islice(found, 1))
    if first and isinstance(first[0].key, int):
        yield Envelope(file, dialect, {"messages": span})
    else:
        members = {child.key: child.span for child in chain(first, found)}
        if "requests" in members and not _is_open(members):
            for child in json_file.children(file, members["requests"].start, warnings):
                yield from _envelope(file, dialect, child.span, skipped)
        else:
            yield from _held(file, dialect, span, members, warnings)
    skipped.extend(warnings)


def _held(
    file: BinaryIO,
    dialect: ChatDialect,
    span: ByteSpan,
    members: dict[str | int, ByteSpan],
    warnings: list[Warning],
) -> Iterator[Envelope]:
    """The conversations of an object with these members, wherever in it the messages are."""
    if PROXY_REQUEST in members and not json_file.is_list(
        file, members.get("messages", span)
    ):
        members = {key: one for key, one in members.items() if key != "messages"}
    outer, beside = members, dict[str | int, ByteSpan]()
    for path in _holders(members):
        inner = {} if _is_open(members) else members
        missed: list[Warning] = []
        place, inner = _inner(file, inner, path, missed)
        if inner and place:  # a text holds no members, which is fine
            warnings += missed
            span, beside = place, {k: v for k, v in members.items() if k != path[0]}
            members = beside | inner
    if "messages" in members or "choices" in members:
        yield Envelope(file, dialect, members)
    elif "role" in members:
        yield Envelope(file, dialect, beside | {"message": span})
    else:
        found = list(_found(file, dialect, outer, spoken.DEEPEST))
        found = _with_pair(file, dialect, span, members, found)
        if members and not found:
            words = f"The object at {span.record} holds no messages."
            warnings.append(Warning("no_messages", words))
        yield from found


def _with_pair(
    file: BinaryIO,
    dialect: ChatDialect,
    span: ByteSpan,
    members: Members,
    found: list[Envelope],
) -> list[Envelope]:
    """The conversations found in an object.

    If the object is a question and its answer, these follow the only list found in it, if any,
    in one conversation.
    """
    pair = _pair(file, span, members)
    before = found[0].members["messages"] if pair and len(found) == 1 else None
    if pair is None or (found and before not in members.values()):
        return found
    read = {*pair[:2], *UNREAD}
    beside = {k: v for k, v in members.items() if k not in read and v != before}
    listed: Members = {"messages": before} if before else {}
    return [Envelope(file, dialect, {**beside, **listed, "message": span})]


def _pair(
    file: BinaryIO, span: ByteSpan, members: Members
) -> speakers.SpokenPair | None:
    """The pair of question and answer in an object, by the names of its members; None if none."""
    if not speakers.may_speak(members):
        return None
    return spoken.pair_of(json_file.known_value(file, span, []))


def _inner(
    file: BinaryIO, members: Members, path: Iterable[str], warnings: list[Warning]
) -> tuple[ByteSpan | None, dict[str | int, ByteSpan]]:
    """The place at the end of a path of members, and the members there."""
    place, inner = None, dict(members)
    for name in path:
        place = inner.get(name)
        inner = json_file.places(file, place, warnings) if place else {}
    return place, inner


def _found(
    file: BinaryIO, dialect: ChatDialect, members: Members, levels: int
) -> Iterator[Envelope]:
    """The conversations in a container without `messages`; see `spoken`."""
    lists = [key for key, place in members.items() if _is_spoken(file, key, place)]
    rest = {key: place for key, place in members.items() if key not in lists}
    held = {
        key: list(_held_by(file, dialect, key, place, levels))
        for key, place in rest.items()
    }
    rest = {key: place for key, place in rest.items() if not held[key]}
    if len(lists) == 1 and isinstance(lists[0], str) and not any(held.values()):
        named = lists[0] if sessions.id_of(lists[0]) else ""
        called = str(json_file.get(file, members, "id") or named)
        said: Members = {**rest, "messages": members[lists[0]]}
        yield Envelope(file, dialect, said, called)
        return
    found = [
        Envelope(file, dialect, {"messages": members[key]}, str(key)) for key in lists
    ]
    found += chain.from_iterable(held.values())
    for place, one in enumerate(found):
        aside: Members = {f"outer/{key}": span for key, span in rest.items()}
        yield one if place else replace(one, members={**one.members, **aside})


def _held_by(
    file: BinaryIO, dialect: ChatDialect, key: str | int, place: ByteSpan, levels: int
) -> Iterator[Envelope]:
    """The conversation in a member, or the conversations nested in it."""
    may_hold = levels and (
        _is_large(place)
        or spoken.is_held(json_file.known_value(file, place, []), levels, key)
    )
    inner = json_file.places(file, place, []) if may_hold else {}
    if "messages" in inner:
        called = json_file.get(file, inner, "id") or key
        yield Envelope(file, dialect, inner, str(called))
    elif inner:
        yield from _found(file, dialect, inner, levels - 1)


def _is_spoken(file: BinaryIO, key: str | int, place: ByteSpan) -> bool:
    """Whether the list at a place is a conversation."""
    if not json_file.is_list(file, place):
        return False
    if _is_large(place):
        rows = json_file.elements(file, place.start, [])
        first = [row.value for row in islice(rows, RECORDS)]
        values = chain(first, (row.value for row in rows))
        return spoken.is_conversation(values) or spoken.are_pairs(key, first)
    value = json_file.known_value(file, place, [])
    return isinstance(value, list) and (
        spoken.is_conversation(value) or spoken.are_pairs(key, value)
    )


def _is_large(place: ByteSpan) -> bool:
    """Whether a piece is examined by places; for small ones, reading the value is faster."""
    return place.end - place.start > source.CHUNK


def _transcript(
    items: Lines | Envelope | Rows, skipped: list[Warning]
) -> Transcript | None:
    """The transcript of a conversation; None if no message of it can be read."""
    opening: list[Message] = []
    for item in items:
        if isinstance(item, Message):
            opening.append(item)
            if len(opening) == TITLE_WITHIN or title_of([item]):
                break
    if not opening:
        skipped.extend(items.warnings)
        return None
    said = {
        name: items.get(name)
        for name in ("title", "strategy", "response", *IDS, "model", "custom_id")
    }
    called = "" if isinstance(items, Lines) else items.called
    own = fields.one_line(fields.text(said, "title"), MAX_TITLE_LENGTH)
    title = own or title_of(opening)
    strategy = items.dialect.strategy or fields.word(said, "strategy", limit=32)
    return Transcript(
        format=items.dialect.format,
        title=title or fields.one_line(fields.text(said, "custom_id") or called),
        items=_linked(items) if items.dialect.strategy else items,
        external_id=fields.word(said, *IDS, limit=255) or sessions.id_of(called),
        strategy=strategy or "openai",
        model=fields.word(said, "model") or fields.word(said["response"], "model"),
        warnings=items.warnings,
    )


def _linked(items: Lines | Envelope | Rows) -> LinkedConversation:
    return LinkedConversation(items, given=items.given, warnings=items.warnings)
