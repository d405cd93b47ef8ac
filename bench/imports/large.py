"""What importing a large file needs in memory: `python -m bench.imports.large`, in `make soak`.

A Claude Code transcript of 1 GB (unique ids, one chain of records) is written into the data folder
and imported, as a job imports it, by a process that has loaded everything a server has. The figure
is how far its memory, together with that of the reading process, rises above its idle level, by the
kernel's own peak resident sizes.
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench import processes
from bench.context.replay import Row

from . import files

BYTES = 1_000_000_000
MAX_MB = 400
MAX_SECONDS = 0.25
"""How long the write lock may be held during the import."""
LINE_BYTES = 300_000_000
MAX_MB_OF_A_LINE = 600
NAME = "large.jsonl"


def soak() -> Iterator[Row]:
    """The number of messages and the memory; the data folder is removed."""
    with tempfile.TemporaryDirectory() as folder:
        count = write(Path(folder) / NAME, BYTES)
        found = processes.figures_over(Path(folder), "bench.imports.large_process")
    imported = found["messages"]
    seconds = f"{imported:,} ({found['seconds']:.0f} s)"
    name = f"messages of a JSONL of {BYTES / 1e9:.0f} GB"
    yield Row(name, seconds, f"{count:,}", imported == count == found["stored"])
    above = (found["peak"] - found["idle"]) / 1e6
    yield Row(
        "memory above the idle server's",
        f"{above:.0f} MB",
        f"< {MAX_MB} MB",
        0 < above < MAX_MB,
    )
    yield Row(
        "of it the process that reads", f"{found['reader'] / 1e6:.0f} MB", "", None
    )
    held = found["held"]
    yield Row(
        "longest that the write lock was held",
        f"{1000 * held:.0f} ms",
        f"<= {1000 * MAX_SECONDS:.0f} ms",
        0 < held <= MAX_SECONDS,
    )
    yield Row(
        "of it waiting for a processor", f"{1000 * found['waited']:.0f} ms", "", None
    )
    yield from _long_line()
    yield Row("the idle server's", f"{found['idle'] / 1e6:.0f} MB", "", None)


def _long_line() -> Iterator[Row]:
    """The memory that a single line takes; text beyond the limit stays in the file."""
    with tempfile.TemporaryDirectory() as folder:
        write_line(Path(folder) / NAME, LINE_BYTES)
        found = processes.figures_over(Path(folder), "bench.imports.large_process")
    above = (found["peak"] - found["idle"]) / 1e6
    yield Row(
        f"memory of a line of {LINE_BYTES / 1e6:.0f} MB",
        f"{above:.0f} MB",
        f"< {MAX_MB_OF_A_LINE} MB",
        above < MAX_MB_OF_A_LINE and found["messages"] == 3,
    )


def write_line(path: Path, size: int) -> None:
    """Write a transcript of three lines, one of which has about `size` bytes."""
    words = b"The build went through after a retry. " * 1000

    def begin(number: int, role: str) -> bytes:
        parent = f'"u{number - 1}"' if number else "null"
        return (
            f'{{"type":"{role}","uuid":"u{number}","parentUuid":{parent},"sessionId":"s",'
            f'"timestamp":"2026-01-01T00:00:0{number}Z",'
            f'"message":{{"role":"{role}","content":"'
        ).encode()

    with path.open("wb") as file:
        file.write(begin(0, "user") + b'Read the log."}}\n')
        file.write(begin(1, "user") + "→ ".encode())
        for _ in range(size // len(words)):
            file.write(words)
        file.write(b'"}}\n' + begin(2, "assistant") + b'It went through."}}\n')


def write(path: Path, size: int) -> int:
    """Write a transcript of at least `size` bytes; returns how many messages it holds."""
    written = count = 0
    with path.open("wb") as file:
        for record in files.claude_code(sys.maxsize):
            for piece in files.lines([record]):
                written += file.write(piece)
            count += 1
            if written >= size:
                return count
    raise AssertionError("the transcript ended before its time")


if __name__ == "__main__":
    for row in soak():
        print(f"{row.name:44} {row.value:>22} {row.bar:>12} {row.ok}", flush=True)
