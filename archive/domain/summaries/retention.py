"""The retention check: finds what messages mention and their summary doesn't.

It looks for paths, commands, numbers and URLs in what people and models wrote, for errors in tool
results, and for what the user told the model to do. Each mention records the first message that
names it, so that it can be kept with a click.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from operations.domain.text.left_out import left_out
from threads.domain.message import Role
from threads.domain.part import JSON, Text, ToolCall, ToolResult

from .said import Utterance

MAX_LENGTH = 200
"""Most characters of an error or a sentence."""
_SEARCHED = 20_000
"""How many characters of one text are searched."""
ENOUGH = 0.6
"""A summary keeps a sentence if it has at least this share of the sentence's longer words."""


class ReferenceKind(StrEnum):
    """The kinds of things that a summary can drop."""

    PATH = "path"
    COMMAND = "command"
    NUMBER = "number"
    URL = "url"
    ERROR = "error"
    IMPERATIVE = "imperative"


class Mention(NamedTuple):
    """Something that a message names."""

    kind: ReferenceKind
    text: str
    key: str
    """The key of the first message that names it."""


class Retention(NamedTuple):
    """The result of a check."""

    retained: int
    """How many of the mentions the summary has."""
    dropped: tuple[Mention, ...]


def check_retention(messages: Iterable[Utterance], summary: str) -> Retention:
    """Check which mentions in the messages a summary keeps, and which it drops."""
    found: dict[tuple[ReferenceKind, str], Mention] = {}
    missing: set[tuple[ReferenceKind, str]] = set()
    summed_up = _Summary(summary)
    for message in messages:
        every = _named(message, "")
        lost = set(_named(message, summary))
        for kind, text in [*every, *_said(message)]:
            found.setdefault((kind, text), Mention(kind, text, message.key))
            named = (kind, text) in lost if kind in _BY_NAME else False
            if named or (kind not in _BY_NAME and not summed_up.has(kind, text)):
                missing.add((kind, text))
    dropped = tuple(one for place, one in found.items() if place in missing)
    return Retention(len(found) - len(dropped), dropped)


_BY_NAME = (ReferenceKind.PATH, ReferenceKind.COMMAND, ReferenceKind.NUMBER)


def _named(message: Utterance, summary: str) -> list[tuple[ReferenceKind, str]]:
    found = left_out([_without_urls(message)], summary)
    return [
        (kind, name)
        for kind, names in zip(_BY_NAME, found, strict=True)
        for name in names
    ]


_URL = re.compile(r"https?://[^\s<>\"'`)\]}]{3,300}")


def _without_urls(message: Utterance) -> tuple[Text | ToolCall, ...]:
    """The parts without URLs, as paths would be found in those."""
    parts: list[Text | ToolCall] = []
    for part in message.parts:
        if isinstance(part, Text):
            parts.append(Text(_URL.sub(" ", part.text[:_SEARCHED])))
        elif isinstance(part, ToolCall):
            parts.append(ToolCall("", part.name, _bare(part.arguments)))
    return tuple(parts)


def _bare(value: JSON) -> JSON:
    if isinstance(value, str):
        return _URL.sub(" ", value[:_SEARCHED])
    if isinstance(value, dict):
        return {name: _bare(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_bare(item) for item in value]
    return value


def _said(message: Utterance) -> Iterator[tuple[ReferenceKind, str]]:
    for part in message.parts:
        if isinstance(part, Text):
            yield from _urls(part.text)
            if message.role is Role.USER:
                for sentence in imperatives(part.text):
                    yield ReferenceKind.IMPERATIVE, sentence
        elif isinstance(part, ToolCall):
            for text in _texts(part.arguments):
                yield from _urls(text)
        elif isinstance(part, ToolResult) and (line := error_of(part)):
            yield ReferenceKind.ERROR, line


def _urls(text: str) -> Iterator[tuple[ReferenceKind, str]]:
    for url in _URL.findall(text[:_SEARCHED]):
        yield ReferenceKind.URL, url.rstrip(".,;:!?")


def _texts(value: JSON) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


_ERROR_NAME = re.compile(r"\b[A-Z]\w*(?:Error|Exception)\b")
_ERROR_LINE = re.compile(r"\b(?:error|failed|failure|fatal|panic)\b", re.IGNORECASE)


def error_of(result: ToolResult) -> str:
    """The line of a result that says what went wrong; empty if nothing did.

    An exception counts wherever it is printed; other words for failure count only if the result
    is marked as an error.
    """
    texts = [part.text for part in result.content if isinstance(part, Text)]
    lines = [line.strip() for line in "\n".join(texts)[-_SEARCHED:].splitlines()]
    for line in reversed(lines):
        if (name := _ERROR_NAME.search(line)) and name.start() < MAX_LENGTH // 2:
            return line[:MAX_LENGTH]
    if not result.is_error:
        return ""
    told = [line for line in lines if _ERROR_LINE.search(line)] or [
        *filter(None, lines)
    ]
    return told[0][:MAX_LENGTH] if told else ""


_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_TOLD = re.compile(
    r"\b(?:must|never|always|don't|do not|please|make sure|ensure|should(?:n't)?|need to|"
    r"instead of|only|avoid|remember)\b",
    re.IGNORECASE,
)
_VERBS = frozenset(
    {"add", "ask", "build", "change", "check", "commit", "convert", "create", "delete"}
    | {"drop", "explain", "find", "fix", "give", "implement", "keep", "leave", "let"}
    | {"make", "move", "open", "print", "put", "read", "remove", "rename", "replace"}
    | {"return", "revert", "run", "search", "show", "start", "stop", "test", "try"}
    | {"undo", "update", "use", "write"}
)
_WORD = re.compile(r"[\w']{4,}")
_MIN_WORDS = 3
"""Fewest words of a sentence that counts as an instruction."""


def imperatives(text: str) -> list[str]:
    """The sentences of a user's text that say what to do or not to do.

    Skips lines that start with a tag, as a harness wrote those.
    """
    found = []
    for sentence in _SENTENCE.split(text[:_SEARCHED]):
        words = sentence.split()
        if len(words) < _MIN_WORDS or sentence.lstrip().startswith("<"):
            continue
        if words[0].strip(",:").lower() in _VERBS or _TOLD.search(sentence):
            found.append(" ".join(words)[:MAX_LENGTH])
    return found


class _Summary:
    """A summary, prepared for lookups."""

    def __init__(self, text: str) -> None:
        self._text = " ".join(text.split())
        self._words = frozenset(_WORD.findall(self._text.lower()))

    def has(self, kind: ReferenceKind, text: str) -> bool:
        """Whether the summary contains a URL, names an error, or restates a sentence."""
        if text in self._text:
            return True
        if kind is ReferenceKind.ERROR:
            names = _ERROR_NAME.findall(text)
            return bool(names) and names[0] in self._text
        if kind is ReferenceKind.IMPERATIVE:
            words = set(_WORD.findall(text.lower()))
            return bool(words) and len(words & self._words) >= ENOUGH * len(words)
        return False


def as_lines(references: Sequence[Mention]) -> str:
    """Mentions as a list, for the prompt that asks a model to keep them."""
    return "\n".join(f"- {one.kind}: {one.text} [{one.key}]" for one in references)
