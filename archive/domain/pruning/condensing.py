"""What a message reads in short: one line each for what it viewed, searched, ran, edited or said.

Every line ends in the reference by which the whole is recalled.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from threads.domain.part import JSON, Part, Text, Thinking, ToolCall, ToolResult
from threads.domain.text import text_of

from .file_use import command_of
from .tool_uses import ToolUse

LONGEST_COMMAND = 50
LONGEST_SUMMARY = 80
_REMOVED = "Removed: "
LONGEST_ARGUMENT = 200
"""Characters of a text in a call's arguments that are left as they are."""
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
"""As tools say it, in small letters; the first that is found counts."""
_ENDS = 2000
"""Characters at either end of a result in which its exit code is looked for."""


class Condensed(NamedTuple):
    """A use of a tool in short, and what an archive notes of it."""

    line: str
    content_type: str
    summary: str
    file_paths: tuple[str, ...]


def condensed_use(use: ToolUse, ref: str) -> Condensed:
    """A result in one line, in the words of document 1."""
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
        ran = short(command_of(call), LONGEST_COMMAND)
        summary = f"{ran} - {exit_status(use, text)}"
        line = f"⚡ Ran: {summary}{recall}"
    elif kind == "edit" and path:
        summary = f"Edited {', '.join(paths)}"
        line = f"✏️ {summary}{recall}"
    else:
        summary = short(text or use.name, LONGEST_SUMMARY)
        line = f"📝 {summary}{recall}"
    return Condensed(line, kind, summary, paths)


def note(summary: str, ref: str) -> str:
    """The line of what is of no kind of its own."""
    return f"📝 {short(summary, LONGEST_SUMMARY)}{_recalled_by(ref)}"


def removed(reason: str, ref: str) -> str:
    """The line of a result that is removed; of a long path it has the end, which names the file."""
    most = LONGEST_SUMMARY - len(_REMOVED)
    words = " ".join(reason.split())
    if len(words) > most:
        end = words[1 - most :]
        words = f"…{end[max(0, end.find('/')) :]}"
    return f"📝 {_REMOVED}{words}{_recalled_by(ref)}"


def with_lines(parts: Sequence[Part], lines: Sequence[str | None]) -> tuple[Part, ...]:
    """The parts with a line in the place of each result's content; None leaves a result."""
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
    """An assistant's message in short: its words where they alone are long, and long arguments.

    Its calls keep their ids, names and short arguments; its reasoning goes.
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
    """How many matches the result of a search lists."""
    if told := _FOUND.search(text):
        return int(told[1])
    if _NOTHING.search(text):
        return 0
    return sum(bool(line.strip()) for line in text.splitlines())


def exit_status(use: ToolUse, text: str) -> str:
    """`exit 0`, where the result tells the code; else `failed` or `done`."""
    ends = f"\n{text[:_ENDS]}\n{text[-_ENDS:]}".lower()
    for pattern in _EXITS if "exit" in ends else ():
        if told := pattern.search(ends):
            return f"exit {told[1]}"
    return "failed" if use.has_failed else "done"


def short(text: str, most: int) -> str:
    """The first words of a text on one line, in so many characters at most."""
    enough = most // 2 + 1  # each is a character and a blank at least
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
    """The call with a line in the place of each long text of its arguments."""
    use = ToolUse(call=call)

    def shorter(value: JSON) -> JSON:
        if isinstance(value, str) and len(value) > LONGEST_ARGUMENT:
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
