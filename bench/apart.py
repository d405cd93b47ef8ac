"""Processes of measurements: each starts fresh, over a data folder of its own."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def figures(module: str, *arguments: object, database_url: str = "") -> Any:
    """What `python -m` of a module prints last, as JSON; its data folder is removed.

    The database is SQLite's in the data folder where no URL is given.
    """
    with tempfile.TemporaryDirectory() as folder:
        return figures_over(Path(folder), module, *arguments, database_url=database_url)


def figures_over(
    folder: Path, module: str, *arguments: object, database_url: str = ""
) -> Any:
    """The same over a data folder that is there, and stays."""
    environment = {"CONTEXTSTUDIO_DATA_DIR": str(folder), "DATABASE_URL": database_url}
    answer = subprocess.run(
        _command(module, arguments),
        cwd=ROOT,
        env=os.environ | environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(answer.stdout.splitlines()[-1])


@contextmanager
def served(
    folder: Path, module: str, *arguments: object, **environment: str
) -> Iterator[str]:
    """A server over a data folder while it is measured: the line by which it says it is up."""
    own = {"CONTEXTSTUDIO_DATA_DIR": str(folder), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        _command(module, arguments),
        cwd=ROOT,
        env=os.environ | own | environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        if not line:
            raise RuntimeError("the server of this measurement did not start")
        yield line
    finally:
        process.terminate()
        process.wait(20)


def _command(module: str, arguments: tuple[object, ...]) -> list[str]:
    return [sys.executable, "-m", module, *map(str, arguments)]
