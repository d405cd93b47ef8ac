"""Claude Code's terminal output: copied from the terminal, or written by `/export`.

A mark at the start of a line says what it is: `>` or `❯` the user's text, `⏺` or `●` the model's
text or a call (`Bash(npm test)`), `⎿` its result, `✻ Thinking…` reasoning; further lines are
indented below it. Lines are broken at the width of the window, and results are folded ("… +37
lines"): what the terminal didn't show is missing.

Sources: real exports in public repositories; the form is not published.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import BinaryIO, NamedTuple

from threads.domain.formats.format import Format
from threads.domain.formats.io import fields, text_lines
from threads.domain.formats.io.source import ByteSpan
from threads.domain.formats.kit.items import Item, Items
from threads.domain.formats.kit.transcripts import (
    TITLE_WITHIN,
    require_transcripts,
    title_of,
)
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role
from threads.domain.part import Part, Text, Thinking, ToolCall, ToolResult
from threads.domain.transcript import Event, Transcript, Warning

NAME = "claude_code_terminal"
LABEL = "a session of Claude Code as the terminal shows it"
_USER, _MODEL, _RESULT, _THOUGHT, _SHOWN = (
    "user",
    "model",
    "result",
    "thought",
    "output",
)
_MARKS = (
    (re.compile("^[>❯](?: |$)"), _USER),
    (re.compile("^[⏺●] "), _MODEL),
    (re.compile("^ {2}⎿"), _RESULT),
    (re.compile("^[✻∴] ?Thinking"), _THOUGHT),
    (re.compile("^[✻✢✳✶✽╭│╰─▐▝▘※]"), _SHOWN),
)
_CALL = re.compile(
    r"((?:[A-Z]\w*(?: [A-Z]\w*)*)|(?:[\w:.-]+ - [\w-]+ \(MCP\)))\((.*)\)", re.DOTALL
)
"""A call: a tool's name, and its arguments in parentheses, as the terminal shows them."""
_MAX_NAME_LENGTH = 60
"""The most characters of a tool name that is a line without arguments, like `Update Todos`."""
_SAID = re.compile("^[⏺●] ", re.MULTILINE)
_ANSWERED = re.compile("^(?: {2}⎿|[>❯] )", re.MULTILINE)


class _Passage(NamedTuple):
    """Lines under one mark: their kind, record, and text without mark and indentation."""

    kind: str
    record: str
    text: str


@dataclass(slots=True)
class _Turn:
    """What one side has said so far, with its records and other output in between."""

    role: Role
    parts: list[Part] = field(default_factory=list)
    records: list[str] = field(default_factory=list)
    shown: list[Event] = field(default_factory=list)

    @property
    def is_called(self) -> bool:
        """Whether a result may follow: its last part is a call, or another result of the same."""
        return bool(self.parts) and isinstance(self.parts[-1], (ToolCall, ToolResult))

    def items(self) -> Iterator[Item]:
        """The message, if it says something, and the events."""
        if self.parts:
            parts, records = tuple(self.parts), tuple(self.records)
            yield Message(role=self.role, parts=parts, records=records)
        yield from self.shown

    def followed_by(self, role: Role) -> "_Turn":
        """The next turn; a tool's turn begins with an empty result for the call."""
        call = self.parts[-1] if self.parts else None
        if role is Role.TOOL and isinstance(call, ToolCall):
            return _Turn(role, [ToolResult(call.id, (), call.name)])
        return _Turn(role)


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """The conversation of a file. Raises Invalid if nobody says anything in it."""
    reading = Items(partial(_items, file))
    said = (item for item in reading if isinstance(item, Message))
    opening = list(islice(said, TITLE_WITHIN))
    made = Transcript(
        format=NAME,
        title=fields.one_line(title_of(opening)),
        items=reading,
        strategy="anthropic",
        warnings=reading.warnings,
    )
    return require_transcripts([made] if opening else [], reading.warnings, LABEL)


def _items(file: BinaryIO, warnings: list[Warning]) -> Iterator[Item]:
    """Messages and events, in order; a following result also shows that a line is a call."""
    passages = list(_passages(file, warnings))
    turn, calls = _Turn(Role.SYSTEM), 0
    for place, (kind, record, text) in enumerate(passages):
        if kind == _SHOWN or not text or (kind == _RESULT and not turn.is_called):
            turn.shown.append(Event(_SHOWN, record))
            continue
        role = {_USER: Role.USER, _RESULT: Role.TOOL}.get(kind, Role.ASSISTANT)
        if turn.role is not role or role is Role.USER:
            yield from turn.items()
            turn = turn.followed_by(role)
        turn.records.append(record)
        if isinstance(result := next(iter(turn.parts), None), ToolResult):
            turn.parts = [_answered(result, text)]
            continue
        follows = passages[place + 1].kind if place + 1 < len(passages) else ""
        part = _part(kind, text, f"call_{calls + 1}", is_answered=follows == _RESULT)
        calls += isinstance(part, ToolCall)
        turn.parts.append(part)
    yield from turn.items()


def _part(kind: str, text: str, call: str, *, is_answered: bool) -> Part:
    if kind == _THOUGHT:
        return Thinking(text)
    if kind == _MODEL:
        if found := _CALL.fullmatch(text):
            return ToolCall(call, found[1], found[2])
        if is_answered and "\n" not in text and len(text) <= _MAX_NAME_LENGTH:
            return ToolCall(call, text, {})
    return Text(text)


def _answered(result: ToolResult, text: str) -> ToolResult:
    """The result with another text: a call may have several, one below another."""
    said = (*result.content, Text(text))
    is_error = result.is_error or text.startswith("Error")
    return ToolResult(result.call_id, said, result.name, is_error)


def _passages(file: BinaryIO, warnings: list[Warning]) -> Iterator[_Passage]:
    kind, start, end, number = _SHOWN, 0, 0, 1
    for line in text_lines.lines(file):
        head = line.data.decode("utf-8", "replace")
        found = next((kind for mark, kind in _MARKS if mark.match(head)), None)
        if found is not None and not (kind == found == _SHOWN):
            if end > start:
                yield _passage(file, kind, ByteSpan(start, end), number, warnings)
            kind, start, number = found, line.span.start, line.number
        end = line.span.end
    if end > start:
        yield _passage(file, kind, ByteSpan(start, end), number, warnings)


def _passage(
    file: BinaryIO, kind: str, span: ByteSpan, number: int, warnings: list[Warning]
) -> _Passage:
    text = text_lines.words(file, span, number, warnings) or ""
    first, *rest = text.rstrip().split("\n")
    if kind == _THOUGHT:
        first = ""
    elif kind == _RESULT:
        first = first.strip().removeprefix("⎿").strip()
    elif kind != _SHOWN:
        first = first[1:].strip()
    indent = 5 if kind == _RESULT else 2
    lines = [first, *(_unindented(row.rstrip(), indent) for row in rest)]
    return _Passage(kind, span.record, "\n".join(lines).strip("\n"))


def _unindented(row: str, most: int) -> str:
    """A line without the spaces that the terminal put before it."""
    blanks = len(row) - len(row.lstrip(" "))
    return row[min(blanks, most) :]


def _score(sample: Sample) -> float:
    """By lines with the model's mark, and a result or a user's line."""
    if sample.rows or not _ANSWERED.search(sample.text):
        return 0
    marks = _SAID.findall(sample.text)
    is_own = "⏺ " in marks or "\n  ⎿" in sample.text
    return 0.8 if marks and is_own else 0


FORMAT = Format(NAME, LABEL, _score, read)
