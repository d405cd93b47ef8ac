"""JSON as a tree: printed as JSON, folded from the second level on.

Keys, order and numbers stay as written, so the lines can be copied as JSON. Small values take one
line; long strings are folded and shown with their own line ends.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from threads.rendering.cut import (
    OUTPUT,
    Limit,
    count_lines,
    fold,
    left_out,
    readable,
    shortened,
)
from threads.rendering.safe import escape, visible

FOLDED_FROM = 2
DEEPEST = 16
MAX_NODES = 2_000
MAX_TEXT_BYTES = 256 * 1024
"""The most levels, values and characters of strings shown; a note replaces the rest."""
LONG_STRING = 200
"""Strings with line ends are folded if longer than this, others if ten times as long."""
SMALL_LINE = 88


class Number(str):
    """A number as written in a JSON text."""

    __slots__ = ()


def parse(text: str) -> Any:
    """The object or array that `text` encodes, or None; numbers are `Number`s.

    A text that repeats a key in an object is refused: a tree would show less than the text says.
    """
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(
            text,
            parse_int=Number,
            parse_float=Number,
            parse_constant=Number,
            object_pairs_hook=_members,
        )
    except (ValueError, RecursionError):
        return None


def render(value: Any, *, limit: Limit = OUTPUT) -> str:
    """A value decoded by the standard library's `json` as a tree, folded after `limit`."""
    lines = list(_Printer().lines("", value, "", 0))
    size = shown = 0
    for line in lines[: limit.lines]:
        size += len(line)
        if size > 4 * limit.size and shown:  # HTML is some four times its text
            break
        shown += 1
    if len(lines) - shown < 4:
        shown = len(lines)
    rest = lines[shown:]
    html = _block(rest) if rest else ""
    size = sum(map(len, rest)) // 4
    return fold(_block(lines[:shown]), html, lines=len(rest), size=size)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key is repeated")
    return members


class _Printer:
    """Prints values as lines of HTML until the limits are reached."""

    def __init__(self) -> None:
        self._nodes = MAX_NODES
        self._text = MAX_TEXT_BYTES

    def lines(self, key: str, value: Any, comma: str, depth: int) -> Iterator[str]:
        """The lines of one member; `key` is HTML and ends with a colon, or is empty."""
        self._nodes -= 1
        self._text -= len(value) if isinstance(value, str) else 0
        start = "  " * depth + key
        if isinstance(value, dict | list) and value and not _is_small(value):
            if depth >= DEEPEST:
                yield _line(start + _bracket(value, 0)) + left_out("deeper levels")
            elif depth >= FOLDED_FROM:
                count = _counted(value, len(value))
                inside = "".join(self._inside(value, depth))
                closing = _line("  " * depth + _bracket(value, 1) + comma)
                yield (
                    f"<details><summary>{start}{_bracket(value, 0)}"
                    f' <span class="size">{count}</span></summary>{inside}{closing}</details>'
                )
            else:
                yield _line(start + _bracket(value, 0))
                yield from self._inside(value, depth)
                yield _line("  " * depth + _bracket(value, 1) + comma)
        elif (
            isinstance(value, str)
            and len(value) > LONG_STRING
            and ("\n" in value or len(value) > 10 * LONG_STRING)
        ):
            yield _long_string(start, value, comma)
        else:
            yield _line(start + _scalar(value) + comma)

    def _inside(self, value: dict[str, Any] | list[Any], depth: int) -> Iterator[str]:
        pairs: Sequence[tuple[str, Any]] = (
            [(_key(key), member) for key, member in value.items()]
            if isinstance(value, dict)
            else [("", member) for member in value]
        )
        for place, (key, member) in enumerate(pairs):
            if self._nodes <= 0 or self._text <= 0:
                yield left_out(_counted(value, len(pairs) - place, "more "))
                return
            comma = "," if place < len(pairs) - 1 else ""
            yield from self.lines(key, member, comma, depth + 1)


def _is_small(value: dict[str, Any] | list[Any]) -> bool:
    """Whether a container holds few short scalars, so that one line can show it."""
    if len(value) > 8:
        return False
    members = value.values() if isinstance(value, dict) else value
    size = sum(len(key) + 4 for key in value) if isinstance(value, dict) else 0
    for member in members:
        if isinstance(member, dict | list) and member:
            return False
        size += len(member) + 4 if isinstance(member, str) else 8
    return size <= SMALL_LINE


def _long_string(start: str, value: str, comma: str) -> str:
    preview = escape(json.dumps(value[:60], ensure_ascii=False)[:-1])
    lines = count_lines(value)
    size = (f"{lines:,} lines, " if lines > 1 else "") + readable(len(value))
    head, note, tail = shortened(value, "text")
    return (
        f'<details><summary>{start}<span class="string">{preview}…"</span>{comma}'
        f' <span class="size">{size}</span></summary>{_text(head)}{note}'
        f"{_text(tail) if tail else ''}</details>"
    )


def _text(text: str) -> str:
    return f'<pre class="output"><code>{escape(visible(text))}</code></pre>'


def _scalar(value: Any) -> str:
    if isinstance(value, Number):
        return f'<span class="number">{escape(value)}</span>'
    if isinstance(value, str):
        return f'<span class="string">{_quoted(value)}</span>'
    if isinstance(value, dict):
        inside = ", ".join(_key(key) + _scalar(member) for key, member in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_scalar, value)) + "]"
    kind = "constant" if value is None or isinstance(value, bool) else "number"
    return f'<span class="{kind}">{escape(json.dumps(value))}</span>'


def _key(key: str) -> str:
    return f'<span class="key">{_quoted(key)}</span>: '


def _quoted(text: str) -> str:
    return escape(json.dumps(text, ensure_ascii=False))


def _counted(value: dict[str, Any] | list[Any], count: int, more: str = "") -> str:
    what = "member" if isinstance(value, dict) else "item"
    return f"{count:,} {more}{what}{'s' if count != 1 else ''}"


def _bracket(value: dict[str, Any] | list[Any], place: int) -> str:
    return "{}"[place] if isinstance(value, dict) else "[]"[place]


def _line(html: str) -> str:
    return f'<div class="line">{html}</div>'


def _block(lines: Sequence[str]) -> str:
    return f'<div class="json" dir="ltr">{"".join(lines)}</div>'
