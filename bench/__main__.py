"""Runs all measurements and prints one table: `make bench`, or `make soak` for the long ones.

A folder holds the measurements of one subject. Each module yields rows from `rows()` (or `soak()`):
a name, a figure, the bar (or nothing) and whether it is met (or None). Each module runs in a
process of its own: memory left over from others made some measurements twice as slow. `python -m
bench MODULE` runs a single module.
"""

import importlib
import os
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from inspect import isfunction
from typing import Protocol

import django

import bench

SOAK = "--soak"
_BROKEN = 2


class MeasuredRow(Protocol):
    """One line of the table."""

    name: str
    value: str
    bar: str
    ok: bool | None


def modules() -> Iterator[str]:
    """The names of all modules within this package."""
    names = (one.name for one in pkgutil.walk_packages(bench.__path__, "bench."))
    found = sorted(name.removeprefix("bench.") for name in names)
    return (name for name in found if name != "__main__")


def rows_of(module: str, kind: str) -> Iterator[MeasuredRow]:
    """The rows of a module; none if it doesn't have this kind."""
    measure = getattr(importlib.import_module(f"bench.{module}"), kind, None)
    if isfunction(measure):  # a measurement's process may import a module `rows`
        yield from measure()


def main() -> int:
    """Print the table row by row; returns 1 if a bar is missed, more if a measurement failed."""
    asked = [one for one in sys.argv[1:] if one != SOAK]
    options = [SOAK] if SOAK in sys.argv[1:] else []
    if asked:
        kind = "soak" if options else "rows"
        return max([_measure(module, kind) for module in asked])
    _print("", "", "measured", "bar", "")
    command = sys.executable, "-m", "bench", *options
    runs = (subprocess.run([*command, one], check=False) for one in modules())
    return max(min(run.returncode % 256, _BROKEN) for run in runs)


def _measure(module: str, kind: str) -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextstudio.settings")
    django.setup()
    is_missed = False
    for row in rows_of(module, kind):
        verdict = "" if row.ok is None else "met" if row.ok else "MISSED"
        _print(module, row.name, row.value, row.bar, verdict)
        is_missed |= row.ok is False
    return int(is_missed)


def _print(*cells: str) -> None:
    module, name, value, bar, verdict = cells
    print(f"{module:26} {name:44} {value:>14} {bar:>10} {verdict}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
