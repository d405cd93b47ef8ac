"""Queries on an archive of many entries: `python -m bench.entries.finding [COUNT]`.

Recall: the entries of a reference against one entry by its primary key, both with their content and
by prepared statements. Lists: a page of 50, of one project and of all, for each facet of the page.
D2: what the index finds for a rare and for an absent text, and a page of 20 matches, for every kind
of pattern, against `count(*)` with LIKE over the same folded texts without an index. On SQLite, and
on PostgreSQL if one is available.
"""

import sys
from collections.abc import Iterator
from typing import Any

from bench import processes
from bench.context.replay import Row

USUAL, FULL = 100_000, 1_000_000
MAX_OF_A_KEY = 2.0
FASTER = 200
"""Only at full size: a scan grows with the entries, a search doesn't."""


def rows() -> Iterator[Row]:
    """The rows at a tenth of the size."""
    yield from _both(USUAL)


def soak() -> Iterator[Row]:
    """The rows at a million entries."""
    yield from _both(FULL)


def _both(count: int) -> Iterator[Row]:
    module = "bench.entries.finding_process"
    yield from _rows("SQLite", count, processes.figures(module, count))
    server = processes.postgresql()
    if server is None:
        yield Row("The archive on PostgreSQL: none answers", "", "", None)
        return
    with processes.Scratch(server) as url:
        found = processes.figures(module, count, database_url=url)
        yield from _rows("PostgreSQL", count, found)


def _rows(database: str, count: int, found: dict[str, Any]) -> Iterator[Row]:
    ratio = found["recall"]["reference"] / found["recall"]["key"]
    yield Row(
        f"Recall by reference / by primary key, {database}",
        f"{ratio:.2f} x",
        f"<= {MAX_OF_A_KEY:.0f} x",
        ratio <= MAX_OF_A_KEY,
    )
    for name, seconds in found["lists"].items():
        yield Row(f"Archive, {name}, {database}", f"{1e3 * seconds:.1f} ms", "", None)
    yield Row(
        f"Archive, of a path, {database}",
        f"{1e3 * found['of a path']:.1f} ms",
        "",
        None,
    )
    speed = count / found["build"]
    yield Row(f"Catching up, {database}", f"{speed:,.0f} entries/s", "", None)
    is_full = count >= FULL
    for name, one in found["words"].items():
        if name in ("rare", "absent"):
            ratio = one["scan"] / one["index"]
            met = ratio >= FASTER if is_full else None
            told = f"{ratio:.0f} ({1e3 * one['index']:.2f} ms)"
            title = f"D2 {name}, {database}, LIKE / index"
            yield Row(title, told, f">= {FASTER}", met)
        ratio = one["search"] / one["scan"]
        met = ratio <= 1 if is_full else None
        told = f"{ratio:.2f} ({1e3 * one['search']:.2f} ms)"
        yield Row(f"D2 {name}, {database}, search / LIKE", told, "<= 1", met)


if __name__ == "__main__":
    for row in _both(int(sys.argv[1]) if sys.argv[1:] else USUAL):
        print(f"{row.name:56} {row.value:>24} {row.bar:>8} {row.ok}", flush=True)
