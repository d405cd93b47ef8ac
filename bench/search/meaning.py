"""Search by meaning: `python -m bench.search.meaning [COUNT]`.

Messages of about 270 characters, all different: how long computing their vectors takes, what a page
of the 20 nearest costs a caller, against reading the texts once, and how much the process grows.
CPU time, on SQLite, and on PostgreSQL if one is available.
"""

import sys
from collections.abc import Iterator

from bench import processes
from bench.context.replay import Row

COUNT = 100_000


def rows(count: int = COUNT) -> Iterator[Row]:
    """The rows for both databases."""
    yield from _rows("SQLite", "", count)
    server = processes.postgresql()
    if server is not None:
        with processes.Scratch(server) as url:
            yield from _rows("PostgreSQL", url, count)


def _rows(database: str, url: str, count: int) -> Iterator[Row]:
    found: dict[str, float] = processes.figures(
        "bench.search.meaning_process", count, database_url=url
    )
    ratio = found["search"] / found["reading"]
    figure = f"{ratio:.2f} ({1e3 * found['search']:.0f} ms)"
    yield Row(f"Meaning, {count:,}, {database}: search / reading", figure, "", None)
    texts = f"{count / found['making']:,.0f} texts/s"
    yield Row(f"Meaning, {database}: making vectors", texts, "", None)
    size = f"{found['bytes'] / count:.0f} bytes a text"
    yield Row(f"Meaning, {database}: size", size, "", None)
    grown = f"{found['model']:.0f} MB, {found['question']:.0f} MB"
    yield Row(f"Meaning, {database}: memory, model and search", grown, "", None)


if __name__ == "__main__":
    for row in rows(int(sys.argv[1]) if sys.argv[1:] else COUNT):
        print(f"{row.name:52} {row.value:>24} {row.bar:>8} {row.ok}", flush=True)
