"""Spans of text inside messages: what replace and redact hold, and how messages then read.

Offsets count in the text of a part (`threads.domain.text`). The line break between two of its
pieces is not text itself: a change that covers it empties both pieces up to it.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from threads.domain.part import Opaque, Part, Text, Thinking, ToolCall, ToolResult
from threads.domain.text import PIECE_SEPARATOR, pieces_of, text_of

from .key import Key

MASK = "[redacted]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A stretch of the text of one part, and what is read in its place.

    `start` and `end` count code points, `end` exclusive. `sha256` is the hex digest of the text
    covered (see `fingerprint`). `saved` is how many tokens the change saves, as counted when it
    was recorded; negative if it adds some.
    """

    key: Key
    part: int
    start: int
    end: int
    sha256: str
    text: str = ""
    saved: int = 0


class SpanChange(NamedTuple):
    """A span in force on a message. `redacted` says that it is a mask."""

    part: int
    start: int
    end: int
    text: str
    operation: int
    redacted: bool
    saved: int


def fingerprint(text: str) -> str:
    """The SHA-256 of a text in hex; lone surrogates are allowed."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def covered_text(parts: Sequence[Part], span: Span) -> str | None:
    """The text that a span covers; None if the parts have no such place."""
    if not 0 <= span.part < len(parts) or not 0 <= span.start < span.end:
        return None
    text = text_of(parts[span.part])
    return text[span.start : span.end] if span.end <= len(text) else None


def covered_pieces(parts: Sequence[Part], span: Span) -> list[str]:
    """The text that a span covers in each piece of a part, if it covers several; else empty."""
    if covered_text(parts, span) is None:
        return []
    found, offset = [], 0
    for piece in pieces_of(parts[span.part]):
        start, end = max(0, span.start - offset), span.end - offset
        if start < min(end, len(piece)):
            found.append(piece[start:end])
        offset += len(piece) + len(PIECE_SEPARATOR)
    return found if len(found) > 1 else []


def span_matches(parts: Sequence[Part], span: Span) -> bool:
    """Whether a span covers exactly the text that it was recorded for."""
    text = covered_text(parts, span)
    return text is not None and fingerprint(text) == span.sha256


def find_text_spans(
    key: Key, parts: Sequence[Part], texts: Mapping[str, str]
) -> Iterator[Span]:
    """Spans for every occurrence of these texts in a message, longest first, without overlaps.

    `texts` maps each text to what is read in its place.
    """
    longest = sorted(texts, key=len, reverse=True)
    for place, part in enumerate(parts):
        words, taken = text_of(part), list[range]()
        for text in longest:
            start = words.find(text)
            while start >= 0:
                end = start + len(text)
                if all(end <= one.start or one.stop <= start for one in taken):
                    taken.append(range(start, end))
                    yield Span(
                        key=key,
                        part=place,
                        start=start,
                        end=end,
                        sha256=fingerprint(text),
                        text="" if texts[text] == MASK else texts[text],
                    )
                start = words.find(text, end)


def overlapping_pairs(spans: Iterable[tuple[int, Span]]) -> Iterator[tuple[int, int]]:
    """Pairs of overlapping spans, each named by the number it is given with."""
    ordered = sorted(
        ((span.key, span.part), span.start, span.end, number) for number, span in spans
    )
    last_end: tuple[tuple[Key, int], int, int] | None = None
    for place, start, end, number in ordered:
        if last_end and last_end[0] == place and start < last_end[1]:
            yield last_end[2], number
            if end <= last_end[1]:
                continue
        last_end = place, end, number


def apply_span_changes(
    parts: Sequence[Part], changes: Iterable[SpanChange]
) -> tuple[Part, ...]:
    """The parts as they read under changes that don't overlap.

    A change to reasoning drops its signature, which covers the exact text.
    """
    of_part: dict[int, list[SpanChange]] = {}
    for change in changes:
        of_part.setdefault(change.part, []).append(change)
    return tuple(
        _rewrite(part, sorted(of_part[place])) if place in of_part else part
        for place, part in enumerate(parts)
    )


def _rewrite(part: Part, changes: list[SpanChange]) -> Part:
    pieces = pieces_of(part)
    changed = list(pieces)
    for change in reversed(changes):
        offset, text = 0, change.text
        for place, piece in enumerate(pieces):
            start, end = change.start - offset, change.end - offset
            offset += len(piece) + len(PIECE_SEPARATOR)
            if start >= len(piece) or end <= 0:
                continue
            now = changed[place]
            changed[place] = now[: max(0, start)] + text + now[min(end, len(piece)) :]
            text = ""
    return _with_pieces(part, iter(changed))


def _with_pieces(part: Part, pieces: Iterator[str]) -> Part:
    match part:
        case Text():
            return Text(next(pieces))
        case Thinking():
            return Thinking(next(pieces), data=part.data, signer=part.signer)
        case ToolCall():
            # Dropped: the text of the arguments as received still contains what was changed.
            arguments = _with_strings(part.arguments, pieces)
            return replace(part, arguments=arguments, text=None)
        case ToolResult():
            content = tuple(_with_pieces(item, pieces) for item in part.content)
            return replace(part, content=content)  # type: ignore[arg-type]  # as it was
        case Opaque():
            return replace(part, data=_with_strings(part.data, pieces))
        case _:
            return part


def _with_strings(value: Any, strings: Iterator[str]) -> Any:
    if isinstance(value, str):
        return next(strings)
    if isinstance(value, list):
        return [_with_strings(item, strings) for item in value]
    if isinstance(value, dict):
        changed = {name: _with_strings(value[name], strings) for name in sorted(value)}
        return {name: changed[name] for name in value}
    return value
