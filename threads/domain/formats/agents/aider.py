"""aider's chat history: one Markdown file per repository, to which each start appends.

`# aider chat started at …` begins a conversation. Lines by the user start with `#### `, and lines
that the program printed with `> `; all other lines are by the model. There are no calls, times or
ids. An excerpt may lack the start. Because a model may write such lines too, this follows aider's
own reader (github.com/Aider-AI/aider, `aider/utils.py`), except for headings, which aider's leaves
out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import BinaryIO

from threads.domain.formats.format import Format
from threads.domain.formats.io import fields, text_lines
from threads.domain.formats.io.source import ByteSpan
from threads.domain.formats.io.text_lines import TextLine
from threads.domain.formats.kit.items import Item, Items
from threads.domain.formats.kit.transcripts import require_transcripts
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role
from threads.domain.part import Text
from threads.domain.transcript import Event, Transcript, Warning

NAME = "aider"
LABEL = "an aider chat history (Markdown)"
STARTED = b"# aider chat started at "
_STARTED = re.compile(r"^# aider chat started at ", re.MULTILINE)
FILE = ".aider.chat.history.md"
_ASKED = re.compile(r"^#### \S", re.MULTILINE)
_PRINTS = re.compile(
    r"^> (Tokens: |Aider v\d|(Main |Weak |Editor )?[Mm]odel: |Git repo: |Repo-map: "
    r"|Applied edit to |Added .{1,200} to the chat|Commit [0-9a-f]{7} )",
    re.MULTILINE,
)
"""Lines that aider prints in every chat, by which an excerpt is recognised."""
_USER, _MODEL, _PRINTED, _BEGIN = "user", "model", "output", "started"
_ROLES = {_USER: Role.USER, _MODEL: Role.ASSISTANT}


@dataclass(slots=True)
class Chat:
    """The place of a conversation, and what is known about it before it is read."""

    start: int
    line: int
    """The number of lines before it."""
    end: int = 0
    started: str = ""
    title: str = ""
    has_messages: bool = False
    is_blank: bool = True
    warnings: list[Warning] = field(default_factory=list)


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """One conversation per start, found in one pass. Raises Invalid if none holds a message.

    Lines before the first start are a conversation too. A start without messages keeps its lines
    as events; the first conversation with messages has a warning that gives their number.
    """
    chats = list(_chats(file))
    speaking = next((chat for chat in chats if chat.has_messages), None)
    if speaking is None:
        return require_transcripts([], [], LABEL)
    if silent := sum(not chat.has_messages for chat in chats):
        words = f"{silent:,} of {len(chats):,} starts hold no message."
        speaking.warnings = [Warning("no_messages", words)]
    seen: dict[str, int] = {}
    return [_transcript(file, chat, seen) for chat in chats]


def _chats(file: BinaryIO) -> Iterator[Chat]:
    chat = Chat(0, 0)
    for line in text_lines.lines(file):
        kind = _kind(line)
        if kind == _BEGIN:
            if chat.started or not chat.is_blank:
                yield chat
            started = line.data[len(STARTED) :].decode("utf-8", "replace").strip()
            chat = Chat(line.span.start, line.number - 1, started=started)
        elif kind == _USER:
            chat.title = chat.title or _said(line.data.decode("utf-8", "replace"))
            chat.has_messages = True
        elif kind == _MODEL and line.data.strip():
            chat.has_messages = True
        chat.is_blank = chat.is_blank and not line.data.strip()
        chat.end = line.span.end
    if not chat.is_blank:
        yield chat


def _transcript(file: BinaryIO, chat: Chat, seen: dict[str, int]) -> Transcript:
    """The conversation; its id is its start time, numbered if several start in the same second."""
    reading = Items(partial(_items, file, chat), given=chat.warnings)
    number = seen[chat.started] = seen.get(chat.started, 0) + 1
    same = f" ({number})" if number > 1 else ""
    return Transcript(
        format=NAME,
        title=fields.one_line(chat.title) or f"aider {chat.started}".strip(),
        items=reading,
        external_id=f"aider {chat.started}{same}"[:255] if chat.started else None,
        warnings=reading.warnings,
    )


def _items(file: BinaryIO, chat: Chat, warnings: list[Warning]) -> Iterator[Item]:
    """The passages of a conversation; blank lines end only a user's passage."""
    kind, start, end, number = "", 0, 0, 0
    for line in text_lines.lines(file, ByteSpan(chat.start, chat.end), chat.line):
        is_blank = not line.data.strip()
        found = kind if is_blank and kind != _USER else "" if is_blank else _kind(line)
        if found != kind:
            yield from _passage(file, kind, ByteSpan(start, end), number, warnings)
            kind, start, number = found, line.span.start, line.number
        if not is_blank:
            end = line.span.end
    yield from _passage(file, kind, ByteSpan(start, end), number, warnings)


def _passage(
    file: BinaryIO, kind: str, span: ByteSpan, line: int, warnings: list[Warning]
) -> Iterator[Item]:
    if not kind:
        return
    if kind not in _ROLES:
        file.seek(span.start + len(STARTED))
        said = file.read(40).split(b"\n")[0].decode("utf-8", "replace").strip()
        yield Event(kind, span.record, fields.moment(said) if kind == _BEGIN else None)
        return
    text = text_lines.words(file, span, line, warnings)
    if text is None:
        yield Event("unreadable", span.record)
        return
    if kind == _USER:
        text = "\n".join(map(_said, text.split("\n")))
    said_by, parts = _ROLES[kind], (Text(text.rstrip()),)
    yield Message(role=said_by, parts=parts, records=(span.record,))


def _kind(line: TextLine) -> str:
    if line.data.startswith(STARTED):
        return _BEGIN
    if line.data.startswith((b"#### ", b"> ")) or line.data in (b"####", b">"):
        return _USER if line.data.startswith(b"#") else _PRINTED
    return _MODEL


def _said(row: str) -> str:
    """A user's line without its mark and the two spaces that aider appends."""
    return row.removeprefix("####").removeprefix(" ").rstrip()


def _score(sample: Sample) -> float:
    """By a start; in an excerpt without one, by a user's line and one that only aider prints."""
    if sample.rows:
        return 0
    if _STARTED.search(sample.text):
        return 0.95
    if not _ASKED.search(sample.text):
        return 0
    if _PRINTS.search(sample.text):
        return 0.9
    return 0.6 if sample.name.endswith(FILE) else 0


FORMAT = Format(NAME, LABEL, _score, read)
