"""Search patterns: rare, absent and common, of one character and of many."""

import math
import time
from collections.abc import Callable
from itertools import product

NEEDLE = "zqv-needle-4711"
PATTERNS = {
    "rare": NEEDLE,
    "absent": "wholly absent words",
    "absent punctuation": "}{<>%%",
    "absent, of common words": "before the limit of session 77 is local",
    "common": "the ",
    "three characters": "zqv",
    "two characters": "th",
    "two characters, rare": "qv",
    "two characters, absent": "q~",
    "one character": "e",
}
ROUNDS = 5


def timed(
    scan: Callable[[str], object],
    index: Callable[[str], object],
    search: Callable[[str], object],
) -> dict[str, dict[str, float]]:
    """The least seconds by pattern of a scan, of the index and of a whole search.

    Each goes through all patterns before the next one does: a server answers searches after other
    searches. It never scans, which would evict what the index reads from every cache.
    """
    found: dict[str, dict[str, float]] = {name: {} for name in PATTERNS}
    works = {"scan": scan, "search": search, "index": index}
    for _, (work, ask), (name, words) in product(
        range(ROUNDS), works.items(), PATTERNS.items()
    ):
        begun = time.perf_counter()
        ask(words)
        took = time.perf_counter() - begun
        found[name][work] = min(took, found[name].get(work, math.inf))
    return found
