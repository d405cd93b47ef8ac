"""A shortened version of a JSON file, for detection if its first bytes don't show what it is.

A request may begin with a hundred kilobytes of tools or of a system prompt, and a list of messages
may come after as many records of other kinds.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from io import SEEK_END
from typing import Any, BinaryIO

from threads.domain.part import JSON

from . import json_file, json_text, source
from .source import ByteSpan

MAX_BYTES = 64 << 20
"""A larger file is not skimmed: only its first bytes can show what it is."""
WHOLE = 1 << 20
"""The size in bytes of the longest piece that is parsed whole before it is shortened."""
TEXT = 500
"""How many characters are kept of a text."""
ALIKE, ELEMENTS = 2, 40
"""How many records of the same shape are kept, and how many in all."""
TEXTS = 3
"""How many texts of a list are kept: just two might be a question and its answer."""
LOOKED_AT = 5_000
"""How many elements of a list, or members of an object, are looked at."""
DEEPEST = 6


def skim_file(file: BinaryIO) -> bytes:
    """JSON or JSON Lines of the same shape as a file; empty if it is neither, or is too large."""
    size = file.seek(0, SEEK_END)
    if not size or size > MAX_BYTES:
        return b""
    if json_file.is_lines(file, 2):
        lines = (line.span for line in source.lines(file))
        return b"\n".join(map(json_text.dump, _few(_short(file, one) for one in lines)))
    found = _short(file, json_file.whole(file))
    return json_text.dump(found) if isinstance(found, (dict, list)) else b""


def _short(file: BinaryIO, span: ByteSpan, depth: int = 0) -> JSON:
    """The shortened value at a place; None if it can't be read."""
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
    """The first values of each shape, in order."""
    seen = Counter[Hashable]()
    for _, value in zip(range(LOOKED_AT), values, strict=False):
        seen[shape := _shape(value)] += 1
        if seen[shape] <= (TEXTS if isinstance(value, str) else ALIKE):
            yield value
        if sum(min(count, ALIKE) for count in seen.values()) >= ELEMENTS:
            return


def _shape(value: Any) -> Hashable:
    """The shape of a value: of an object, its member names, its type and its role."""
    if not isinstance(value, dict):
        return type(value).__name__
    kinds = (value.get("type"), value.get("role"))
    return (frozenset(value), *(one for one in kinds if isinstance(one, str)))
