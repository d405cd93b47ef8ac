"""All properties with random examples: in `make soak`. `make test` asks fixed ones.

What fails is printed with Hypothesis' line that repeats it; its examples stay in `.hypothesis/`
and come first in the next run.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.context.replay import Row

ROOT = Path(__file__).resolve().parents[1]
ROUNDS = 3
REPORT = ROOT / ".data" / "soak" / "properties.txt"


def soak() -> Iterator[Row]:
    """How many runs of all properties failed, each with examples of its own."""
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    failed, passed = 0, 0
    with REPORT.open("w") as report:
        for _ in range(ROUNDS):
            run = subprocess.run(
                [
                    *(sys.executable, "-m", "pytest", "-q", "-n", "2"),
                    *("-m", "hypothesis", "--hypothesis-profile", "random"),
                ],
                cwd=ROOT,
                capture_output=True,
                text=True,
                check=False,
            )
            report.write(run.stdout)
            passed += sum(map(int, re.findall(r"(\d+) passed", run.stdout)))
            failed += run.returncode != 0
    yield Row(
        f"properties that held, {ROUNDS} rounds of random examples",
        f"{passed:,}",
        "> 0",
        passed > 0,
    )
    yield Row(
        f"rounds that failed ({REPORT.relative_to(ROOT)})", str(failed), "0", not failed
    )
