"""Patterns: text from a start to the nearest end behind it, to be replaced or masked.

They are literal, both markers are in what they match, and they are searched in what the
thread shows, part by part. The cost is that of plain searches for the markers: it
grows with the text, not with what the patterns are made of. A person may give an `Expression`
instead, which bounds its own time.

For one who mistyped or misremembered, words that are almost those of a pattern are found: runs
of three letters vote for where they may stand, and only the places with most votes are
compared. That costs a few dozen plain searches, whatever text and words are.
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
"""Characters that an agent's replacement at least takes away; a redaction may be shorter."""
MOST = 1000
"""Matches that one pattern may have, or that are taken of it at a time."""
AROUND = 24
"""Characters of an excerpt on either side of a match."""
INSIDE = 100
"""Characters of an excerpt inside of a match."""


class Stretch(NamedTuple):
    """What a pattern matches of a text, and what is to be read in its place."""

    start: int
    end: int
    replacement: str


class Expression(Protocol):
    """Something other than plain text that can be searched for."""

    def find(self, text: str) -> Iterator[Stretch]:
        """The stretches of a text that it matches, from the first on, none in another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """What to match, and what is to be read in its place.

    Without an `end`, `start` alone is all of it. Of several matches `occurrence`, from 1,
    takes one, and `every` takes all. With an `expression` `start` only says how it is written.
    """

    start: str
    expression: Expression | None = None
    end: str | None = None
    replacement: str = ""
    occurrence: int | None = None
    every: bool = False

    @property
    def words(self) -> str:
        """The pattern in a sentence."""
        if self.expression is not None:
            return f"expression {quoted(self.start)}"
        end = "" if self.end is None else f" to {quoted(self.end)}"
        return f"{quoted(self.start)}{end}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextEditRequest:
    """What is asked for: patterns to search, or spans by their places.

    A span without a fingerprint takes whatever stands there.
    """

    kind: type[TextEdit]
    patterns: tuple[Pattern, ...] = ()
    spans: tuple[Span, ...] = ()
    include_folded: bool = False
    condition: Condition = ALWAYS
    floor: int = 1
    """The characters that it changes at least."""

    def edit(self, spans: Iterable[Span]) -> Replace | Redact:
        """The edit that changes these spans."""
        return self.kind(spans=tuple(spans), condition=self.condition)


def cut(text: str) -> str:
    """A text as an excerpt prints it: of a long one the beginning and the end."""
    if len(text) <= INSIDE:
        return text
    half = INSIDE // 2
    return f"{text[:half]} … {text[-half:]}"


@dataclass(frozen=True, slots=True)
class PatternMatch:
    """What pattern number `pattern` of a batch matches: a stretch of what a part reads."""

    pattern: int
    reading: PartReading
    start: int
    end: int
    replacement: str = ""

    @property
    def key(self) -> Key:
        """The message that it is in."""
        return self.reading.key

    @property
    def place(self) -> tuple[Key, int]:
        """The message and the part that it is in."""
        return self.reading.key, self.reading.part

    @property
    def length(self) -> int:
        """Its characters."""
        return self.end - self.start

    @property
    def text(self) -> str:
        """What it covers."""
        return self.reading.text[self.start : self.end]

    @property
    def holders(self) -> tuple[int, ...]:
        """Operations that hold some of its text already: it can't be changed as well."""
        return self.reading.holders(self.start, self.end)

    @property
    def excerpt(self) -> tuple[str, str, str]:
        """What stands before it, it, and what stands behind, each cut to be printed."""
        text, start, end = self.reading.text, self.start, self.end
        before = ("…" if start > AROUND else "") + text[max(0, start - AROUND) : start]
        behind = text[end : end + AROUND] + ("…" if end + AROUND < len(text) else "")
        return before, cut(text[start:end]), behind

    @property
    def facts(self) -> dict[str, object]:
        """What programs are told of it; `start` and `end` as recorded, where it is not changed."""
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
        """The span to record; only of what no operation holds."""
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
    """What one pattern found: its first matches, or else whether its start is there.

    `count` is how many of them count towards the most that it may have.
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
    """What each pattern matches, at most one more than it may.

    `partly`: only those count that can be changed, so that the next can be had once the first
    have been.
    """
    hits = [Hits() for _ in patterns]
    for reading in readings if hits else ():
        for place, (pattern, found) in enumerate(zip(patterns, hits, strict=True)):
            if found.count > MOST:
                continue
            for stretch in _stretches(reading.text, pattern):
                match = PatternMatch(place, reading, *stretch)
                found.matches.append(match)
                found.count += not (partly and match.holders)
                if found.count > MOST:
                    break
            if not (found.matches or found.has_start or pattern.expression):
                found.has_start = pattern.start in reading.text
    return hits


def _stretches(text: str, pattern: Pattern) -> Iterator[Stretch]:
    """The stretches that a pattern matches, from the first on, none in another."""
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
    """Words as a sentence quotes them: on one line, and not too many."""
    line = words.replace("\n", "⏎")
    return f'"{line if len(line) <= 60 else line[:59] + "…"}"'


RUN = 3
MOST_RUNS = 32
MOST_HITS = 400
"""Places of one run that are looked at in a text; a run with more says nothing."""
LONGEST = 100
"""Characters of the words, from the first on, that are compared."""
PLACES = 3
"""Places of one text that are considered."""
MOST_COMPARED = 12
MOST_NAMED = 3
ALIKE = 0.6
"""How alike words must be, from 0 to 1, to be worth naming."""


class SimilarText(NamedTuple):
    """Text that may be like the words: how many runs of theirs it has in place."""

    votes: int
    text: str


def candidates(text: str, words: str) -> list[SimilarText]:
    """Where a text may have something like the words, which it does not have."""
    words = words.strip()[:LONGEST]
    folded, wanted = _folded(text), _folded(words)
    votes = Counter[int]()
    step = max(1, len(wanted) // MOST_RUNS)
    for offset in range(0, len(wanted) - RUN + 1, step):
        votes.update(_hits(folded, wanted[offset : offset + RUN], offset))
    return [
        SimilarText(count, text[place : place + len(words)].strip())
        for place, count in votes.most_common(PLACES)
    ]


def likest(found: Iterable[SimilarText], words: str) -> tuple[str, ...]:
    """The candidates that are most like the words, the likest first."""
    wanted = _folded(words.strip()[:LONGEST])
    best = nlargest(MOST_COMPARED, set(found))
    alike = {
        text: SequenceMatcher(None, _folded(text), wanted, autojunk=False).ratio()
        for _, text in best
    }
    near = sorted((-ratio, text) for text, ratio in alike.items() if ratio >= ALIKE)
    return tuple(text for _, text in near[:MOST_NAMED])


def _hits(text: str, run: str, offset: int) -> list[int]:
    """Where the words would begin if a run of theirs were in its place; none of too many."""
    hits: list[int] = []
    at = text.find(run)
    while at >= 0:
        if len(hits) == MOST_HITS:
            return []
        hits.append(max(0, at - offset))
        at = text.find(run, at + 1)
    return hits


def _folded(text: str) -> str:
    """The text in lower case, each letter in its place: only İ would become two."""
    return text.replace("İ", "I").lower()
