"""A message of a request for people to read: contents in blocks, its facts in a line above.

It knows no provider: short values (ids, names) go to the line, texts and whole objects to blocks
of their own, so that a command or a result reads as it is and not as JSON in a string. The exact
bytes that are sent are in the download.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from django.utils.safestring import SafeString

from threads.rendering.hidden import visible

MAX_VALUE_LENGTH = 400
"""The length, in characters, from which a value without spaces, such as an image's bytes, is cut;
the download has all of it."""
_MAX_FACT_LENGTH = 80
_TEXTS = ("text", "input_text", "output_text")
_BESIDE = ("role", "type", "status")
_WORDS = ("content", "text", "output", "thinking", "arguments", "summary")
"""Members that are shown as blocks even if they are short."""
_OBJECTS = ("input", "args", "arguments", "response", "json", "parameters")
"""Members given to or by a tool, shown as whole objects."""


@dataclass(frozen=True, slots=True)
class PagePiece:
    """A block of a message: a label, empty for plain text, and its text, which may be empty."""

    label: str
    text: str
    marked: SafeString | None = None
    """The text as HTML, with the words marked that differ from another one."""


@dataclass(slots=True)
class _RequestReading:
    """The contents of an object: short values, and blocks."""

    facts: list[str] = field(default_factory=list)
    pieces: list[PagePiece] = field(default_factory=list)


def pieces_of(message: Mapping[str, Any]) -> list[PagePiece]:
    """The blocks of a message in any provider's form."""
    return list(_headed("", _read(message)))


def _read(given: Mapping[str, Any]) -> _RequestReading:
    found = _RequestReading()
    for name, value in given.items():
        if name in _BESIDE or value in (None, "", [], {}):
            continue
        if _is_fact(name, value):
            found.facts.append(f"{name} {visible(str(value))}")
        elif isinstance(value, str):
            found.pieces.append(
                PagePiece("" if name in _WORDS else name, visible(_cut(value)))
            )
        elif isinstance(value, list) and name not in _OBJECTS:
            for item in value:
                found.pieces += _item(name, item)
        elif isinstance(value, dict) and name not in _OBJECTS:
            inner = _read(value)
            found.facts += inner.facts
            found.pieces += inner.pieces
        else:
            found.pieces.append(PagePiece("", _written(value)))
    return found


def _item(name: str, item: Any) -> Iterator[PagePiece]:
    """The blocks of a list item: its text, or its type with its own blocks."""
    if isinstance(item, str):
        yield PagePiece("", visible(item))
    elif not isinstance(item, dict):
        yield PagePiece(name, _written(item))
    elif _is_text(item):
        yield PagePiece("", visible(item["text"]))
    else:
        kind = item.get("type")
        label = kind if isinstance(kind, str) else next(iter(item), name)
        yield from _headed(visible(str(label)), _read(item))


def _headed(label: str, read: _RequestReading) -> Iterator[PagePiece]:
    """The blocks, with the line of facts above the first; the line alone if there are none."""
    line = ": ".join(part for part in (label, ", ".join(read.facts)) if part)
    first, *others = read.pieces or [PagePiece("", "")]
    named = ", ".join(part for part in (line, first.label) if part)
    if named or first.text:
        yield replace(first, label=named)
    yield from others


def _is_text(item: Mapping[str, Any]) -> bool:
    kind = item.get("type")
    return isinstance(item.get("text"), str) and (
        kind in _TEXTS or set(item) == {"text"}
    )


def _is_fact(name: str, value: Any) -> bool:
    if isinstance(value, str):
        short = len(value) <= _MAX_FACT_LENGTH and "\n" not in value
        return short and name not in _WORDS
    return isinstance(value, bool | int | float)


def _written(value: Any) -> str:
    """A value as JSON, with long strings cut."""
    return visible(json.dumps(_cut_within(value), ensure_ascii=False, indent=2))


def _cut_within(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _cut_within(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_cut_within(item) for item in value]
    return _cut(value) if isinstance(value, str) else value


def _cut(value: str) -> str:
    if len(value) > MAX_VALUE_LENGTH and " " not in value[:200]:
        return f"{value[:60]}… ({len(value):,} characters)"
    return value
