"""What hindsight of a long session costs: `python -m bench.hindsight.checking`.

A session of 10,000 messages under 1,000 operations of all kinds (`bench.context.hook_process`). All
of `GET hindsight` from nothing (log read and replayed, texts read, references found) against
reading the texts once: the thread's messages from the database, decoded. Each is the least CPU time
of interleaved rounds, with all caches emptied before.
"""

from collections.abc import Iterator

from bench import processes
from bench.context.replay import Row

MAX_RATIO = 2.0


def rows() -> Iterator[Row]:
    """The check against reading, and what it found."""
    found = processes.figures("bench.hindsight.checking_process")
    ratio = found["check"] / found["read"]
    yield Row(
        "hindsight of 10,000 × 1,000 / reading the texts once",
        f"{ratio:.2f} × ({1000 * found['check']:.0f} ms)",
        f"≤ {MAX_RATIO:.0f} ×",
        ratio <= MAX_RATIO,
    )
    changed = found["changed"] / found["read"]
    yield Row("… after one more operation", f"{changed:.2f} ×", "", None)
    lost = f"{found['lost']:,} of {found['references']:,}"
    yield Row("… references lost", lost, "", None)


if __name__ == "__main__":
    for row in rows():
        print(f"{row.name:56} {row.value:>20} {row.bar:>6}", flush=True)
