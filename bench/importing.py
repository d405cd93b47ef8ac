"""What importing costs: `python -m bench.importing`. D1 and the import rows of the plan.

D1: the rows of 10,000 messages (their bodies stored before), written as `threads.recording`
writes them, against `bulk_create` of the same rows into the same tables; on SQLite, and on
PostgreSQL where one answers. Imports: a file on the disk, from the request's `import_upload`
to the commit, against `json.loads` of each of its lines (of a list: of the document); what
counting tokens takes is measured and left out. Rounds are interleaved; each figure is the
ratio of the least times: of CPU on SQLite, of the clock on PostgreSQL, which works elsewhere.
"""

import json
import os
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg

from bench.replay import Row

ROOT = Path(__file__).resolve().parent.parent
USUAL = "postgresql://postgres@127.0.0.1:5432/postgres"
D1_BARS = {"PostgreSQL": 5, "SQLite": 3}
BARS = {
    "Claude Code": 1 / 3,
    "Codex": 1 / 3,
    "10,000 short, JSON Lines": 1 / 6,
    "10,000 short, a list": 1 / 6,
}


def rows() -> Iterator[Row]:
    """D1 on both databases, then the imports on SQLite."""
    found = _measured("")
    yield from _d1("SQLite", found)
    server = _server()
    if server is None:
        yield Row("D1 on PostgreSQL: none answers", "", "", None)
    else:
        with _Scratch(server) as url:
            yield from _d1("PostgreSQL", _measured(url))
    for name, bar in BARS.items():
        ratio = found[name]["json"] / found[name]["import"]
        each = found[name]["import"] / found[name]["messages"]
        figure = f"1/{1 / ratio:.1f} ({1e6 * each:.0f} µs)"
        yield Row(
            f"import / json.loads, {name}", figure, f"1/{1 / bar:.0f}", ratio >= bar
        )


def _d1(database: str, found: dict[str, dict[str, float]]) -> Iterator[Row]:
    one = found["D1"]
    ratio, bar = one["models"] / one["rows"], D1_BARS[database]
    figure = f"{ratio:.1f} ({1e6 * one['rows'] / one['messages']:.0f} µs)"
    yield Row(
        f"D1 message rows on {database}, x bulk_create",
        figure,
        f">= {bar}",
        ratio >= bar,
    )


def _measured(database_url: str) -> dict[str, dict[str, float]]:
    """The figures of a process of its own, over a data folder and a database of its own."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {"CONTEXTSTUDIO_DATA_DIR": folder, "DATABASE_URL": database_url}
        answer = subprocess.run(
            [sys.executable, "-m", "bench.importing_process"],
            cwd=ROOT,
            env=os.environ | environment,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
    found: dict[str, dict[str, float]] = json.loads(answer.stdout.splitlines()[-1])
    return found


def _server() -> str | None:
    """A PostgreSQL that lets us in: the one that DATABASE_URL names, or the usual one."""
    for url in (os.environ.get("DATABASE_URL"), USUAL):
        if url and url.startswith("postgres"):
            try:
                psycopg.connect(url, connect_timeout=2).close()
            except psycopg.OperationalError:
                continue
            return url
    return None


class _Scratch:
    """A database that is made for this measurement and dropped after it."""

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


if __name__ == "__main__":
    for row in rows():
        print(f"{row.name:52} {row.value:>20} {row.bar:>8} {row.ok}", flush=True)
