"""What a text leaves out of what it stands for.

Only what people and models wrote is searched (words, and the arguments of calls), for what tools
print names far more than anybody relies on. A thing counts as kept where the text has it, or of a
path its last segment.
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
        paths.update(dict.fromkeys(named_paths(_written(part))))
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


def named_paths(texts: Iterable[str]) -> Iterator[str]:
    """The paths and files that texts name, of a long one those in its beginning."""
    for text in texts:
        # An expression that asks for a mark looks in the words that have it: the fewest.
        words = text[:_LONGEST].split()
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
