"""Text in which each message has a heading that names the speaker: the last resort.

There are three styles, of which a file has one: Markdown headings (`## User`, also numbered, as in
our own Markdown), bold text (`**Assistant:** Hello`), plain text (`User: Hello`). A heading inside
a fence doesn't count. Text before the first heading is an event.
"""

import re
from collections.abc import Iterator
from functools import partial
from typing import BinaryIO, NamedTuple

from threads.domain.formats.format import Format
from threads.domain.formats.io import fields, text_lines
from threads.domain.formats.io.source import ByteSpan
from threads.domain.formats.kit.items import Item, Items
from threads.domain.formats.kit.transcripts import require_transcripts, transcript_of
from threads.domain.formats.sample import HEAD, Sample
from threads.domain.message import Message, Role
from threads.domain.part import Text
from threads.domain.transcript import Event, Transcript, Warning

NAME = "role_headings"
LABEL = "text with a heading for each role"
_ROLES = {
    Role.USER: ("user", "human", "you", "me", "prompt"),
    Role.ASSISTANT: (
        "assistant", "ai", "ai assistant", "agent", "bot", "chatbot", "model", "response",
        "chatgpt", "claude", "gemini", "copilot", "gpt-4", "gpt-4o", "gpt-5",
    ),
    Role.SYSTEM: ("system", "system prompt"),
    Role.DEVELOPER: ("developer",),
    Role.TOOL: ("tool", "tool result", "function"),
}  # fmt: skip
_NAMES = {name: role for role, names in _ROLES.items() for name in names}
_ROLE = "|".join(sorted(map(re.escape, _NAMES), key=len, reverse=True))
_SIGNS = r"[^\w\s*_#:]{0,4}\s{0,2}"
"""Pattern of an emoji before the role."""
_STYLES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"#{{1,6}}\s+(?:\d++\s*+(?:[·.:)–-]\s*+)?)?"
        rf"{_SIGNS}[*_]{{0,3}}{_SIGNS}({_ROLE})(?: said)?:?"
        rf"[*_]{{0,3}}(?:\s*\(([^()]{{1,64}})\))?:?(\s*)$",
        rf"\*\*{_SIGNS}({_ROLE})(?: said)?(?:\s*\(([^()]{{1,64}})\))?(?::\*\*|\*\*:|\*\*$)\s*(.*)$",
        rf"({_ROLE})(?: said)?(?:\s*\(([^()]{{1,64}})\))?:(?:\s+(.*))?$",
    )
)
_OWN = re.compile(rf"\ufeff?# .*\r?\n\r?\n## 0 · (?:{_ROLE})\b")
"""The beginning of our own Markdown."""
_AS_TEXT = re.compile(r"^\*\*(?:Call\*\* `|Result\*\*|Thinking\*\*$)", re.MULTILINE)
"""How a call, a result or thinking begins in our own Markdown."""
AS_TEXT = Warning(
    "read_as_text",
    "In this Markdown, calls, results and thinking are plain text, and they were imported as text. "
    "To import them as calls, results and thinking, export the session as ContextStudio JSON.",
)
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})(.*)$")


class _Heading(NamedTuple):
    role: Role
    name: str | None
    rest: int
    """The number of bytes on its line before the message's own text."""


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """The conversation of a text. Raises Invalid if no heading is found."""
    file.seek(0)
    style = _style(file.read(HEAD).decode("utf-8-sig", "replace"))
    if style is None:
        return require_transcripts([], [], LABEL)
    reading = Items(partial(_warned, file, style))
    return require_transcripts([transcript_of(reading, format=NAME)], [], LABEL)


def _style(text: str) -> re.Pattern[str] | None:
    """The style in which both a user and an assistant have headings; else None.

    Our own Markdown is recognised by its beginning.
    """
    if _OWN.match(text):
        return _STYLES[0]
    for style in _STYLES:
        lines = (line[: text_lines.KEPT].rstrip() for line in text.split("\n"))
        found = {_NAMES[match[1].lower()] for match in map(style.match, lines) if match}
        if {Role.USER, Role.ASSISTANT} <= found:
            return style
    return None


def _warned(
    file: BinaryIO, style: re.Pattern[str], warnings: list[Warning]
) -> Iterator[Item]:
    """The items of a text; for our own Markdown, with a warning that calls are read as text."""
    file.seek(0)
    is_own = bool(_OWN.match(file.read(HEAD).decode("utf-8-sig", "replace")))
    for item in _items(file, style, warnings):
        yield item
        if is_own and isinstance(item, Message) and _AS_TEXT.search(item.text):
            warnings.append(AS_TEXT)
            is_own = False


def _items(
    file: BinaryIO, style: re.Pattern[str], warnings: list[Warning]
) -> Iterator[Item]:
    heading: _Heading | None = None
    start, number, end, fence = 0, 1, 0, ""
    for line in text_lines.lines(file):
        text = line.data.decode("utf-8", "surrogateescape")
        found = None if fence else _heading(style, text)
        fence = _open(text, fence)
        if found is not None:
            yield from _passage(file, heading, ByteSpan(start, end), number, warnings)
            heading, start, number = found, line.span.start, line.number
        end = line.span.end
    yield from _passage(file, heading, ByteSpan(start, end), number, warnings)


def _heading(style: re.Pattern[str], text: str) -> _Heading | None:
    match = style.match(text.rstrip())
    if match is None:
        return None
    name = fields.as_word(text_lines.word(match[2] or "").strip()) or None
    rest = match.start(3) if match[3] else len(text)
    before = text[:rest].encode("utf-8", "surrogateescape")
    return _Heading(_NAMES[match[1].lower()], name, len(before))


def _open(text: str, fence: str) -> str:
    """The fence that is open after a line; empty if none is."""
    match = _FENCE.match(text)
    if match is None or not fence:
        return match[1] if match else fence
    closes = match[1].startswith(fence) and not match[2].strip()
    return "" if closes else fence


def _passage(
    file: BinaryIO,
    heading: _Heading | None,
    span: ByteSpan,
    line: int,
    warnings: list[Warning],
) -> Iterator[Item]:
    """The message under a heading; an event for text before the first heading."""
    if heading is None:
        if span.end:
            yield Event("preamble", span.record)
        return
    begin = min(span.start + heading.rest, span.end)
    text = text_lines.words(file, ByteSpan(begin, span.end), line, warnings)
    if text is None:
        yield Event("unreadable", span.record)
        return
    words = text.strip("\n").rstrip()
    parts = (Text(words),) if words.strip() else ()
    role, name, _ = heading
    yield Message(role=role, name=name, parts=parts, records=(span.record,))


def _score(sample: Sample) -> float:
    return 0.2 if not sample.rows and _style(sample.text) else 0


FORMAT = Format(NAME, LABEL, _score, read)
