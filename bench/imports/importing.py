"""What importing costs: `python -m bench.imports.importing`. D1 and the plan's import rows.

D1: the rows of 10,000 messages (their bodies stored before), written as `threads.store.recording`
writes them, against `bulk_create` of the same rows into the same tables; on SQLite, and on
PostgreSQL if one is available. Imports: a file on disk, imported by a process without a job, up to
the commit that shows it, against `json.loads` of each of its lines (for a list: of the same
messages, one per line); tokens are not counted. Rounds are interleaved; each figure is the ratio of
the least wall-clock times. One import runs before the first that counts, so that the reading
process exists.
"""

from collections.abc import Iterator

from bench import processes
from bench.context.replay import Row

D1_BARS = {"PostgreSQL": 5, "SQLite": 3}
BARS = {
    "Claude Code": 1 / 3,
    "Codex": 1 / 3,
    "10,000 short, JSON Lines": 1 / 6,
    "10,000 short, a list": 1 / 6,
}


def rows() -> Iterator[Row]:
    """D1 on both databases, then the imports on SQLite."""
    found = _measured("")
    yield from _d1("SQLite", found)
    server = processes.postgresql()
    if server is None:
        yield Row("D1 on PostgreSQL: none answers", "", "", None)
    else:
        with processes.Scratch(server) as url:
            yield from _d1("PostgreSQL", _measured(url))
    for name, bar in BARS.items():
        ratio = found[name]["json"] / found[name]["import"]
        each = found[name]["import"] / found[name]["messages"]
        figure = f"1/{1 / ratio:.1f} ({1e6 * each:.0f} µs)"
        yield Row(
            f"import / json.loads, {name}", figure, f"1/{1 / bar:.0f}", ratio >= bar
        )


def _d1(database: str, found: dict[str, dict[str, float]]) -> Iterator[Row]:
    one = found["D1"]
    ratio, bar = one["models"] / one["rows"], D1_BARS[database]
    figure = f"{ratio:.1f} ({1e6 * one['rows'] / one['messages']:.0f} µs)"
    yield Row(
        f"D1 message rows on {database}, x bulk_create",
        figure,
        f">= {bar}",
        ratio >= bar,
    )


def _measured(database_url: str) -> dict[str, dict[str, float]]:
    """The figures from a process with its own data folder and database."""
    found: dict[str, dict[str, float]] = processes.figures(
        "bench.imports.importing_process", database_url=database_url
    )
    return found


if __name__ == "__main__":
    for row in rows():
        print(f"{row.name:52} {row.value:>20} {row.bar:>8} {row.ok}", flush=True)
