"""The whole suite, as `make test` runs it.

First on PostgreSQL and Redis, where they answer on their usual ports, what may ask a database:
all but the browser, the domains, rendering and the documents' examples. Then on SQLite
everything, with the coverage, whose summary comes last. With CI set, both must answer.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator

import psycopg

DATABASE = "contextstudio"
REDIS_URL = "redis://127.0.0.1:6379/7"
LEAST_COVERED_PERCENT = 90
WITH_A_DATABASE = (
    *("-m", "not browser"),
    "--ignore-glob=tests/*/domain/*",
    "--ignore-glob=tests/*/rendering/*",
    "--ignore=tests/test_documentation.py",
    "--ignore=tests/oracles",
)


def main() -> int:
    """The exit code of the first run that fails, else 0."""
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
    return (
        _pytest(
            "--cov",
            "--cov-report=term:skip-covered",
            f"--cov-fail-under={LEAST_COVERED_PERCENT}",
            environment={},
        )
        or _domain_is_covered()
    )


def _services() -> dict[str, str] | str:
    """The variables that name PostgreSQL and Redis, or the sentence of what is missing."""
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
    """Where PostgreSQL might let us in, without the name of a database."""
    if given := os.environ.get("DATABASE_URL"):
        yield given.rpartition("/")[0]
    yield "postgresql://postgres@127.0.0.1:5432"
    yield "postgresql://postgres:postgres@127.0.0.1:5432"
    yield "postgresql://%2Fvar%2Frun%2Fpostgresql"


def _pytest(*options: str, environment: dict[str, str]) -> int:
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
        "2",
        "--dist",
        "loadfile",
        "--no-loadscope-reorder",
        "--durations=15",
    ]
    return subprocess.run(
        [*command, *options, *sys.argv[1:]], env=inherited | environment, check=False
    ).returncode


def _domain_is_covered() -> int:
    """Whether every line of the domain was run; what wasn't is listed."""
    report = subprocess.run(
        [
            *(sys.executable, "-m", "coverage", "report"),
            *("--include=*/domain/*", "--fail-under=100"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if report.returncode:
        print(f"Lines of the domain that no test runs:\n{report.stdout}")
    return report.returncode


if __name__ == "__main__":
    sys.exit(main())
