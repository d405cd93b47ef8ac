"""Condenses messages: one line for each thing viewed, searched, run, edited or said.

Every line ends with the reference that recalls the original.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from threads.domain.part import JSON, Part, Text, Thinking, ToolCall, ToolResult
from threads.domain.text import text_of

from .file_use import command_of
from .tool_uses import ToolUse

MAX_COMMAND_LENGTH = 50
MAX_SUMMARY_LENGTH = 80
_REMOVED = "Removed: "
MAX_ARGUMENT_LENGTH = 200
"""Longest string in a call's arguments, in characters, that is left as it is."""
_PATTERNS = (
    "pattern",
    "query",
    "regex",
    "search",
    "glob",
    "q",
    "file_name",
    "filename",
)
_PLACES = ("path", "dir", "directory", "glob")
_FOUND = re.compile(r"^Found (\d+)")
_NOTHING = re.compile(r"^No (?:matches|files|results)", re.IGNORECASE)
_EXITS = (
    re.compile(r"\nexit code:? (-?\d+)"),
    re.compile(r"exited with (?:exit )?code (-?\d+)"),
    re.compile(r'"exit_?code": ?(-?\d+)'),
    re.compile(r"exit(?:ed)? (?:code|status):? (-?\d+)"),
)
"""How tools report an exit code, in lower case; the first pattern that matches counts."""
_ENDS = 2000
"""Characters at either end of a result that are searched for its exit code."""


class Condensed(NamedTuple):
    """The condensed line of a tool use, and what the archive records about it."""

    line: str
    content_type: str
    summary: str
    file_paths: tuple[str, ...]


def condensed_use(use: ToolUse, ref: str) -> Condensed:
    """Condense a result to one line, in the wording of document 1."""
    text = text_of(use.result) if use.result is not None else ""
    call = use.call or ToolCall("", use.name, None)
    kind, paths = use.kind, use.paths
    path = paths[0] if paths else ""
    recall = _recalled_by(ref)
    if kind == "file_view" and path:
        summary = _size(use, text)
        line = f"📎 Viewed {', '.join(paths)} - {summary}{recall}"
    elif kind == "grep" and _argument(call, _PATTERNS):
        pattern, count = short(_argument(call, _PATTERNS), 80), matches(text)
        where = path or _argument(call, _PLACES) or "."
        summary = f"'{pattern}' in {where} - {count} matches"
        line = f"🔍 Searched {summary}{recall}"
    elif kind == "bash" and command_of(call):
        ran = short(command_of(call), MAX_COMMAND_LENGTH)
        summary = f"{ran} - {exit_status(use, text)}"
        line = f"⚡ Ran: {summary}{recall}"
    elif kind == "edit" and path:
        summary = f"Edited {', '.join(paths)}"
        line = f"✏️ {summary}{recall}"
    else:
        summary = short(text or use.name, MAX_SUMMARY_LENGTH)
        line = f"📝 {summary}{recall}"
    return Condensed(line, kind, summary, paths)


def note(summary: str, ref: str) -> str:
    """The condensed line for anything without a more specific form."""
    return f"📝 {short(summary, MAX_SUMMARY_LENGTH)}{_recalled_by(ref)}"


def removed(reason: str, ref: str) -> str:
    """The line of a removed result; a long reason keeps its end, where the file name is."""
    most = MAX_SUMMARY_LENGTH - len(_REMOVED)
    words = " ".join(reason.split())
    if len(words) > most:
        end = words[1 - most :]
        words = f"…{end[max(0, end.find('/')) :]}"
    return f"📝 {_REMOVED}{words}{_recalled_by(ref)}"


def with_lines(parts: Sequence[Part], lines: Sequence[str | None]) -> tuple[Part, ...]:
    """The parts with each result's content replaced by a line; None leaves a result as it is."""
    waiting = iter(lines)
    found: list[Part] = []
    for part in parts:
        if isinstance(part, ToolResult):
            line = next(waiting)
            if line is not None:
                content = (Text(line),)
                part = ToolResult(part.call_id, content, part.name, part.is_error)
        found.append(part)
    return tuple(found)


def condensed_words(
    parts: Sequence[Part], ref: str, *, is_long: bool
) -> tuple[Part, ...]:
    """Condense an assistant's message: its long arguments and, if `is_long`, its words.

    Calls keep their ids, names and short arguments. Reasoning is dropped.
    """
    line = ""
    if is_long:
        texts = [part.text for part in parts if isinstance(part, Text)]
        line = note(" ".join(texts), ref)
    found: list[Part] = []
    calls = 0
    for part in parts:
        if isinstance(part, Text) and is_long:
            if line:
                found.append(Text(line))
                line = ""
        elif isinstance(part, ToolCall):
            calls += 1
            found.append(_shorter_call(part, f"{ref}:tool-{calls}"))
        elif not isinstance(part, Thinking):
            found.append(part)
    return tuple(found)


def matches(text: str) -> int:
    """The number of matches that a search result lists."""
    if told := _FOUND.search(text):
        return int(told[1])
    if _NOTHING.search(text):
        return 0
    return sum(bool(line.strip()) for line in text.splitlines())


def exit_status(use: ToolUse, text: str) -> str:
    """`exit 0` if the result contains the exit code; otherwise `failed` or `done`."""
    ends = f"\n{text[:_ENDS]}\n{text[-_ENDS:]}".lower()
    for pattern in _EXITS if "exit" in ends else ():
        if told := pattern.search(ends):
            return f"exit {told[1]}"
    return "failed" if use.has_failed else "done"


def short(text: str, most: int) -> str:
    """The first words of a text on one line, at most `most` characters."""
    enough = most // 2 + 2  # a word takes at least one character and a space
    words = " ".join(text[: 20 * most].split(None, enough)[:enough])
    return words if len(words) <= most else f"{words[: most - 1]}…"


def _recalled_by(ref: str) -> str:
    return f" [recall:{ref}]"


def _size(use: ToolUse, text: str) -> str:
    file = use.files[0] if use.files else None
    if file is not None and file.last is not None:
        return f"lines {file.first}-{file.last}"
    count = len(text.splitlines())
    return f"{count} line{'' if count == 1 else 's'}"


def _argument(call: ToolCall, names: Sequence[str]) -> str:
    given = call.arguments if isinstance(call.arguments, dict) else {}
    return next(
        (value for name in names if isinstance(value := given.get(name), str)), ""
    )


def _shorter_call(call: ToolCall, ref: str) -> ToolCall:
    """The call with each long string in its arguments replaced by a line."""
    use = ToolUse(call=call)

    def shorter(value: JSON) -> JSON:
        if isinstance(value, str) and len(value) > MAX_ARGUMENT_LENGTH:
            if use.kind == "edit" and use.paths:
                return f"✏️ Edited {use.paths[0]}{_recalled_by(ref)}"
            return note(value, ref)
        if isinstance(value, list):
            return [shorter(item) for item in value]
        if isinstance(value, dict):
            return {name: shorter(item) for name, item in value.items()}
        return value

    arguments = shorter(call.arguments)
    if arguments == call.arguments:
        return call
    return ToolCall(call.id, call.name, arguments)
