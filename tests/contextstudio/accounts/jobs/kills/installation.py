"""An installation in separate processes, each of which may be killed and restarted."""

import os
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.servers import PATIENCE_SECONDS, ROOT, Server

SETTINGS = f"{__package__}.settings"
WEB, WORKER, CHILD, REDIS = "web", "worker", "process of a worker", "Redis"


class Process:
    """A process with its children, signalled as a group."""

    def __init__(self, command: list[str], environment: dict[str, str], log: Path):
        with log.open("a") as output:
            self._process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    @property
    def children(self) -> list[int]:
        """The processes that it has started."""
        number = self._process.pid
        try:
            told = Path(f"/proc/{number}/task/{number}/children").read_text()
        except OSError:
            return []
        return [int(word) for word in told.split()]

    def end(self, number: int = signal.SIGKILL) -> None:
        """Send the group a signal, and wait until the process has ended."""
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            pass
        self._process.wait(PATIENCE_SECONDS)


class Embedded:
    """One server, whose threads run the jobs, as started by `make run`."""

    name = "one process, SQLite"
    victims: tuple[str, ...] = (WEB,)

    def __init__(self, server: Server) -> None:
        self.server = server
        server.variables |= {
            "DJANGO_SETTINGS_MODULE": SETTINGS,
            "CONTEXTSTUDIO_ALLOW_PRIVATE_UPSTREAMS": "1",
            "CONTEXTSTUDIO_EXECUTOR": "embedded",
            "CONTEXTSTUDIO_SKIP_SECRETS": "0",
            "REDIS_URL": "",
        }

    def start(self) -> None:
        self.server.start()

    def kill(self, victim: str, chance: random.Random) -> Callable[[], object]:
        """Kill a part at once; returns a function that restarts it."""
        self.server.kill()
        return self.server.start

    def stop(self) -> None:
        """Stop the processes as an operator would."""
        assert self.server.stop(signal.SIGTERM) == 0


class Distributed(Embedded):
    """A server, a Celery worker and its own Redis, on PostgreSQL."""

    name = "PostgreSQL, Redis, Celery"
    victims = (WEB, WORKER, WORKER, CHILD, REDIS)

    def __init__(self, server: Server) -> None:
        super().__init__(server)
        self._redis_port = _free_port()
        server.variables |= {
            "CONTEXTSTUDIO_EXECUTOR": "celery",
            "REDIS_URL": f"redis://127.0.0.1:{self._redis_port}/0",
        }

    def start(self) -> None:
        self._start_redis()
        super().start()
        self._start_worker()

    def kill(self, victim: str, chance: random.Random) -> Callable[[], object]:
        match victim:
            case "Redis":
                self._redis.end()
                return self._start_redis
            case "worker":
                self._worker.end()
                return self._start_worker
            case "process of a worker" if children := self._worker.children:
                os.kill(chance.choice(children), signal.SIGKILL)
                return lambda: None  # the worker replaces it
        return super().kill(victim, chance)

    def stop(self) -> None:
        try:
            super().stop()
        finally:
            self._worker.end(signal.SIGTERM)
            self._redis.end(signal.SIGTERM)

    def _start_redis(self) -> None:
        """Start Redis configured as docs/production.md says, and wait until it answers."""
        self._redis = self._process(
            *("redis-server", "--bind", "127.0.0.1", "--port", str(self._redis_port)),
            *("--save", "", "--appendonly", "yes", "--maxmemory-policy", "noeviction"),
            *("--dir", str(self.server.folder)),
        )
        while not _answers(self._redis_port):
            pass

    def _start_worker(self) -> None:
        self._worker = self._process(
            *(sys.executable, "-m", "celery", "-A", "contextstudio", "worker"),
            *("--queues", "default,provider", "--concurrency", "2"),
            *("--without-gossip", "--without-mingle", "--loglevel", "WARNING"),
        )

    def _process(self, *command: str) -> Process:
        log = self.server.folder / "log"
        return Process(list(command), self.server.environment(), log)


@contextmanager
def running(installation: Embedded) -> Iterator[Embedded]:
    """Start an installation, and stop it even if something failed."""
    installation.start()
    try:
        yield installation
    finally:
        installation.stop()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), 1) as redis:
            redis.sendall(b"PING\r\n")
            return redis.recv(5) == b"+PONG"
    except OSError:
        return False
