"""A conversation as Markdown, for people: written only.

Texts stand as they are; calls, results and reasoning stand in fences that are longer than any
run of backticks inside, so that nothing ends them early.
"""

import json
import re
from collections.abc import Iterable, Iterator

from threads.domain.formats.format import Heading, Writer
from threads.domain.formats.io import fields
from threads.domain.message import Message
from threads.domain.part import (
    JSON,
    File,
    Image,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

_BACKTICKS = re.compile("`+")


def write(messages: Iterable[Message], heading: Heading) -> Iterator[bytes]:
    """The document, a message at a time: a heading with number and role, then its parts."""
    yield _encode(f"# {fields.one_line(heading.title) or 'Conversation'}\n")
    for number, message in enumerate(messages):
        said = [
            f"## {number} · {message.role}{f' ({message.name})' if message.name else ''}"
        ]
        said += [_write(part) for part in message.parts]
        yield _encode("\n" + "\n\n".join(said) + "\n")


def fence(text: str, language: str = "") -> str:
    """Text in a fence of backticks that it can't close."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    marks = "`" * max(3, longest + 1)
    return f"{marks}{language}\n{text.rstrip()}\n{marks}"


def _write(part: Part) -> str:
    match part:
        case Text(text):
            return text.rstrip()
        case Thinking(text):
            return "**Thinking**\n\n" + fence(text or "(kept by the provider)")
        case ToolCall(_, name, arguments):
            return f"**Call** {_code(name)}\n\n{_arguments(arguments)}"
        case ToolResult(_, content, _, is_error):
            title = "**Result** (error)" if is_error else "**Result**"
            return "\n\n".join([title, *(_write_inside(item) for item in content)])
        case Image(media_type) | File(media_type):
            return f"*{part.kind}: {media_type}{f', {part.url}' if part.url else ''}*"
        case Opaque(type_, data):
            return f"**{type_}**\n\n{fence(_pretty(data), 'json')}"


def _write_inside(part: Part) -> str:
    return fence(part.text) if isinstance(part, Text) else _write(part)


def _arguments(arguments: JSON) -> str:
    if isinstance(arguments, str):
        return fence(arguments)
    return fence(_pretty(arguments), "json")


def _code(text: str) -> str:
    """Text as inline code, on one line."""
    line = fields.one_line(text).replace("`", "'")
    return f"`{line}`"


def _pretty(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _encode(text: str) -> bytes:
    """UTF-8; what has no character of its own (a lone surrogate) becomes a question mark."""
    return text.encode("utf-8", "replace")


WRITER = Writer("Markdown", "md", "text/markdown; charset=utf-8", write)
