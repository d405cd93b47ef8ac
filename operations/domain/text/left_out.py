"""Finds what a summary leaves out of the originals that it stands for.

Only what people and models wrote is searched (text, and the arguments of calls), because tools
print far more names than anybody relies on. A name counts as kept if the summary contains it, or
for a path, its last segment.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from threads.domain.part import Part, Text, ToolCall

from .extensions import EXTENSIONS

_PATH = re.compile(r"(?<![\w/.:-])(?:~|\.{1,2})?/?(?:[\w@.-]{1,80}+/)+[\w@.-]{1,80}")
_FILE = re.compile(r"(?<![\w/.-])[\w-]{1,80}+\.\w{1,11}+(?![\w/.-])")
_NUMBER = re.compile(r"(?<![\w.:/-])\d[\d,]*\d(?:\.\d+)?\s?%?(?![\w:/-])")
_COMMAND_ARGUMENTS = ("command", "cmd", "script")
_MAX_LENGTH = 20_000
"""How many characters of a text are searched."""
_COMMAND_LENGTH = 200


class LeftOutNames(NamedTuple):
    """What was left out, each in the order in which the originals first name it."""

    paths: tuple[str, ...]
    commands: tuple[str, ...]
    numbers: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """`14 paths, 6 commands and 3 numbers`, or empty."""
        named = [
            f"{len(found):,} {word}{'s' if len(found) > 1 else ''}"
            for found, word in zip(self, ("path", "command", "number"), strict=True)
            if found
        ]
        return " and ".join(filter(None, (", ".join(named[:-1]), *named[-1:])))


def left_out(originals: Iterable[Sequence[Part]], summary: str) -> LeftOutNames:
    """What the parts of the originals name and a summary does not."""
    paths: dict[str, None] = {}
    commands: dict[str, None] = {}
    numbers: dict[str, None] = {}
    for part in (part for parts in originals for part in parts):
        paths.update(dict.fromkeys(named_paths(_written(part))))
        if isinstance(part, ToolCall):
            commands.update(dict.fromkeys(_commands(part.arguments)))
        elif isinstance(part, Text):
            numbers.update(dict.fromkeys(_numbers(part.text[:_MAX_LENGTH])))
    said = " ".join(summary.split())
    figures = set(_numbers(summary))
    return LeftOutNames(
        tuple(
            path for path in paths if path.rstrip("/").rsplit("/", 1)[-1] not in said
        ),
        tuple(command for command in commands if command not in said),
        tuple(number for number in numbers if number not in figures),
    )


def named_paths(texts: Iterable[str]) -> Iterator[str]:
    """The paths and files that texts name; a long text is searched only at its beginning."""
    for text in texts:
        # Search only the words that contain the separator, which are few.
        words = text[:_MAX_LENGTH].split()
        for path in _PATH.findall(" ".join([word for word in words if "/" in word])):
            yield path.rstrip(".")
        for word in _FILE.findall(" ".join([word for word in words if "." in word])):
            if word.rpartition(".")[2].lower() in EXTENSIONS:
                yield word


def _written(part: Part) -> Iterator[str]:
    if isinstance(part, Text):
        yield part.text
    elif isinstance(part, ToolCall):
        yield from _strings(part.arguments)


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
