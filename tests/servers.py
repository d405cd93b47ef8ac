"""Real servers in separate processes: started, killed, restarted."""

import os
import shutil
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psycopg
import pytest
from django.conf import settings
from django.db import connection

ROOT = Path(__file__).resolve().parent.parent
PATIENCE_SECONDS = 240
"""How long a server may take for anything on a machine that is busy with other things.

Passing tests wait no longer than necessary. Restoring a backup took more than 60 s on two cores
with seven processes."""

START_LINE = "Sign in: "
ALL_SCOPES = "read,propose,edit,review,admin"
WITHOUT_WARMING = """
import os, sys
import manage
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextstudio.settings")
manage._load()
from contextstudio.management.commands import serve
serve.WARMING = ()
sys.argv = ["manage.py", "serve"]
manage.main()
"""
"""`manage.py serve` that loads token counters only when they are needed.

Two and a half seconds of processor time are nothing to a server that runs for days. The tests'
servers run for a minute, and few of them count much."""


def environment(**changes: str) -> dict[str, str]:
    """The environment for a child process: ours, without what selects a database."""
    dropped = {"DATABASE_URL", "CONTEXTSTUDIO_DATA_DIR", "HOST", "PORT", "SECRET_KEY"}
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return kept | {"PYTHONUNBUFFERED": "1"} | changes


def url_of_test_database() -> str:
    """DATABASE_URL for a child process that shares the test's database."""
    described = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{described['NAME']}"
    return _postgresql_url(described["NAME"])


def _postgresql_url(name: str) -> str:
    described = connection.settings_dict
    login = f"{described['USER']}:{described['PASSWORD']}@" if described["USER"] else ""
    port = f":{described['PORT']}" if described["PORT"] else ""
    return f"postgresql://{login}{described['HOST']}{port}/{name}"


@dataclass
class Server:
    """`manage.py serve` with its own data folder, on a free port that it keeps."""

    folder: Path
    database_url: str = ""
    port: int = 0
    link: str = ""
    process: subprocess.Popen[str] | None = None
    full_key: str = ""
    """A key with all rights that came with its data folder."""
    is_measured: bool = False
    """Whether coverage is measured in its processes, which slows them down."""
    variables: dict[str, str] = field(default_factory=dict)
    """Additional environment variables."""
    program: tuple[str, ...] = ("manage.py", "serve")
    """The program that Python runs."""

    @property
    def url(self) -> str:
        """`http://127.0.0.1:<port>`, without a trailing slash."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        """Everything it has written to standard error, over all its starts."""
        return (self.folder / "log").read_text()

    def environment(self) -> dict[str, str]:
        """The environment in which its commands run."""
        changes = {
            "CONTEXTSTUDIO_DATA_DIR": str(self.folder),
            "CONTEXTSTUDIO_SKIP_SECRETS": "1",
            "PORT": str(self.port),
        }
        if self.database_url:
            changes["DATABASE_URL"] = self.database_url
        inherited = environment(**changes | self.variables)
        if not self.is_measured:
            inherited.pop("COVERAGE_PROCESS_CONFIG", None)
        return inherited

    def start(self) -> "Server":
        """Start it, and wait until it prints its sign-in link."""
        with (self.folder / "log").open("a") as log:
            self.process = subprocess.Popen(
                [sys.executable, *self.program],
                cwd=ROOT,
                env=self.environment(),
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        for line in self.process.stdout or ():
            if line.startswith(START_LINE):
                self.link = line.removeprefix(START_LINE).strip()
                self.port = httpx.URL(self.link).port or 0
                return self
        raise AssertionError(f"The server did not start:\n{self.log}")

    def stop(self, number: int = signal.SIGINT) -> int:
        """Ask it to stop; returns its exit code."""
        assert self.process is not None
        self.process.send_signal(number)
        return self._gone()

    def kill(self) -> None:
        """Kill it at once, like a power cut."""
        assert self.process is not None
        self.process.kill()
        self._gone()

    def command(self, *arguments: str) -> str:
        """Run one of its management commands; returns what it prints."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment(),
            capture_output=True,
            text=True,
            check=True,
            timeout=PATIENCE_SECONDS,
        )
        return done.stdout.strip()

    def key(self, scopes: str = ALL_SCOPES) -> str:
        """An API key of the project `demo`."""
        if scopes == ALL_SCOPES and self.full_key:
            return self.full_key
        return self.command("create_key", "--project", "demo", "--scopes", scopes)

    def sign_in_url(self) -> str:
        """An unused one-time link of the owner: from its start, or a new one."""
        link, self.link = self.link, ""
        return link or f"{self.url}{self.command('sign_in_link')}"

    def sign_in(self, client: httpx.Client) -> httpx.Response:
        """Sign a client in as the owner, as the button on a link's page does."""
        return push(client, self.sign_in_url())

    def _gone(self) -> int:
        assert self.process is not None
        code = self.process.wait(PATIENCE_SECONDS)
        if self.process.stdout:
            self.process.stdout.close()
        return code


def push(client: httpx.Client, link: str) -> httpx.Response:
    """Push the button on the page of a sign-in link; returns the response."""
    page = client.get(link)
    if page.status_code != 200:
        return page
    token = client.cookies["contextstudio_csrf"]
    headers = {"X-CSRFToken": token, "Referer": link}
    return client.post(link, headers=headers)


StartServer = Callable[..., Server]


@pytest.fixture(scope="session")
def first_start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that has started once and stopped: the template of the others."""
    server = Server(tmp_path_factory.mktemp("first"), _fresh_database())
    server.start()
    server.full_key = server.key()
    assert server.stop() == 0
    yield server
    if server.database_url:
        _drop(server.database_url)


@pytest.fixture(scope="module")
def start_server(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[StartServer]:
    """Starts servers on the kind of database under test; they end with the module.

    They are copies of one that was started before, on another port, unless they are `fresh`.
    """
    servers: list[Server] = []

    def start(*, fresh: bool = False) -> Server:
        folder = tmp_path_factory.mktemp("server")
        if fresh:
            server = Server(folder, _fresh_database(), is_measured=True)
        else:
            server = _copy(request.getfixturevalue("first_start"), folder)
        servers.append(server)
        return server.start()

    yield start
    for server in servers:
        _end(server)


@pytest.fixture
def empty_server(tmp_path: Path) -> Iterator[Server]:
    """A server that has never started: an empty data folder and an empty database."""
    folder = tmp_path / "empty"
    folder.mkdir()
    server = Server(folder, _fresh_database())
    yield server
    _end(server)


@pytest.fixture(scope="session")
def server(
    first_start: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """One server for all tests that only call it.

    Starting one and loading its tokenizer takes longer than most of them.
    """
    yield from started_copy(first_start, tmp_path_factory.mktemp("server"))


def started_copy(first: Server, folder: Path, **variables: str) -> Iterator[Server]:
    """Start a copy of a stopped server, with extra variables; it ends when the generator does."""
    for server in stopped_copy(first, folder):
        server.variables |= variables
        yield server.start()


def stopped_copy(first: Server, folder: Path) -> Iterator[Server]:
    """Like `started_copy`, but not started."""
    server = _copy(first, folder)
    yield server
    _end(server)


def _end(server: Server) -> None:
    if server.process is not None and server.process.poll() is None:
        server.kill()
    if server.database_url:
        _drop(server.database_url)


def _copy(first: Server, folder: Path) -> Server:
    """A server on a copy of a stopped one's data and database."""
    shutil.copytree(first.folder, folder, dirs_exist_ok=True)
    template = httpx.URL(first.database_url).path.lstrip("/")
    url = _fresh_database(template=template)
    lean = "-c", WITHOUT_WARMING
    return Server(folder, url, full_key=first.full_key, program=lean)


def _fresh_database(*, template: str = "template1") -> str:
    """The URL of a new PostgreSQL database; empty if SQLite is under test."""
    if settings.ON_SQLITE:
        return ""
    name = f"contextstudio_server_{uuid.uuid4().hex[:12]}"
    _as_administrator(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    return _postgresql_url(name)


def _drop(url: str) -> None:
    _as_administrator(f'DROP DATABASE "{httpx.URL(url).path.lstrip("/")}" WITH (FORCE)')


def _as_administrator(statement: str) -> None:
    with psycopg.connect(_postgresql_url("postgres"), autocommit=True) as administrator:
        administrator.execute(statement)
