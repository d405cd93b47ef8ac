"""A message, a call or a result in one line of plain text: for lists, outlines, closed rows."""

from threads.domain.message import Role
from threads.domain.part import (
    File,
    Image,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

from .cards import card, family
from .cut import LINE, one_line
from .hidden import visible
from .text import ansi, output

LENGTH = 200
_RANK = {"text": 0, "tool_call": 1, "tool_result": 1, "thinking": 3}
_READ = 2_000
"""Characters of a text that a line is made from."""


def summary(role: Role, parts: tuple[Part, ...]) -> str:
    """What a message says in one line of at most `LENGTH` characters, plain text.

    Words come before calls and results, and these before pictures and thinking. Hidden and
    control characters are visible in it, terminal sequences gone.
    """
    lines = [
        (_RANK.get(part.kind, 2), place, line)
        for place, part in enumerate(parts[:200])
        if (line := part_line(role, part))
    ]
    return one_line(min(lines)[2], LENGTH) if lines else ""


def part_line(role: Role, part: Part) -> str:
    """What one part says, all on one line, not yet of a summary's length."""
    match part:
        case Text(text):
            code = output.exit_code(text) if role is Role.TOOL else None
            return _joined(None if code is None else f"exit {code}", _flat(text))
        case Thinking(text):
            return _joined("thinking", _flat(text))
        case ToolCall(_, name, arguments):
            return _joined(visible(name[:LINE]), one_line(card(name, arguments).line))
        case ToolResult(_, content, name):
            texts = [_flat(item.text) for item in content if isinstance(item, Text)]
            return _joined(visible((name or "")[:LINE]), status(part), *texts[:1])
        case Image(media_type) | File(media_type):
            return _joined(part.kind, visible(media_type[:LINE]))
        case Opaque(kind):
            return visible(kind[:LINE])


def status(result: ToolResult) -> str | None:
    """`exit 1` where the output of a command tells it, `error` where only the result does."""
    if result.name is None or family(result.name) in ("command", "program", None):
        for item in result.content[:1] + result.content[-1:]:
            code = output.exit_code(item.text) if isinstance(item, Text) else None
            if code:
                return f"exit {code}"
            if code == 0 and not result.is_error:
                return "exit 0"
    return "error" if result.is_error else None


def _flat(text: str) -> str:
    return " ".join(ansi.strip(text[:_READ]).split())


def _joined(*words: str | None) -> str:
    return " ".join(word for word in words if word)
