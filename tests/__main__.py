"""Runs the whole suite in three parts, as `make test` does.

First, on PostgreSQL and Redis if they answer on their usual ports, the tests that may use a
database: all but those of the browser, the domains, rendering and the documents' examples. Then the
tests of the domains with coverage: every line of a domain must run. Then the rest on SQLite. With
CI set, PostgreSQL and Redis must answer.

The rest is measured only if the tests of the domains miss lines; `make soak` measures the whole
product.
"""

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import psycopg

from tests.measuring import DOMAINS, MEASURED_INTO, lines_not_run

CORES = min(os.cpu_count() or 2, 8)
DATABASE = "contextstudio"
REDIS_URL = "redis://127.0.0.1:6379/7"
WITH_A_DATABASE = (
    *("-m", "not browser"),
    "--ignore-glob=tests/*/domain/*",
    "--ignore-glob=tests/*/rendering/*",
    "--ignore=tests/test_documentation.py",
    "--ignore=tests/oracles",
)
OF_THE_DOMAINS = tuple(f"tests/{folder}" for folder in DOMAINS)
THE_REST = ("--ignore-glob=tests/*/domain",)
MEASURED = ("-p", "tests.measuring")


def main() -> int:
    """Returns the exit code of the first run that fails, else 0."""
    services = _services()
    if isinstance(services, str):
        print(f"{services} The tests run on SQLite alone.", flush=True)
        if os.environ.get("CI"):
            return 1
    else:
        print("PostgreSQL and Redis answer: the tests run on them too.", flush=True)
        failed = _pytest(*WITH_A_DATABASE, environment=services)
        if failed:
            return failed
    with tempfile.TemporaryDirectory() as folder:
        into = {MEASURED_INTO: folder}
        failed = _pytest(*OF_THE_DOMAINS, *MEASURED, environment=into)
        if failed:
            return failed
        left = lines_not_run(Path(folder))
        if not left:
            return _pytest(*THE_REST)
        print(f"Lines that the tests of the domains don't run:\n{left}", flush=True)
        failed = _pytest(*THE_REST, *MEASURED, environment=into)
        if left := lines_not_run(Path(folder)):
            print(f"Lines of the domains that no test runs:\n{left}")
        return failed or bool(left)


def _services() -> dict[str, str] | str:
    """The variables that configure PostgreSQL and Redis, or a sentence about what is missing."""
    try:
        socket.create_connection(("127.0.0.1", 6379), 1).close()
    except OSError:
        return "Redis does not answer on port 6379."
    for url in _candidates():
        try:
            psycopg.connect(f"{url}/postgres", connect_timeout=2).close()
        except psycopg.OperationalError:
            continue
        return {"DATABASE_URL": f"{url}/{DATABASE}", "REDIS_URL": REDIS_URL}
    return "PostgreSQL lets nobody in on port 5432 (DATABASE_URL may say how)."


def _candidates() -> Iterator[str]:
    """Possible PostgreSQL servers, as URLs without the name of a database."""
    if given := os.environ.get("DATABASE_URL"):
        yield given.rpartition("/")[0]
    yield "postgresql://postgres@127.0.0.1:5432"
    yield "postgresql://postgres:postgres@127.0.0.1:5432"
    yield "postgresql://%2Fvar%2Frun%2Fpostgresql"


def _pytest(
    *options: str, environment: Mapping[str, str] = MappingProxyType({})
) -> int:
    """Run pytest with a worker for each core, and return the exit code.

    More workers take longer: databases, servers and browsers need the cores too.
    """
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DATABASE_URL", "REDIS_URL")
    }
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        str(CORES),
        "--dist",
        "loadfile",
        "--no-loadscope-reorder",
        "--durations=15",
    ]
    return subprocess.run(
        [*command, *options, *sys.argv[1:]],
        env={**inherited, **environment},
        check=False,
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
