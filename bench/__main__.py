"""All measurements as one table: `make bench`, or `make soak` for what takes long.

A folder holds the measurements of one subject. Each module gives lines through `rows()` (or
`soak()`): a name, a figure, the bar it is held to (or nothing) and whether it is met (or None).
"""

import importlib
import os
import pkgutil
import sys
from collections.abc import Iterator
from inspect import isfunction
from itertools import chain
from typing import Protocol

import django

import bench


class MeasuredRow(Protocol):
    """One line of the table."""

    name: str
    value: str
    bar: str
    ok: bool | None


def measured(kind: str) -> Iterator[tuple[str, MeasuredRow]]:
    """The lines of every module that measures this kind, with the module's name."""
    for found in sorted(
        module.name for module in pkgutil.walk_packages(bench.__path__, "bench.")
    ):
        if found == "bench.__main__":
            continue
        measure = getattr(importlib.import_module(found), kind, None)
        if isfunction(measure):  # a process of a measurement may import a module `rows`
            for row in measure():
                yield found.removeprefix("bench."), row


def main() -> int:
    """Print the table as it grows; 1 where a bar isn't met."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextstudio.settings")
    django.setup()
    kind = "soak" if "--soak" in sys.argv[1:] else "rows"
    missed = []
    heading = ("", "measured", "bar", "")
    for module, cells in chain(
        [("", heading)],
        (
            (module, (row.name, row.value, row.bar, row.ok))
            for module, row in measured(kind)
        ),
    ):
        name, value, bar, ok = cells
        verdict = {True: "met", False: "MISSED"}.get(ok, "")  # type: ignore[call-overload]
        print(f"{module:26} {name:44} {value:>14} {bar:>10} {verdict}", flush=True)
        if ok is False:
            missed.append(name)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
