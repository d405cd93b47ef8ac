"""Complete runs of test suites that `make test` runs in part: in `make soak`.

`make test` checks properties with the same examples every time, exports the smaller samples, makes
requests of 60 logs at every door, and kills the server six times under writers and ten times under
jobs. Here properties use random examples, ten times as many, every sample is exported, requests are
made of 200 logs, and the server is killed twenty times under writers, and 200 times, with Celery's
worker and Redis, under jobs. pytest's output is kept in the data folder. A failing example stays in
`.hypothesis/`, comes first in the next run, and is printed with the line that reproduces it.

`make test` checks the line coverage of the domains. Coverage of the whole product by all tests
takes half as long again and is checked here.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.context.replay import Row
from bench.processes import postgresql

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / ".data" / "soak"
ROUNDS = 3
RANDOM = ("-n", "2", "-m", "hypothesis", "--hypothesis-profile", "random")
MIN_COVERED_PERCENT = 90
COVERED = (
    *("-n", "2", "--dist", "loadfile", "--cov", "--cov-report=term:skip-covered"),
    f"--cov-fail-under={MIN_COVERED_PERCENT}",
)
SOAKED = {
    "exports of every sample, pairs and signatures": "operations/exports/test_going_on.py",
    "one request at every door, 200 logs": "operations/context/test_one_request.py",
    "20 kills under 50 writers": "operations/log/test_writers.py",
}
"""Tests that do more if `SOAK` is set, by their names in the table."""
KILLS, JOBS_KILLED = "100 kills under jobs", "tests/contextstudio/accounts/jobs/kills"


def soak() -> Iterator[Row]:
    """How many tests of each part passed, and whether one failed."""
    for number in range(ROUNDS):
        yield _run(f"properties, random examples, round {number + 1}", RANDOM)
    for name, path in SOAKED.items():
        yield _run(name, (f"tests/{path}",))
    yield _run(f"{KILLS} on SQLite", (JOBS_KILLED,))
    if url := postgresql():
        yield _run(f"{KILLS}, Celery", (JOBS_KILLED,), DATABASE_URL=url)
    yield _run(f"{MIN_COVERED_PERCENT} % of all lines are run", COVERED, soak="")


def _run(
    name: str, options: tuple[str, ...], soak: str = "1", **environment: str
) -> Row:
    """Run tests, and store their output."""
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *options],
        cwd=ROOT,
        env=os.environ | {"SOAK": soak} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    KEPT.mkdir(parents=True, exist_ok=True)
    (KEPT / f"{re.sub(r'[^a-z0-9]+', '-', name)}.txt").write_text(run.stdout)
    passed = sum(map(int, re.findall(r"(\d+) passed", run.stdout)))
    return Row(name, f"{passed} passed", "all", run.returncode == 0 < passed)
