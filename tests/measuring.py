"""Measures which lines of the domains run in the tests: a plugin, `-p tests.measuring`.

slipcover removes a line's probe once the line has run, so measuring costs a third of coverage,
which sees every line every time. Every process of a run writes its result into the folder that
MEASURED_INTO names; runs into the same folder add up.
"""

import json
import os
import uuid
from pathlib import Path

from slipcover import FileMatcher, ImportManager, Slipcover, merge_coverage

MEASURED_INTO = "MEASURED_INTO"
DOMAINS = [
    "archive/domain",
    "contextstudio/accounts/domain",
    "operations/domain",
    "threads/domain",
]

_LEFT_OUT = ["@overload", r"^\s*\.\.\.$", "# (older|newer) Pythons$"]
"""Lines, by what they begin with, that never run, or not on every Python."""


def lines_not_run(folder: Path) -> str:
    """The domains' lines that no run into a folder has covered; empty if there are none."""
    together, *others = (json.loads(file.read_bytes()) for file in folder.iterdir())
    for other in others:
        merge_coverage(together, other)
    return "\n".join(
        f"{file}: {', '.join(map(str, seen['missing_lines']))}"
        for file, seen in together["files"].items()
        if seen["missing_lines"]
    )


def pytest_sessionfinish() -> None:
    """Write the coverage of this process."""
    file = Path(os.environ[MEASURED_INTO]) / f"{uuid.uuid4().hex}.json"
    file.write_text(json.dumps(_seen.get_coverage()))


# Plugins named on the command line load first: what is imported from here on is measured.
if MEASURED_INTO in os.environ:
    _seen = Slipcover(source=DOMAINS, exclude_also=_LEFT_OUT)
    ImportManager(_seen, FileMatcher(sources=DOMAINS)).__enter__()
