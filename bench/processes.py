"""Processes for measurements: each starts with its own data folder and database."""

import json
import os
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg

ROOT = Path(__file__).resolve().parent.parent
DEFAULT_URL = "postgresql://postgres@127.0.0.1:5432/postgres"


def figures(module: str, *arguments: object, database_url: str = "") -> Any:
    """Run `python -m` of a module and return the last line it prints, as JSON.

    The data folder is removed afterwards. The database is SQLite in that folder if no URL is given.
    """
    with tempfile.TemporaryDirectory() as folder:
        return figures_over(Path(folder), module, *arguments, database_url=database_url)


def figures_over(
    folder: Path, module: str, *arguments: object, database_url: str = ""
) -> Any:
    """Like `figures`, over an existing data folder, which is kept."""
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
def running_server(
    folder: Path, module: str, *arguments: object, **environment: str
) -> Iterator[str]:
    """Run a server over a data folder while it is measured; yields the line it prints when up."""
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


def postgresql() -> str | None:
    """The URL of a PostgreSQL server that accepts us: DATABASE_URL's or the usual one, or None."""
    for url in (os.environ.get("DATABASE_URL"), DEFAULT_URL):
        if url and url.startswith("postgres"):
            try:
                psycopg.connect(url, connect_timeout=2).close()
            except psycopg.OperationalError:
                continue
            return url
    return None


class Scratch:
    """A database that is created for a measurement and dropped after it."""

    def __init__(self, server: str) -> None:
        self.server = server
        self.name = f"contextstudio_bench_{uuid.uuid4().hex[:8]}"

    def __enter__(self) -> str:
        self._run(f'CREATE DATABASE "{self.name}"')
        return urlunsplit(urlsplit(self.server)._replace(path=f"/{self.name}"))

    def __exit__(self, *_: object) -> None:
        self._run(f'DROP DATABASE "{self.name}" WITH (FORCE)')

    def _run(self, statement: str) -> None:
        with psycopg.connect(self.server, autocommit=True) as connection:
            connection.execute(statement)


def _command(module: str, arguments: tuple[object, ...]) -> list[str]:
    return [sys.executable, "-m", module, *map(str, arguments)]
