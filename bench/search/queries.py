"""Search against a LIKE scan, and the cost of an index: `python -m bench.search.queries [COUNT]`.

D2: what the index finds (ids of bodies) for a rare and for an absent text, and a whole search (a
page of 20 matches as a caller gets it) for every kind of pattern, against `count(*)` with LIKE over
the same folded texts without an index. D4: appending messages one by one to a session and then
bringing the index up to date, against appending alone. On SQLite, and on PostgreSQL if one is
available; the size of the index is that of its tables and indexes.
"""

import sys
from collections.abc import Iterator

from bench import processes
from bench.context.replay import Row

USUAL, FULL = 100_000, 1_000_000
FASTER = 200
"""Only at full size: a scan grows with the texts, an index lookup doesn't."""


def rows() -> Iterator[Row]:
    """The rows at a tenth of the size."""
    yield from _both(USUAL)


def soak() -> Iterator[Row]:
    """The rows at a million messages."""
    yield from _both(FULL)


def _both(count: int) -> Iterator[Row]:
    yield from _rows("SQLite", count, _measured("", count))
    server = processes.postgresql()
    if server is None:
        yield Row("D2 on PostgreSQL: none answers", "", "", None)
        return
    with processes.Scratch(server) as url:
        yield from _rows("PostgreSQL", count, _measured(url, count))


def _rows(
    database: str, count: int, found: dict[str, dict[str, float]]
) -> Iterator[Row]:
    for name in ("rare", "absent"):
        one = found[name]
        ratio = one["scan"] / one["index"]
        figure = f"{ratio:.0f} ({1e3 * one['index']:.2f} ms)"
        yield Row(
            f"D2 {name}, {database}, LIKE / index",
            figure,
            f">= {FASTER}",
            ratio >= FASTER if count >= FULL else None,
        )
    for name, one in found.items():
        if "search" in one:
            ratio = one["search"] / one["scan"]
            figure = f"{ratio:.2f} ({1e3 * one['search']:.1f} ms)"
            met = ratio <= 1 if count >= FULL else None
            yield Row(f"D2 {name}, {database}, search / LIKE", figure, "<= 1", met)
    size, build, append = found["size"], found["build"], found["append"]
    figure = (
        f"{size['index'] / size['text']:.1f} x text, {size['index'] / 2**20:.0f} MB"
    )
    yield Row(f"Size of the index, {database}", figure, "", None)
    yield Row(
        f"Catching up, {database}",
        f"{count / build['seconds']:,.0f} bodies/s",
        "",
        None,
    )
    ratio = append["alone"] / append["indexed"]
    yield Row(
        f"D4 append with catching up / alone, {database}",
        f"{ratio:.2f} ({1e3 * append['alone'] / append['messages']:.1f} ms)",
        ">= 0.5",
        ratio >= 0.5,
    )


def _measured(database_url: str, count: int) -> dict[str, dict[str, float]]:
    """The figures from a process with its own data folder and database."""
    found: dict[str, dict[str, float]] = processes.figures(
        "bench.search.queries_process", count, database_url=database_url
    )
    return found


if __name__ == "__main__":
    for row in _both(int(sys.argv[1]) if sys.argv[1:] else USUAL):
        print(f"{row.name:52} {row.value:>24} {row.bar:>8} {row.ok}", flush=True)
