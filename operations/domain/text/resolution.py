"""Resolves a batch of patterns: which matches it takes, and all its faults.

All faults are collected, so that whoever wrote the patterns can fix them at once; nothing is
applied unless everything can be.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from contextstudio.accounts.domain.errors import Conflict, DomainError, Invalid
from operations.domain.tree.key import entry_key

from .pattern import (
    FLOOR,
    MAX_MATCHES,
    Hits,
    Pattern,
    PatternMatch,
    SimilarText,
    candidates,
    find_matches,
    most_similar,
    quoted,
)
from .reading import PartReading

MAX_NAMED = 100
"""The most matches that a fault names, and the most overlaps that are reported."""
MAX_SOUGHT = 5
"""For how many patterns without matches similar words are looked for."""
MAX_REPEATED = 4_000_000
"""How many characters of replacements a batch may repeat, not counting the first copy of each.
Without a limit, a request of some kilobytes could expand to gigabytes."""
Readings = Callable[[], Iterable[PartReading]]
"""Reads what is searched, from the beginning each time, so that whole threads needn't be kept in
memory."""


@dataclass(frozen=True, slots=True)
class PatternFault:
    """Why pattern number `pattern` of a batch (from 0) can't be applied."""

    code: str
    pattern: int
    message: str
    matches: tuple[PatternMatch, ...] = ()
    similar: tuple[str, ...] = ()
    operations: tuple[int, ...] = ()
    """The numbers of the operations that already hold the text."""


@dataclass(frozen=True, slots=True)
class ResolvedPatterns:
    """The matches to change, pattern by pattern, and all faults."""

    matches: tuple[PatternMatch, ...]
    faults: tuple[PatternFault, ...]
    cut: bool = False
    """Whether there are more matches than are taken at a time."""


def resolve_patterns(
    readings: Readings,
    patterns: Sequence[Pattern],
    *,
    floor: int = FLOOR,
    partly: bool = False,
) -> ResolvedPatterns:
    """Resolve a batch of patterns to the matches it takes, and all its faults.

    With `partly`, only the first matches are taken if there are too many.
    """
    hits = find_matches(readings(), patterns, partly=partly)
    cut = partly and any(found.count > MAX_MATCHES for found in hits)
    if partly:
        hits = [_first(found) for found in hits]
    chosen: list[PatternMatch] = []
    considered: list[PatternMatch] = []
    faults = [*_missing(readings, patterns, hits)]
    for place, (pattern, found) in enumerate(zip(patterns, hits, strict=True)):
        matches = found.matches
        taken, unclear = _choose(pattern, found)
        said = _naming(place, pattern)
        if matches and unclear:
            named = tuple(matches[:MAX_NAMED]) if len(matches) <= MAX_MATCHES else ()
            faults.append(PatternFault("ambiguous", place, f"{said} {unclear}", named))
        chosen += taken
        considered += taken or matches[:MAX_NAMED]
        faults += _too_short(said, taken or matches, floor, all_of_them=not taken)
        faults += _held(said, taken)
    faults += _too_long(patterns, chosen)
    faults += _overlaps(patterns, considered)
    return ResolvedPatterns(
        tuple(chosen), tuple(sorted(faults, key=lambda one: one.pattern)), cut
    )


def patterns_refusal(faults: Sequence[PatternFault]) -> DomainError:
    """The exception to raise if a batch has faults, with one error for each.

    It is a Conflict if every fault is text held by recorded operations, else Invalid.
    """
    holders = sorted({number for fault in faults for number in fault.operations})
    kind = Conflict if all(fault.operations for fault in faults) else Invalid
    facts = {"operations": [entry_key(number) for number in holders]}
    return kind(
        faults[0].message,
        at=("patterns", faults[0].pattern),
        code=faults[0].code,
        facts=facts if holders else {},
        errors=[
            kind(
                fault.message,
                at=("patterns", fault.pattern),
                code=fault.code,
                facts=_facts(fault),
            )
            for fault in faults
        ],
    )


def _first(found: Hits) -> Hits:
    """The matches that may be taken at once, without the extra one that shows there are more."""
    if found.count <= MAX_MATCHES:
        return found
    return replace(found, matches=found.matches[:-1], count=MAX_MATCHES)


def _choose(pattern: Pattern, found: Hits) -> tuple[Sequence[PatternMatch], str]:
    """The matches that a pattern takes, or why it isn't clear which."""
    matches, count = found.matches, found.count
    if pattern.occurrence is not None and pattern.occurrence <= min(count, MAX_MATCHES):
        return [matches[pattern.occurrence - 1]], ""
    if count > MAX_MATCHES:
        return [], f"has more than {MAX_MATCHES:,} matches; give a longer start or end."
    if pattern.occurrence is not None:
        return (
            [],
            f"has {_matches(count)}; there is no occurrence {pattern.occurrence}.",
        )
    if count > 1 and not pattern.every:
        which = f"choose one by occurrence, 1 to {count}, or set all to true"
        return [], f"has several matches, {count:,} in all; {which}."
    return matches, ""


def _too_short(
    said: str, matches: Sequence[PatternMatch], floor: int, *, all_of_them: bool
) -> Iterator[PatternFault]:
    """A fault for matches below the floor; if none was taken, only if all are below it."""
    short = [match for match in matches if match.length < floor]
    if not short or (all_of_them and len(short) < len(matches)):
        return
    lengths = sorted({match.length for match in short})
    figures = f"{lengths[0]}" + (f" to {lengths[-1]}" if len(lengths) > 1 else "")
    many = f"{_matches(len(short))} of {figures} characters"
    message = f"{said} is too short, {many}: minimum {floor} characters."
    yield PatternFault("too_short", short[0].pattern, message, tuple(short[:MAX_NAMED]))


def _held(said: str, matches: Iterable[PatternMatch]) -> Iterator[PatternFault]:
    """A fault for matches whose text another operation holds."""
    held = [match for match in matches if match.holders]
    if held:
        numbers = sorted({number for match in held for number in match.holders})
        listed = ", ".join(map(entry_key, numbers))
        yield PatternFault(
            code="overlap",
            pattern=held[0].pattern,
            message=f"{said} is overlapping with text that {listed} already changes.",
            matches=tuple(held[:MAX_NAMED]),
            operations=tuple(numbers),
        )


def _too_long(
    patterns: Sequence[Pattern], chosen: Iterable[PatternMatch]
) -> Iterator[PatternFault]:
    """A fault for the first pattern at which the inserted text exceeds the limit, if any."""
    repeated = 0
    for place, count in sorted(Counter(match.pattern for match in chosen).items()):
        size = len(patterns[place].replacement)
        repeated += (count - 1) * size
        if repeated > MAX_REPEATED:
            said = _naming(place, patterns[place])
            message = (
                f"{said} has {_matches(count)} and would insert {size:,} characters for each: a "
                f"batch may repeat at most {MAX_REPEATED:,} characters."
            )
            yield PatternFault("too_long", place, message)
            return


def _missing(
    readings: Readings, patterns: Sequence[Pattern], hits: Sequence[Hits]
) -> Iterator[PatternFault]:
    """Faults for patterns that match nothing, with similar words that are there."""
    lost: dict[int, str] = {}
    for place, (pattern, found) in enumerate(zip(patterns, hits, strict=True)):
        if not found.matches:
            lost[place] = (found.has_start and pattern.end) or pattern.start
    literal = {n: words for n, words in lost.items() if not patterns[n].expression}
    near = _similar(readings, dict(list(literal.items())[:MAX_SOUGHT]))
    for place, words in lost.items():
        if place not in literal:
            said = f"{_naming(place, patterns[place])} matches nothing that is shown."
            yield PatternFault("not_found", place, said)
            continue
        said = f"{_naming(place, patterns[place])} is not found: {quoted(words)} is not"
        where = "after its start in the same part" if hits[place].has_start else "shown"
        alike = near.get(place, ())
        also = f" Similar: {', '.join(map(quoted, alike))}." if alike else ""
        yield PatternFault(
            code="not_found",
            pattern=place,
            message=f"{said} {where}.{also}",
            similar=alike,
        )


def _similar(readings: Readings, lost: dict[int, str]) -> dict[int, tuple[str, ...]]:
    found: dict[int, list[SimilarText]] = {place: [] for place in lost}
    for reading in readings() if lost else ():
        for place, words in lost.items():
            found[place] += candidates(reading.text, words)
    return {place: most_similar(found[place], words) for place, words in lost.items()}


def _overlaps(
    patterns: Sequence[Pattern], matches: Iterable[PatternMatch]
) -> Iterator[PatternFault]:
    """Faults for pairs of matches that share text."""
    found = 0
    last: PatternMatch | None = None
    for match in sorted(matches, key=lambda one: (one.place, one.start, one.end)):
        if last and last.place == match.place and match.start < last.end:
            found += 1
            if found <= MAX_NAMED:
                pair = sorted((last, match), key=lambda one: one.pattern)
                yield _overlap(patterns, *pair)
            if match.end <= last.end:
                continue
        last = match


def _overlap(
    patterns: Sequence[Pattern], one: PatternMatch, other: PatternMatch
) -> PatternFault:
    shared = min(one.end, other.end) - max(one.start, other.start)
    first = _naming(one.pattern, patterns[one.pattern])
    second = _naming(other.pattern, patterns[other.pattern])
    message = (
        f"{second} is overlapping with {first[0].lower()}{first[1:]}:"
        f" {shared:,} characters of {one.key} are in both."
    )
    return PatternFault("overlap", other.pattern, message, (one, other))


def _facts(fault: PatternFault) -> dict[str, object]:
    """The details of a fault for programs."""
    facts: dict[str, object] = {}
    if fault.matches:
        facts["matches"] = [match.facts for match in fault.matches]
    if fault.similar:
        facts["similar"] = list(fault.similar)
    if fault.operations:
        facts["operations"] = [entry_key(number) for number in fault.operations]
    return facts


def _naming(place: int, pattern: Pattern) -> str:
    return f"Pattern {place + 1} ({pattern.words})"


def _matches(count: int) -> str:
    return f"{count:,} match{'es' if count > 1 else ''}"
