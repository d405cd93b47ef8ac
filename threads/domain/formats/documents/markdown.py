"""A conversation as Markdown, for people: only written.

Texts are written as they are. Calls, results and reasoning are in fences that are longer than any
run of backticks inside, so nothing ends them early.
"""

import json
import re
from collections.abc import Iterable, Iterator

from threads.domain.formats.format import Heading, Writer
from threads.domain.formats.io import fields
from threads.domain.message import Message
from threads.domain.part import File, Image, Part, Text, Thinking, ToolCall, ToolResult

_BACKTICKS = re.compile("`+")


def write(messages: Iterable[Message], heading: Heading) -> Iterator[bytes]:
    """The document, one message at a time: a heading with number and role, then its parts."""
    yield _encode(f"# {fields.one_line(heading.title) or 'Conversation'}\n")
    for number, message in enumerate(messages):
        said = [
            f"## {number} · {message.role}{f' ({message.name})' if message.name else ''}"
        ]
        said += [_write(part) for part in message.parts]
        yield _encode("\n" + "\n\n".join(said) + "\n")


def fence(text: str, language: str = "") -> str:
    """Text in a fence of backticks that the text can't close."""
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
            words = fence(arguments) if isinstance(arguments, str) else _json(arguments)
            code = fields.one_line(name).replace("`", "'")
            return f"**Call** `{code}`\n\n{words}"
        case ToolResult(_, content, _, is_error):
            inside = (
                fence(item.text) if isinstance(item, Text) else _write(item)
                for item in content
            )
            title = "**Result** (error)" if is_error else "**Result**"
            return "\n\n".join([title, *inside])
        case Image(media_type) | File(media_type):
            return f"*{part.kind}: {media_type}{f', {part.url}' if part.url else ''}*"
    return f"**{part.type}**\n\n{_json(part.data)}"


def _json(value: object) -> str:
    return fence(json.dumps(value, ensure_ascii=False, indent=2), "json")


def _encode(text: str) -> bytes:
    """UTF-8; a lone surrogate becomes a question mark."""
    return text.encode("utf-8", "replace")


WRITER = Writer("Markdown", "md", "text/markdown; charset=utf-8", write)
