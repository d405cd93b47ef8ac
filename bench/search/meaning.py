"""Search by meaning: `python -m bench.search.meaning [COUNT]`.

So many messages of about 270 characters, no two alike: how long their vectors take to be made,
what a page of 20 nearest costs as a caller gets it, beside reading the texts once, and what the
process grows by. CPU time, on SQLite, and on PostgreSQL where one answers.
"""

import sys
from collections.abc import Iterator

from bench import apart
from bench.context.replay import Row

COUNT = 100_000


def rows(count: int = COUNT) -> Iterator[Row]:
    """On both databases."""
    yield from _rows("SQLite", "", count)
    server = apart.postgresql()
    if server is not None:
        with apart.Scratch(server) as url:
            yield from _rows("PostgreSQL", url, count)


def _rows(database: str, url: str, count: int) -> Iterator[Row]:
    found: dict[str, float] = apart.figures(
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
