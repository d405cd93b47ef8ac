"""What rows and pages cost on the server: `python -m bench.pages.drawing`.

The warm half of row R4 of docs/performance.md: 200 rows of the thread from the cache of finished
rows, against the same rows rendered without any cache, including bodies. Everything counts that a
chunk's view does between the replayed thread and the HTML; the rows are asserted to be equal, byte
for byte. Figures are the least of several rounds in one process (`bench.pages.drawing_process`).
The pages are served with all middleware, by a process that has served them before.
"""

from collections.abc import Iterator

from bench import processes
from bench.context.replay import Row

ROWS = 200
SIZES = (200, 10_000, 100_000)


def rows() -> Iterator[Row]:
    """Row R4 of docs/performance.md, and pages of long sessions against that of a short one."""
    found = processes.figures("bench.pages.drawing_process")
    ratio = found["uncached"] / found["warm"]
    figure = f"1/{ratio:.0f} ({1000 * found['warm']:.2f} ms)"
    yield Row(f"R4 {ROWS} warm rows / without any cache", figure, "1/50", ratio >= 50)
    ratio = found["templates"] / found["warm"]
    yield Row("R4 the same / from ready bodies", f"1/{ratio:.0f}", "", None)
    short = found["pages"][str(SIZES[0])]
    for size in SIZES[1:]:
        page = found["pages"][str(size)]
        figure = f"{page / short:.2f} x ({1000 * page:.0f} ms)"
        yield Row(f"page of {size:,} messages / of {SIZES[0]}", figure, "", None)


if __name__ == "__main__":
    for row in rows():
        print(f"{row.name:52} {row.value:>20} {row.bar:>8} {row.ok}")
