"""Contexts compiled for every provider and checked by the validators; part of `make soak`.

Each seed runs in a process of its own, as many at once as there are processors. The results are
stored in the data folder with a digest of the code, so that an interrupted run resumes where it
was: `python -m bench.context.compiling [SECONDS]` runs the missing seeds, for at most that long,
and prints the result of each seed.
"""

import hashlib
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from .replay import Row

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / ".data" / "soak" / "compiled"
SEEDS, EACH = 40, 500
MAX_SECONDS = 900
"""The limit for one seed; one that takes longer has failed."""
MAX_REFUSED = 0.01
CODE = ("operations/domain", "threads/domain", "tests/validators", "tests/operations")
Result = dict[str, Any]


def soak(seconds: float = float("inf")) -> Iterator[Row]:
    """How many contexts each provider got, and the share that the strictest refused."""
    results = list(_results(seconds))
    examples = sum(result["examples"] for result in results)
    failed = [result["seed"] for result in results if result["failed"]]
    refused: Counter[str] = sum(
        (Counter(result["refused"]) for result in results), Counter()
    )
    wanted = SEEDS * EACH
    yield Row(
        f"contexts compiled for each provider, seeds 0 to {SEEDS - 1}",
        f"{examples:,}",
        f"{wanted:,}",
        examples >= wanted,
    )
    yield Row("seeds that failed", str(len(failed)), "0", bool(results) and not failed)
    share = max(refused.values(), default=0) / max(1, examples)
    yield Row(
        "refused, of the provider that refuses most",
        f"{share:.2%}",
        f"<= {MAX_REFUSED:.0%}",
        examples > 0 and share <= MAX_REFUSED,
    )


def _results(seconds: float) -> Iterator[Result]:
    """The results of the seeds that were run, now or earlier."""
    folder = KEPT / _digest()
    folder.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + seconds

    def result(number: int) -> Result | None:
        kept = folder / f"{number}.json"
        if not kept.exists():
            if time.monotonic() > until:
                return None
            found = _run(number)
            kept.with_suffix(".new").write_text(json.dumps(found))
            kept.with_suffix(".new").replace(kept)
        return dict(json.loads(kept.read_text()))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from (found for found in pool.map(result, range(SEEDS)) if found)


def _run(number: int) -> Result:
    command = [
        sys.executable,
        "-m",
        "bench.context.compiling_process",
        str(number),
        str(EACH),
    ]
    try:
        run = subprocess.run(
            command,
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": "0"},
            capture_output=True,
            text=True,
            timeout=MAX_SECONDS,
            check=True,
        )
    except subprocess.SubprocessError as error:
        failed = f"{type(error).__name__}"
        return {"seed": number, "examples": 0, "refused": {}, "failed": failed}
    return dict(json.loads(run.stdout.splitlines()[-1]))


def _digest() -> str:
    """A digest of the code that a result depends on."""
    found = hashlib.sha256()
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if not path.name.startswith("test_"):
                found.update(path.read_bytes())
    return found.hexdigest()[:16]


def main() -> None:
    """Run the missing seeds, and print the result of each."""
    seconds = float(sys.argv[1]) if sys.argv[1:] else float("inf")
    for row in soak(seconds):
        verdict = "met" if row.ok else "MISSED"
        print(f"{row.name:60} {row.value:>10} {row.bar:>10} {verdict}", flush=True)
    for path in sorted(
        (KEPT / _digest()).glob("*.json"), key=lambda one: int(one.stem)
    ):
        result = json.loads(path.read_text())
        refused = sum(result["refused"].values())
        outcome = result["failed"] or "all accepted"
        print(f"| {result['seed']} | {result['examples']} | {refused} | {outcome} |")


if __name__ == "__main__":
    main()
