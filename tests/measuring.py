"""Which lines of the domains a run of tests runs: a plugin, `-p tests.measuring`.

slipcover takes a line's probe out once the line has run, so that measuring costs a third of what
coverage's does, which sees every line every time. Every process of a run writes what it saw into
the folder that MEASURED_INTO names; runs into the same folder add up.
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
"""Lines, with what they begin, that are never run, or not on every Python."""


def lines_not_run(folder: Path) -> str:
    """The lines of the domains that no run into a folder has run; empty where all have."""
    together, *others = (json.loads(file.read_bytes()) for file in folder.iterdir())
    for other in others:
        merge_coverage(together, other)
    return "\n".join(
        f"{file}: {', '.join(map(str, seen['missing_lines']))}"
        for file, seen in together["files"].items()
        if seen["missing_lines"]
    )


def pytest_sessionfinish() -> None:
    """Write what this process saw."""
    file = Path(os.environ[MEASURED_INTO]) / f"{uuid.uuid4().hex}.json"
    file.write_text(json.dumps(_seen.get_coverage()))


# Plugins that are named come first: what is imported from here on is measured.
if MEASURED_INTO in os.environ:
    _seen = Slipcover(source=DOMAINS, exclude_also=_LEFT_OUT)
    ImportManager(_seen, FileMatcher(sources=DOMAINS)).__enter__()
