"""The table of counts in the documentation is what the samples come to."""

from pathlib import Path

from .comparing import SAMPLES
from .ours import read
from .table import row, written


def test_the_documented_counts_are_what_the_samples_come_to(samples: Path) -> None:
    documented = {
        line.split("`")[1]: line
        for line in written().splitlines(keepends=True)
        if line.startswith("| `")
    }
    there = {name for name in documented if (SAMPLES / name).is_file()}

    assert len(there) >= 30
    for name in sorted(there):
        counted = row(name, read(SAMPLES / name))
        assert counted == documented[name], "python -m tests.oracles --write"
