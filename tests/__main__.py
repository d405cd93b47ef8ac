"""The whole suite, as `make test` runs it, in three parts.

On PostgreSQL and Redis, where they answer on their usual ports, what may ask a database: all but
the browser, the domains, rendering and the documents' examples. Then the rest on SQLite. With CI
set, PostgreSQL and Redis must answer. Meanwhile the tests of the domains, which wait for nothing,
with their coverage: every line of a domain is run. They take what the others leave of the cores
while they wait for servers that were killed. `make soak` measures the whole product.
"""

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
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
AFTER_ALL_OTHERS = ("nice", "-n", "19")


def main() -> int:
    """The exit code of the first part that fails, else 0."""
    services = _services()
    if isinstance(services, str):
        print(f"{services} The tests run on SQLite alone.", flush=True)
        if os.environ.get("CI"):
            return 1
    else:
        print("PostgreSQL and Redis answer: the tests run on them too.", flush=True)
    with _domains() as domains:
        failed = not isinstance(services, str) and _pytest(
            *WITH_A_DATABASE, environment=services
        )
        return failed or _pytest(*THE_REST) or domains()


@contextmanager
def _domains() -> Iterator[Callable[[], int]]:
    """Tests of the domains that run meanwhile; what is given waits for them, and says how it went.

    They are given up where the caller ends before that.
    """
    with (
        tempfile.TemporaryDirectory() as lines,
        tempfile.TemporaryFile() as output,
        subprocess.Popen(
            [*AFTER_ALL_OTHERS, *_command(*OF_THE_DOMAINS, *MEASURED)],
            env=_environment({MEASURED_INTO: lines}),
            stdout=output,
            stderr=subprocess.STDOUT,
        ) as running,
    ):

        def ended() -> int:
            failed = running.wait()
            output.seek(0)
            print(output.read().decode(errors="replace"), flush=True)
            if failed:
                return failed
            if left := lines_not_run(Path(lines)):
                print(f"Lines of the domains that their tests don't run:\n{left}")
            return bool(left)

        try:
            yield ended
        finally:
            running.terminate()


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


def _pytest(
    *options: str, environment: Mapping[str, str] = MappingProxyType({})
) -> int:
    """The exit code of a run."""
    command = _command(*options)
    return subprocess.run(
        command, env=_environment(environment), check=False
    ).returncode


def _command(*options: str) -> list[str]:
    """A run of tests with a worker for each core.

    One more takes longer: databases, servers and browsers use what workers leave of the cores.
    """
    return [
        *(sys.executable, "-m", "pytest", "-q"),
        *("-n", str(CORES), "--dist", "loadfile", "--no-loadscope-reorder"),
        "--durations=15",
        *options,
        *sys.argv[1:],
    ]


def _environment(added: Mapping[str, str]) -> dict[str, str]:
    """That of this process, with no database but the one that is added."""
    named = ("DATABASE_URL", "REDIS_URL")
    kept = {name: value for name, value in os.environ.items() if name not in named}
    return {**kept, **added}


if __name__ == "__main__":
    sys.exit(main())
