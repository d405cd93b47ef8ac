"""Words that are almost those somebody looks for: for one who mistyped or misremembered.

Runs of three letters vote for where the words may stand; only the places with most votes
are compared. The cost is that of a few dozen plain searches, whatever text and words are.
"""

from collections import Counter
from collections.abc import Iterable
from difflib import SequenceMatcher
from heapq import nlargest
from typing import NamedTuple

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
