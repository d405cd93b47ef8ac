"""A message to summarise, and its text as a summariser reads it."""

import json
from collections.abc import Callable, Sequence
from typing import NamedTuple

from threads.domain.message import Role
from threads.domain.part import Part, Text, ToolCall, ToolResult

MAX_RESULT_LENGTH = 4_000
"""Characters of a tool's result that a summariser reads: one fifth from the start, the rest from
the end."""
MAX_ARGUMENTS_LENGTH = 2_000
Count = Callable[[str], int]


class Utterance(NamedTuple):
    """One message: its key, role and parts."""

    key: str
    role: Role
    parts: tuple[Part, ...]

    @property
    def name(self) -> str:
        """`message 12` for an original, otherwise the key."""
        return f"message {self.key[1:]}" if self.key[1:].isdecimal() else self.key

    @property
    def words(self) -> str:
        """The text parts on one line."""
        texts = (part.text for part in self.parts if isinstance(part, Text))
        return " ".join(" ".join(texts).split())


def message_as_text(message: Utterance) -> str:
    """A message as one text, with its calls and results labelled as such."""
    lines = [f"[{message.key} {message.role.value}]"]
    for part in message.parts:
        if isinstance(part, Text):
            lines.append(part.text)
        elif isinstance(part, ToolCall):
            arguments = json.dumps(part.arguments, ensure_ascii=False, default=str)
            lines.append(
                f"(calls {part.name}: {_cut(arguments, MAX_ARGUMENTS_LENGTH)})"
            )
        elif isinstance(part, ToolResult):
            texts = [one.text for one in part.content if isinstance(one, Text)]
            what = "error" if part.is_error else "result"
            lines.append(f"({what}: {_cut(chr(10).join(texts), MAX_RESULT_LENGTH)})")
    return "\n".join(lines)


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    head = most // 5
    return f"{text[:head]}\n… {len(text) - most:,} characters …\n{text[head - most :]}"


def split_into_parts(texts: Sequence[str], most: int, count: Count) -> list[str]:
    """Join texts into parts of at most `most` tokens each; split texts that are longer.

    The order stays, and nothing is left out.
    """
    parts: list[str] = []
    waiting: list[str] = []
    size = 0
    for text in texts:
        tokens = count(text) + 1
        if waiting and size + tokens > most:
            parts.append("\n\n".join(waiting))
            waiting, size = [], 0
        if tokens > most:
            parts += _cut_up(text, most, count)
        else:
            waiting.append(text)
            size += tokens
    if waiting:
        parts.append("\n\n".join(waiting))
    return parts


def _cut_up(text: str, most: int, count: Count) -> list[str]:
    if len(text) <= 1 or count(text) <= most:
        return [text]
    middle = len(text) // 2
    line = text.rfind("\n", 1, middle)
    place = line if line > middle // 2 else middle
    return [*_cut_up(text[:place], most, count), *_cut_up(text[place:], most, count)]
