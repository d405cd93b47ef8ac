"""The tests that `make test` runs in part, run whole: in `make soak`.

`make test` asks properties the same examples every time, and exports of the smaller samples. Here
properties are asked random examples, and more of them, and every sample is exported. What pytest
said is kept in the data folder; an example that fails stays in `.hypothesis/`, comes first in the
next run, and is printed with the line that repeats it.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from bench.context.replay import Row

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / ".data" / "soak"
ROUNDS = 3
RANDOM = ("-n", "2", "-m", "hypothesis", "--hypothesis-profile", "random")
EXPORTS = ("tests/operations/exports/test_going_on.py",)


def soak() -> Iterator[Row]:
    """How many tests passed of each part, and whether one failed."""
    for number in range(ROUNDS):
        yield _run(f"properties, random examples, round {number + 1}", RANDOM)
    every = {"EVERY_SAMPLE": "1"}
    yield _run("exports of every sample, pairs and signatures", EXPORTS, every)


def _run(
    name: str, options: tuple[str, ...], variables: Mapping[str, str] | None = None
) -> Row:
    """Run tests, and keep what was printed."""
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *options],
        cwd=ROOT,
        env=os.environ | (variables or {}),
        capture_output=True,
        text=True,
        check=False,
    )
    KEPT.mkdir(parents=True, exist_ok=True)
    (KEPT / f"{re.sub(r'[^a-z0-9]+', '-', name)}.txt").write_text(run.stdout)
    passed = sum(map(int, re.findall(r"(\d+) passed", run.stdout)))
    return Row(name, f"{passed} passed", "all", run.returncode == 0 < passed)
