"""Where the text of a file went: into messages, into events, or nowhere.

A text leaf is a string of two words or more in the file's JSON, which excludes ids, types, times
and base64. A leaf is in a message if a message read from its record says it, and in an event if it
is in an event's record. Otherwise it is nowhere: it can be seen only in the raw record or in the
file. Characters are counted, and for leaves that are nowhere also the members that hold them. In a
file that is not JSON, each line counts as a leaf.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from contextstudio.accounts.domain.errors import Invalid

from .formats.arguments import text_of
from .formats.io import fields, json_text, streams
from .message import Message
from .part import JSON, File, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from .transcript import Compaction, Event, Transcript

MAX_BYTES = 32 << 20
"""How many bytes at the beginning of a file are examined."""
MAX_SEARCHED = 1000
"""With more texts than this in a record, a leaf is only compared with whole texts."""
MAX_MEMBERS = 1000
"""The most members counted separately."""
SHOWN = 20
"""How many members a report names: those with the most text."""
OTHERS = "other members"
_PLACE = re.compile(r"bytes:(\d+)-(\d+)")
_GAP = re.compile(rb'"(?:[^"\\]|\\.)*+"|[:,}\]]|[^\s":,}\]]+', re.DOTALL)
_JSON = ("{", "[")
_STREAM = ("data:", "event:", "id:", ":")
"""How lines of event streams begin, whose events hold JSON."""
_FIELD = re.compile(rb"^(?:data|event): ?")

Span = tuple[int, int]


@dataclass(slots=True)
class LeafCount:
    """Characters of text leaves by where they went, and the members of leaves that are nowhere."""

    messages: int = 0
    events: int = 0
    nowhere: int = 0
    members: Counter[str] = field(default_factory=Counter)

    def miss(self, member: str, count: int) -> None:
        """Count characters of a member that are in no message and no event."""
        self.nowhere += count
        is_new = member not in self.members and len(self.members) >= MAX_MEMBERS
        self.members[OTHERS if is_new else member] += count

    def join(self, other: "LeafCount") -> None:
        """Add the counts of another file."""
        self.messages += other.messages
        self.events += other.events
        for member, count in other.members.items():
            self.miss(member, count)

    def report(self) -> dict[str, Any]:
        """The counts as JSON, with the members that hold the most characters."""
        return {
            "messages": self.messages,
            "events": self.events,
            "nowhere": self.nowhere,
            "members": dict(self.members.most_common(SHOWN)),
        }


@dataclass(slots=True)
class _Record:
    """A piece of the file that items were read from, and what their messages say."""

    start: int
    end: int
    texts: set[str] = field(default_factory=set)
    is_event: bool = False
    events: list[Span] = field(default_factory=list)
    """The pieces of it that are events, if the whole record is not one."""

    def take(self, inner: "_Record") -> None:
        """Merge a record that begins within this one."""
        self.texts |= inner.texts
        self.end = max(self.end, inner.end)
        if inner.is_event:
            self.events.append((inner.start, inner.end))

    def holds(self, text: str) -> int:
        """How many characters of a leaf are in messages, as a whole or in pieces."""
        wanted = text.strip()
        if wanted in self.texts:
            return len(text)
        if len(self.texts) > MAX_SEARCHED:
            return 0
        if any(wanted in one for one in self.texts):
            return len(text)
        said = sum(len(one) for one in self.texts if len(one) > 1 and one in text)
        return min(said, len(text))


def count_leaves(transcripts: Sequence[Transcript], file: BinaryIO) -> LeafCount:
    """Where the text of the first `MAX_BYTES` bytes of a file went.

    Left out are items from other files of a folder, and a record cut off by the limit.
    """
    found = LeafCount()
    file.seek(0)
    data = file.read(MAX_BYTES)
    records, end = _records(transcripts, len(data))
    data = data[:end]
    is_json = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")
    titles = {one.title for one in transcripts}
    at = 0
    for record in records:
        _count_gap(data[at : record.start], is_json, titles, found)
        _count_record(data, record, is_json, found)
        at = max(at, record.end)
    _count_gap(data[at:], is_json, titles, found)
    return found


# What items were read from


def _records(transcripts: Iterable[Transcript], size: int) -> tuple[list[_Record], int]:
    """The outermost records in order, and where the first cut-off record begins, or `size`.

    Overlapping records become one, which remembers the events within it.
    """
    pieces: dict[Span, _Record] = {}
    cut = size
    for transcript in transcripts:
        for item in transcript.items:
            for start, end in _places(item):
                if end > size:
                    cut = min(cut, start)
                    continue
                record = pieces.setdefault((start, end), _Record(start, end))
                if isinstance(item, Event):
                    record.is_event = True
                    continue
                for message in (
                    item.messages if isinstance(item, Compaction) else [item]
                ):
                    record.texts.update(_texts(message))
    outer: list[_Record] = []
    for record in sorted(pieces.values(), key=lambda one: (one.start, -one.end)):
        if outer and record.start < outer[-1].end:
            outer[-1].take(record)
        else:
            outer.append(record)
    return [record for record in outer if record.end <= cut], cut


def _places(item: Message | Event | Compaction) -> Iterator[Span]:
    records = item.records if isinstance(item, Message) else (item.record,)
    for record in records:
        if place := _PLACE.fullmatch(record):
            yield int(place[1]), int(place[2])


def _texts(message: Message) -> Iterator[str]:
    """All texts in a message; if a text is JSON, also the strings in it."""
    for part in message.parts:
        for text in _said(part):
            if stripped := text.strip():
                yield stripped
                if stripped.startswith(_JSON):
                    yield from (leaf.strip() for _, leaf in _inner(stripped, ""))


def _said(part: Part) -> Iterator[str]:
    match part:
        case Text(text):
            yield text
        case Thinking():
            yield part.text
        case ToolCall():
            yield part.name
            if isinstance(part.arguments, str):
                yield part.arguments
            else:  # streams hold pieces of it, with or without spaces
                yield text_of(part)
                yield json_text.WRITER.encode(part.arguments)
            yield from (leaf for _, leaf in _leaves(part.arguments, ""))
        case ToolResult():
            for item in part.content:
                yield from _said(item)
        case Opaque():
            yield from (leaf for _, leaf in _leaves(part.data, ""))
        case File():
            yield from (part.name or "", (part.data or b"").decode("utf-8", "replace"))


# What the file holds


def _count_record(
    data: bytes, record: _Record, is_json: bool, found: LeafCount
) -> None:
    """Count where the text of a record went."""
    kept = {
        text
        for start, end in record.events
        for _, text in _pieces(data[start:end], is_json)
    }
    for member, text in _pieces(data[record.start : record.end], is_json):
        if not is_text(text):
            continue
        said, is_event = record.holds(text), record.is_event or text in kept
        inner = []
        if said < len(text) and text.lstrip().startswith((*_JSON, *_STREAM)):
            inner = list(_inner(text, member))
        if inner:
            for name, leaf in inner:
                if is_text(leaf):
                    _count_leaf(name, leaf, record.holds(leaf), is_event, found)
        else:
            _count_leaf(member, text, said, is_event, found)


def _count_leaf(
    member: str, text: str, said: int, is_event: bool, found: LeafCount
) -> None:
    rest = len(text) - said
    found.messages += said
    if is_event:
        found.events += rest
    elif rest:
        found.miss(member, rest)


def _count_gap(
    data: bytes, is_json: bool, titles: Collection[str], found: LeafCount
) -> None:
    """Count text between records: members of an object that are neither messages nor events.

    The title of a conversation is read, and counts as text in a message.
    """
    for member, text in _between(data) if is_json else _whole(data):
        if fields.one_line(text) in titles:
            found.messages += len(text)
        else:
            found.miss(member, len(text))


def _whole(data: bytes) -> Iterator[tuple[str, str]]:
    if words := data.decode("utf-8", "replace").strip():
        yield "text", words


def _between(data: bytes) -> Iterator[tuple[str, str]]:
    """The leaves of a JSON fragment, each with the name of the member before it."""
    name, last = "", b""
    for match in _GAP.finditer(data):
        token = match[0]
        if token == b":":
            name = _string(last) or name
        elif token in (b",", b"}", b"]") and is_text(text := _string(last)):
            yield name or "member", text
        last = token
    if is_text(text := _string(last)):
        yield name or "member", text


def _pieces(data: bytes, is_json: bool) -> Iterator[tuple[str, str]]:
    """The leaves of a record, each with the member that holds it.

    A record may be many lines with JSON in each: the events of one streamed reply.
    """
    if is_json:
        try:
            yield from _leaves(json_text.parse(data), "")
            return
        except Invalid:
            pass
    for line in data.splitlines():
        said = _FIELD.sub(b"", line)
        try:
            event = json_text.parse(said if is_json or said != line else b"")
        except Invalid:
            event = None
        if isinstance(event, dict):
            yield from _leaves(event, "")
        else:
            yield "text", said.decode("utf-8", "replace").lstrip("#> ").rstrip()


def _leaves(value: JSON, member: str) -> Iterator[tuple[str, str]]:
    """The strings in a value, each with the path of its member."""
    if isinstance(value, str):
        yield member, value
    elif isinstance(value, dict):
        for name, held in value.items():
            inner = f"{member}.{name}" if member else str(name)
            yield from _leaves(held, inner)
    elif isinstance(value, list):
        for held in value:
            yield from _leaves(held, f"{member}[]")


def _inner(text: str, member: str) -> Iterator[tuple[str, str]]:
    """The leaves of a text that is itself JSON or a stream of JSON; nothing for other texts."""
    if text.lstrip().startswith(_STREAM):
        for event in streams.events_of(text):
            yield from _inner(event.decode("utf-8", "surrogatepass"), member)
        return
    try:
        value = json_text.parse(text.encode("utf-8", "surrogatepass"))
    except Invalid:
        return
    yield from _leaves(value, member)


def is_text(text: str) -> bool:
    """Whether a string has two words or more."""
    return len(text) > 2 and len(text.split(None, 1)) == 2


def _string(token: bytes) -> str:
    """The value of a JSON string token; empty for any other token."""
    if not token.startswith(b'"'):
        return ""
    try:
        return str(json_text.parse(token))
    except Invalid:
        return token[1:-1].decode("utf-8", "replace")
