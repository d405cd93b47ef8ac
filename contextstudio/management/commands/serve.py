"""`manage.py serve`: runs the whole product in one process, as `make run` does."""

import contextlib
import errno
import fcntl
import os
import resource
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from threading import Timer
from typing import Any

import uvicorn
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from contextstudio import sqlite
from contextstudio.accounts import idempotency, services
from contextstudio.accounts.domain.errors import DomainError
from contextstudio.accounts.jobs.workers import Workers
from contextstudio.accounts.server_address import address_of, stored_address
from contextstudio.accounts.sign_in.links import create_sign_in_link
from contextstudio.database.outages import connect_once, unusable
from contextstudio.database.versions import is_newer
from threads import tokens

_SECONDS_TO_STOP = 5
WARMING = ((3, tokens.counter), (30, tokens.is_accelerated))
"""After how many seconds which part is loaded."""
_MAX_FRAME_BYTES = 64 * 1024
_OTHER_PORT, _OTHER_HOST = (
    "PORT to another number",
    "HOST to an address of this machine",
)
_MAX_OPEN = 65_536
"""Files and connections; most systems give a process 1,024 unless it asks for more."""


class CannotStart(DomainError):
    """The server can't start; the message says why in one sentence."""

    default_code = "cannot_start"


class Command(BaseCommand):
    """Prepares the database and serves until Ctrl+C or SIGTERM."""

    help = (
        "Serve ContextStudio on HOST and PORT (by default 127.0.0.1:8000) and run its jobs. "
        "The first start creates an owner, a project and a demonstration session."
    )
    requires_migrations_checks = False
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        _ask_for_connections()
        with _only_server(settings.DATA_DIR), _port() as listener:
            link = self._prepare(listener)
            workers = Workers()
            if settings.EXECUTOR == "embedded":
                workers.start()
            try:
                with stored_address(settings.DATA_DIR, _address(listener)):
                    self._serve(listener, link)
            finally:
                workers.stop()

    def _prepare(self, listener: socket.socket) -> str:
        """Bring the database up to date; returns the line with the owner's sign-in link."""
        try:
            connect_once()
            executor = MigrationExecutor(connection)
            _refuse_newer(executor.loader)
            # Even if the tables are up to date, the command would take a second.
            if executor.migration_plan(executor.loader.graph.leaf_nodes()):
                call_command("migrate", interactive=False, verbosity=0)
            owner, first_start = services.prepare_first_use()
            if first_start:
                call_command("load_demo", verbosity=0)
            idempotency.forget_claims()
            token = create_sign_in_link(owner)
        except DatabaseError as error:
            raise CannotStart(unusable(error)) from error
        return f"Sign in: {_address(listener)}/sign-in/{token}"

    def _serve(self, listener: socket.socket, link: str) -> None:
        # The application loads models of every app, so it is imported after the checks above.
        from contextstudio.asgi import application  # noqa: PLC0415

        config = uvicorn.Config(
            application,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=bool(settings.FORWARDED_ALLOW_IPS),
            forwarded_allow_ips=settings.FORWARDED_ALLOW_IPS,
            lifespan="off",
            ws="websockets-sansio",
            ws_max_size=_MAX_FRAME_BYTES,
            timeout_graceful_shutdown=_SECONDS_TO_STOP,
        )
        notice = sqlite.notice(sqlite.version_in_use()) if settings.ON_SQLITE else None
        lines = [notice, link, "Stop the server with Ctrl+C."]
        with _warming():
            _Server(config, [line for line in lines if line]).run(sockets=[listener])


def _refuse_newer(loader: MigrationLoader) -> None:
    """Keep an earlier version from a database whose rows it doesn't know to keep in order."""
    if is_newer(loader.applied_migrations or ()):
        raise CannotStart(
            f"The database {connection.settings_dict['NAME']} was made by a newer version of "
            "ContextStudio. Start that version, or restore a backup made with this one."
        )


class _Server(uvicorn.Server):
    """A uvicorn server that prints its address once it answers, and treats signals as normal."""

    def __init__(self, config: uvicorn.Config, lines: list[str]) -> None:
        super().__init__(config)
        self.lines = lines

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for line in self.lines:
            print(line, flush=True)  # noqa: T201  # for the person who starts it

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {
            number: signal.signal(number, self.handle_exit)
            for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


@contextlib.contextmanager
def _warming() -> Iterator[None]:
    """Load the token counters once the server answers.

    Loading takes seconds of processor time, which neither the first writer should wait for, nor
    those for whom the server has just come back. At exit the process waits for a running load: a
    thread that returns from Rust to an interpreter that is gone would abort the process.
    """
    timers = [Timer(seconds, load, (tokens.DEFAULT,)) for seconds, load in WARMING]
    for timer in timers:
        timer.start()
    try:
        yield
    finally:
        for timer in timers:
            timer.cancel()


def _ask_for_connections() -> None:
    """Raise the limit on open files: a few hundred idle connections must not block others."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MAX_OPEN if hard == resource.RLIM_INFINITY else min(hard, _MAX_OPEN)
    if soft != resource.RLIM_INFINITY and soft < most:
        with contextlib.suppress(
            OSError, ValueError
        ):  # some systems have another limit
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


@contextlib.contextmanager
def _only_server(data_dir: Path) -> Iterator[None]:
    """Hold the data folder's lock, which the system releases if the process dies."""
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = (data_dir / "server.lock").open("a+")
    except OSError as error:
        raise CannotStart(
            f"The data folder {data_dir} can't be used: {error.strerror}."
        ) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            file.seek(0)
            number = file.read().strip()
            process = f" (process {number})" if number else ""
            raise CannotStart(
                f"Another ContextStudio server{process} uses the data folder {data_dir}; "
                "stop it, or set CONTEXTSTUDIO_DATA_DIR to another folder."
            ) from error
        # The lock is on the file; its content is only for the next process's message, so a full
        # disk is no reason not to start.
        with contextlib.suppress(OSError):
            os.truncate(file.fileno(), 0)
            os.write(file.fileno(), str(os.getpid()).encode())
        yield


def _address(listener: socket.socket) -> str:
    return address_of(settings.HOST, listener.getsockname()[1])


@contextlib.contextmanager
def _port() -> Iterator[socket.socket]:
    """A socket that listens on HOST and PORT; port 0 means any free one."""
    family = socket.AF_INET6 if ":" in settings.HOST else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        # Otherwise a restarted server finds its port busy (TIME_WAIT).
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((settings.HOST, settings.PORT))
            listener.listen()
        except OSError as error:
            is_of_port = error.errno in (errno.EADDRINUSE, errno.EACCES)
            raise CannotStart(
                f"Port {settings.PORT} of {settings.HOST} can't be used: {error.strerror}. "
                f"Set {_OTHER_PORT if is_of_port else _OTHER_HOST}."
            ) from error
        yield listener
