"""What a digest says by rule, and what it keeps to itself.

An outline is a digest made without a model: it quotes and counts and never infers. A model or
a person writes a better one; this one is there at once and can't be wrong about what was said.
Of what is left out only what people and models wrote is searched (words, and the arguments of
calls), for what tools print names far more than anybody relies on. A thing counts as kept
where the summary has it, or of a path its last segment.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from threads.domain.message import Role, starts_group
from threads.domain.part import Part, Text, ToolCall, ToolResult

LONGEST_LINE = 160
"""Characters that are quoted of one message."""
MOST_REQUESTS = 12
MOST_NAMES = 12
"""How many requests, and how many of each kind of name, are listed."""


@dataclass(frozen=True, slots=True)
class OutlinedMessage:
    """A message by its index: who speaks, and what."""

    index: int
    role: Role
    parts: tuple[Part, ...]


def outline(messages: Sequence[OutlinedMessage]) -> str:
    """The outline of at least one message, a few lines of Markdown."""
    first, last = messages[0].index, messages[-1].index
    lines = [f"Messages {first} to {last}, outlined by rule, without a model."]
    lines += _requests(messages)
    lines += _calls(messages)
    named = left_out([message.parts for message in messages], "")
    for title, names in (("Files", named.paths), ("Commands", named.commands)):
        if names:
            lines.append(f"{title}: {_some(names)}")
    for message in reversed(messages):
        if message.role is Role.ASSISTANT and _words(message):
            lines.append(f"Last answer (message {message.index}): {_quoted(message)}")
            break
    return "\n".join(lines)


def _requests(messages: Sequence[OutlinedMessage]) -> list[str]:
    """What was asked, a line each: the first ones and the last."""
    asked = [
        f"- {_quoted(message)} (message {message.index})"
        for message in messages
        if starts_group(message.role, message.parts) and _words(message)
    ]
    if not asked:
        return []
    if len(asked) > MOST_REQUESTS:
        left = len(asked) - MOST_REQUESTS
        asked = [*asked[: MOST_REQUESTS - 1], f"- … {left} more …", asked[-1]]
    return ["Asked:", *asked]


def _calls(messages: Sequence[OutlinedMessage]) -> list[str]:
    parts = [part for message in messages for part in message.parts]
    calls = Counter(part.name for part in parts if isinstance(part, ToolCall))
    if not calls:
        return []
    failed = sum(isinstance(part, ToolResult) and part.is_error for part in parts)
    words = _some([f"{name} ×{count}" for name, count in calls.most_common()])
    return [f"Tools: {words}" + (f"; {failed} failed" if failed else "")]


def _some(names: Sequence[str]) -> str:
    left = len(names) - MOST_NAMES
    more = f", … {left} more" if left > 0 else ""
    return ", ".join(names[:MOST_NAMES]) + more


def _quoted(message: OutlinedMessage) -> str:
    words = _words(message)
    return words if len(words) <= LONGEST_LINE else f"{words[: LONGEST_LINE - 1]}…"


def _words(message: OutlinedMessage) -> str:
    """The text of a message on one line."""
    texts = (part.text for part in message.parts if isinstance(part, Text))
    return " ".join(" ".join(texts).split())


_PATH = re.compile(r"(?<![\w/.:-])(?:~|\.{1,2})?/?(?:[\w@.-]{1,80}/)+[\w@.-]{1,80}")
_FILE = re.compile(
    r"(?<![\w/.-])[\w-]{1,80}\.(?:[a-z]{1,4}|jsonl?|toml|html)(?![\w/.-])"
)
_NUMBER = re.compile(r"(?<![\w.:/-])\d[\d,]*\d(?:\.\d+)?\s?%?(?![\w:/-])")
_COMMAND_ARGUMENTS = ("command", "cmd", "script")
_LONGEST = 20_000
"""Characters of one text that are searched."""
_COMMAND_LENGTH = 200


class LeftOutNames(NamedTuple):
    """Each in the order in which the originals name them first."""

    paths: tuple[str, ...]
    commands: tuple[str, ...]
    numbers: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """`14 paths, 6 commands and 3 numbers`, or nothing."""
        named = [
            f"{len(found):,} {word}{'s' if len(found) > 1 else ''}"
            for found, word in zip(self, ("path", "command", "number"), strict=True)
            if found
        ]
        return " and ".join(filter(None, (", ".join(named[:-1]), *named[-1:])))


def left_out(originals: Iterable[Sequence[Part]], summary: str) -> LeftOutNames:
    """What the parts of the originals name and a summary doesn't."""
    paths: dict[str, None] = {}
    commands: dict[str, None] = {}
    numbers: dict[str, None] = {}
    for part in (part for parts in originals for part in parts):
        for text in _written(part):
            for pattern in (_PATH, _FILE):
                paths.update(
                    dict.fromkeys(found.rstrip(".") for found in pattern.findall(text))
                )
        if isinstance(part, ToolCall):
            commands.update(dict.fromkeys(_commands(part.arguments)))
        elif isinstance(part, Text):
            numbers.update(dict.fromkeys(_numbers(part.text[:_LONGEST])))
    said = " ".join(summary.split())
    figures = set(_numbers(summary))
    return LeftOutNames(
        tuple(
            path for path in paths if path.rstrip("/").rsplit("/", 1)[-1] not in said
        ),
        tuple(command for command in commands if command not in said),
        tuple(number for number in numbers if number not in figures),
    )


def _written(part: Part) -> Iterator[str]:
    if isinstance(part, Text):
        yield part.text[:_LONGEST]
    elif isinstance(part, ToolCall):
        for text in _strings(part.arguments):
            yield text[:_LONGEST]


def _strings(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)


def _commands(arguments: Any) -> Iterator[str]:
    if not isinstance(arguments, dict):
        return
    for name in _COMMAND_ARGUMENTS:
        command = arguments.get(name)
        if isinstance(command, list):
            command = " ".join(word for word in command if isinstance(word, str))
        if isinstance(command, str) and command.strip():
            yield " ".join(command.split())[:_COMMAND_LENGTH]


def _numbers(text: str) -> Iterator[str]:
    for found in _NUMBER.findall(text):
        yield found.replace(",", "").replace(" ", "")
