"""Malformed files by the thousand: `make soak`.

The same seeds as in `tests.threads.imports.test_mutations`, which uses the first 200 of them. Every
file gets a response from the import endpoint: no server fault, no memory beyond the bound.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.context.replay import Row

ROOT = Path(__file__).resolve().parents[2]
COUNT = 2_000


def soak() -> Iterator[Row]:
    """How many tests of 25 files each passed."""
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--no-header"]
    run = subprocess.run(
        [*command, "tests/threads/imports/test_mutations.py", "-k", "mutated"],
        cwd=ROOT,
        env=os.environ | {"MUTATIONS": str(COUNT)},
        capture_output=True,
        text=True,
        check=False,
    )
    summary = run.stdout.strip().rpartition("\n")[2]
    passed = re.search(r"(\d+) passed", summary)
    answered = 25 * int(passed[1]) if passed else 0
    name = f"mutated files answered, seeds 0 to {COUNT - 1:,}"
    yield Row(name, f"{answered:,}", f"{COUNT:,}", answered == COUNT)
