"""Patterns: text from a start to the nearest end after it, to be replaced or masked.

Patterns are literal, a match includes both markers, and they are searched in what the thread
shows, part by part. The cost is that of plain searches for the markers: it grows with the text,
not with the patterns. A person may give an `Expression` instead, which bounds its own time.

For mistyped or misremembered patterns, similar words are found: runs of three letters vote for
where they may be, and only the places with the most votes are compared. This costs a few dozen
plain searches, whatever the text and the words.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from heapq import nlargest
from typing import NamedTuple, Protocol

from operations.domain.log.operation import ALWAYS, Condition, Redact, Replace, TextEdit
from operations.domain.tree.key import Key
from operations.domain.tree.span import Span, fingerprint

from .reading import PartReading

FLOOR = 30
"""The minimum number of characters that an agent's replacement matches; a redaction may be
shorter."""
MAX_MATCHES = 1000
"""The most matches of one pattern, or the most that are taken at a time."""
AROUND = 24
"""Characters of context that an excerpt shows on either side of a match."""
INSIDE = 100
"""Characters of the match that an excerpt shows."""


class Stretch(NamedTuple):
    """A stretch of text that a pattern matches, and what replaces it."""

    start: int
    end: int
    replacement: str


class Expression(Protocol):
    """Something other than literal text that can be searched for."""

    def find(self, text: str) -> Iterator[Stretch]:
        """The stretches of a text that it matches, in order and without overlaps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """What to match, and what replaces it.

    Without an `end`, `start` is the whole pattern. If there are several matches, `occurrence`
    (from 1) selects one, and `every` selects all. With an `expression`, `start` is only its
    written form.
    """

    start: str
    expression: Expression | None = None
    end: str | None = None
    replacement: str = ""
    occurrence: int | None = None
    every: bool = False

    @property
    def words(self) -> str:
        """The pattern as named in a sentence."""
        if self.expression is not None:
            return f"expression {quoted(self.start)}"
        end = "" if self.end is None else f" to {quoted(self.end)}"
        return f"{quoted(self.start)}{end}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextEditRequest:
    """A requested text edit: patterns to search, or spans given by place.

    A span without a fingerprint accepts any text.
    """

    kind: type[TextEdit]
    patterns: tuple[Pattern, ...] = ()
    spans: tuple[Span, ...] = ()
    include_folded: bool = False
    condition: Condition = ALWAYS
    floor: int = 1
    """The minimum number of characters of a match."""

    def edit(self, spans: Iterable[Span]) -> Replace | Redact:
        """The edit that changes these spans."""
        return self.kind(spans=tuple(spans), condition=self.condition)


def cut(text: str) -> str:
    """A text as an excerpt shows it: of a long one, the beginning and the end."""
    if len(text) <= INSIDE:
        return text
    half = INSIDE // 2
    return f"{text[:half]} … {text[-half:]}"


@dataclass(frozen=True, slots=True)
class PatternMatch:
    """A match of pattern number `pattern` of a batch: a stretch of a part as it reads."""

    pattern: int
    reading: PartReading
    start: int
    end: int
    replacement: str = ""

    @property
    def key(self) -> Key:
        """The key of its message."""
        return self.reading.key

    @property
    def place(self) -> tuple[Key, int]:
        """The key of its message and the index of its part."""
        return self.reading.key, self.reading.part

    @property
    def length(self) -> int:
        """Its length in characters."""
        return self.end - self.start

    @property
    def text(self) -> str:
        """The matched text."""
        return self.reading.text[self.start : self.end]

    @property
    def holders(self) -> tuple[int, ...]:
        """The operations that already hold some of its text, which therefore can't be changed."""
        return self.reading.holders(self.start, self.end)

    @property
    def excerpt(self) -> tuple[str, str, str]:
        """The text before, inside and after the match, each cut for display."""
        text, start, end = self.reading.text, self.start, self.end
        before = ("…" if start > AROUND else "") + text[max(0, start - AROUND) : start]
        behind = text[end : end + AROUND] + ("…" if end + AROUND < len(text) else "")
        return before, cut(text[start:end]), behind

    @property
    def facts(self) -> dict[str, object]:
        """The match for programs.

        `start` and `end` are as recorded; None if the text is changed.
        """
        before, text, behind = self.excerpt
        start, end = self.reading.recorded(self.start, self.end) or (None, None)
        return {
            "pattern": self.pattern,
            "key": self.key,
            "part": self.reading.part,
            "start": start,
            "end": end,
            "length": self.length,
            "excerpt": {"before": before, "text": text, "behind": behind},
        }

    def span(self) -> Span:
        """The span to record. Call it only if no operation holds the text."""
        start, end = self.reading.recorded(self.start, self.end) or (0, 0)
        return Span(
            key=self.key,
            part=self.reading.part,
            start=start,
            end=end,
            sha256=fingerprint(self.text),
            text=self.replacement,
        )


@dataclass(slots=True)
class Hits:
    """The matches of one pattern, or else whether its start was found.

    `count` is how many matches count towards the limit.
    """

    matches: list[PatternMatch] = field(default_factory=list)
    has_start: bool = False
    count: int = 0


def find_matches(
    readings: Iterable[PartReading],
    patterns: Sequence[Pattern],
    *,
    partly: bool = False,
) -> list[Hits]:
    """The matches of each pattern, up to one more than the limit.

    `partly`: only matches that can be changed count, so that the next ones can be taken once the
    first have been changed.
    """
    hits = [Hits() for _ in patterns]
    for reading in readings if hits else ():
        for place, (pattern, found) in enumerate(zip(patterns, hits, strict=True)):
            if found.count > MAX_MATCHES:
                continue
            for stretch in _stretches(reading.text, pattern):
                match = PatternMatch(place, reading, *stretch)
                found.matches.append(match)
                found.count += not (partly and match.holders)
                if found.count > MAX_MATCHES:
                    break
            if not (found.matches or found.has_start or pattern.expression):
                found.has_start = pattern.start in reading.text
    return hits


def _stretches(text: str, pattern: Pattern) -> Iterator[Stretch]:
    """The stretches that a pattern matches, in order and without overlaps."""
    if pattern.expression is not None:
        yield from pattern.expression.find(text)
        return
    start = text.find(pattern.start)
    while start >= 0:
        end = start + len(pattern.start)
        if pattern.end is not None:
            found = text.find(pattern.end, end)
            if found < 0:
                return
            end = found + len(pattern.end)
        yield Stretch(start, end, pattern.replacement)
        start = text.find(pattern.start, end)


def quoted(words: str) -> str:
    """Text as quoted in a sentence: on one line and not too long."""
    line = words.replace("\n", "⏎")
    return f'"{line if len(line) <= 60 else line[:59] + "…"}"'


RUN = 3
MAX_RUNS = 32
MAX_HITS = 400
"""The most occurrences of one run that are considered in a text; a run with more says nothing."""
MAX_EXCERPT_LENGTH = 100
"""How many leading characters of the words are compared."""
PLACES = 3
"""How many places of one text are considered."""
MAX_COMPARED = 12
MAX_NAMED = 3
ALIKE = 0.6
"""The minimum similarity, from 0 to 1, of words that are named."""


class SimilarText(NamedTuple):
    """Text that may be similar to the words, with the number of their runs that it has in place."""

    votes: int
    text: str


def candidates(text: str, words: str) -> list[SimilarText]:
    """The places of a text that may be similar to the words, which it doesn't contain."""
    words = words.strip()[:MAX_EXCERPT_LENGTH]
    folded, wanted = _folded(text), _folded(words)
    votes = Counter[int]()
    step = max(1, len(wanted) // MAX_RUNS)
    for offset in range(0, len(wanted) - RUN + 1, step):
        votes.update(_hits(folded, wanted[offset : offset + RUN], offset))
    return [
        SimilarText(count, text[place : place + len(words)].strip())
        for place, count in votes.most_common(PLACES)
    ]


def most_similar(found: Iterable[SimilarText], words: str) -> tuple[str, ...]:
    """The candidates most similar to the words, the best first."""
    wanted = _folded(words.strip()[:MAX_EXCERPT_LENGTH])
    best = nlargest(MAX_COMPARED, set(found))
    alike = {
        text: SequenceMatcher(None, _folded(text), wanted, autojunk=False).ratio()
        for _, text in best
    }
    near = sorted((-ratio, text) for text, ratio in alike.items() if ratio >= ALIKE)
    return tuple(text for _, text in near[:MAX_NAMED])


def _hits(text: str, run: str, offset: int) -> list[int]:
    """Where the words would begin if a run of theirs is in its place; empty if too frequent."""
    hits: list[int] = []
    at = text.find(run)
    while at >= 0:
        if len(hits) == MAX_HITS:
            return []
        hits.append(max(0, at - offset))
        at = text.find(run, at + 1)
    return hits


def _folded(text: str) -> str:
    """The text in lower case with offsets preserved; only İ would become two characters."""
    return text.replace("İ", "I").lower()
