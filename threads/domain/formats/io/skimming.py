"""What a JSON file holds, in short, where its first bytes don't show what it is.

A request may begin with a hundred kilobytes of tools or of a system prompt, and a list of messages
stand behind as many records of other kinds.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from io import SEEK_END
from typing import Any, BinaryIO

from threads.domain.part import JSON

from . import json_file, json_text, source
from .source import ByteSpan

MOST_BYTES = 64 << 20
"""Beyond it a file is known by its first bytes, or not at all."""
WHOLE = 1 << 20
"""Bytes of the longest piece that is read before it is made short."""
TEXT = 500
"""Characters that are left of a text."""
ALIKE, ELEMENTS = 2, 40
"""How many of like records are left, and of all."""
TEXTS = 3
"""How many of a list's texts are left: two alone may be a question and its answer."""
LOOKED_AT = 5_000
"""Records of a list, or members, that are looked at."""
DEEPEST = 6


def skimmed(file: BinaryIO) -> bytes:
    """JSON, or JSON Lines, of the same shape as a file; nothing of what is none, or is too long."""
    size = file.seek(0, SEEK_END)
    if not size or size > MOST_BYTES:
        return b""
    if json_file.is_lines(file, 2):
        lines = (line.span for line in source.lines(file))
        return b"\n".join(map(json_text.dump, _few(_short(file, one) for one in lines)))
    found = _short(file, json_file.whole(file))
    return json_text.dump(found) if isinstance(found, (dict, list)) else b""


def _short(file: BinaryIO, span: ByteSpan, depth: int = 0) -> JSON:
    """The value at a place, made short; None where it can't be read."""
    if span.end - span.start <= WHOLE:
        return _shortened(json_file.known_value(file, span, []))
    children = json_file.children(file, span.start, [])
    file.seek(span.start)
    opener = file.read(1 << 10).lstrip(json_text.BOM).lstrip()[:1]
    if depth == DEEPEST or opener not in (b"[", b"{"):
        return "" if opener == b'"' else None
    if opener == b"[":
        return list(_few(_short(file, one.span, depth + 1) for one in children))
    members = zip(range(LOOKED_AT), children, strict=False)
    return {str(one.key): _short(file, one.span, depth + 1) for _, one in members}


def _shortened(value: JSON) -> JSON:
    if isinstance(value, str):
        return value[:TEXT]
    if isinstance(value, list):
        return [_shortened(one) for one in _few(value)]
    if isinstance(value, dict):
        members = zip(range(LOOKED_AT), value.items(), strict=False)
        return {key: _shortened(one) for _, (key, one) in members}
    return value


def _few(values: Iterable[JSON]) -> Iterator[JSON]:
    """The first of those that are alike, in their order."""
    seen = Counter[Hashable]()
    for _, value in zip(range(LOOKED_AT), values, strict=False):
        seen[shape := _shape(value)] += 1
        if seen[shape] <= (TEXTS if isinstance(value, str) else ALIKE):
            yield value
        if sum(min(count, ALIKE) for count in seen.values()) >= ELEMENTS:
            return


def _shape(value: Any) -> Hashable:
    """What makes one record like another: its members, and what kind it says that it is."""
    if not isinstance(value, dict):
        return type(value).__name__
    kinds = (value.get("type"), value.get("role"))
    return (frozenset(value), *(one for one in kinds if isinstance(one, str)))
