"""A worker that is killed costs nothing: its job is done once, by another."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from django.conf import LazySettings
from django.conf import settings as project_settings

from contextstudio.accounts import jobs
from contextstudio.accounts.jobs import kinds
from contextstudio.accounts.models import Job, Project, User
from contextstudio.celery import app as celery
from tests.people import caller
from tests.servers import PATIENCE_SECONDS, ROOT, environment, url_of_test_database

DRIVER = "tests.contextstudio.accounts.jobs.driver"
KIND = "test.staged"
STAGES = ["working", "finishing"]
CELERY = [
    *(sys.executable, "-m", "celery", "-A", f"{DRIVER}:celery", "worker"),
    *("--concurrency", "1", "--loglevel", "ERROR"),
    *("--without-gossip", "--without-mingle"),
]

pytestmark = pytest.mark.django_db(transaction=True)

StartWorker = Callable[[], subprocess.Popen[bytes]]


class Meetings:
    """Where workers wait for the test at the stages of their job."""

    def __init__(self) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self._server.settimeout(PATIENCE_SECONDS)
        self._waiting: list[socket.socket] = []

    @property
    def port(self) -> int:
        """Where to meet."""
        return int(self._server.getsockname()[1])

    def next(self) -> str:
        """The stage that a worker has come to; it waits there."""
        worker, _ = self._server.accept()
        worker.settimeout(PATIENCE_SECONDS)
        self._waiting.append(worker)
        return worker.recv(100).decode()

    def go_on(self) -> None:
        """Let the worker that came last go on."""
        self._waiting[-1].sendall(b".")

    def close(self) -> None:
        """Wait for nobody any more."""
        for waiting in (self._server, *self._waiting):
            waiting.close()


@pytest.fixture
def meetings() -> Iterator[Meetings]:
    meeting = Meetings()
    yield meeting
    meeting.close()


@pytest.fixture
def enqueue(
    project: Project, editor: User, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Job]:
    kind = kinds.JobKind(KIND, lambda *_, **__: None)
    monkeypatch.setitem(kinds._kinds, KIND, kind)
    return lambda slug="effect": jobs.enqueue(
        project, KIND, {"slug": slug}, caller(editor)
    )


@pytest.fixture
def start_worker(
    meetings: Meetings,
) -> Iterator[Callable[[list[str]], subprocess.Popen[bytes]]]:
    workers: list[subprocess.Popen[bytes]] = []

    def start(command: list[str]) -> subprocess.Popen[bytes]:
        workers.append(
            subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment(
                    DATABASE_URL=url_of_test_database(),
                    SECRET_KEY=project_settings.SECRET_KEY,
                    DJANGO_SETTINGS_MODULE="contextstudio.settings",
                    TEST_SOCKET=str(meetings.port),
                ),
                start_new_session=True,
            )
        )
        return workers[-1]

    yield start
    for worker in workers:
        if worker.poll() is None:
            kill(worker)


def kill(worker: subprocess.Popen[bytes]) -> None:
    """End a worker and all its processes, as a power cut would."""
    os.killpg(worker.pid, signal.SIGKILL)
    worker.wait(PATIENCE_SECONDS)


def let_it_finish(meetings: Meetings) -> None:
    for stage in STAGES:
        assert meetings.next() == stage
        meetings.go_on()


def is_done_once(job: Job) -> None:
    job.refresh_from_db()
    assert (job.status, job.result) == ("done", {"slug": "effect"})
    assert (job.attempts, job.interruptions) == (1, 1)
    assert Project.objects.filter(slug="effect").count() == 1


@pytest.mark.parametrize("stage", STAGES)
def test_a_job_of_a_killed_worker_is_done_once_by_another(
    enqueue: Callable[..., Job],
    meetings: Meetings,
    start_worker: Callable[..., subprocess.Popen[bytes]],
    stage: str,
) -> None:
    job = enqueue()
    command = [sys.executable, "-m", DRIVER]
    first = start_worker(command)
    while meetings.next() != stage:
        meetings.go_on()
    kill(first)
    second = start_worker(command)
    let_it_finish(meetings)
    assert second.wait(PATIENCE_SECONDS) == 0
    is_done_once(job)


@pytest.mark.redis
def test_a_job_of_a_killed_celery_worker_is_done_once_by_another(
    enqueue: Callable[..., Job],
    meetings: Meetings,
    start_worker: Callable[..., subprocess.Popen[bytes]],
    settings: LazySettings,
) -> None:
    settings.EXECUTOR = "celery"
    assert celery.conf.broker_url == settings.REDIS_URL
    job = enqueue()
    first = start_worker(CELERY)
    assert meetings.next() == "working"
    kill(first)
    start_worker(CELERY)
    let_it_finish(meetings)
    while Job.objects.get(pk=job.pk).status == "running":
        pass
    is_done_once(job)


@pytest.mark.redis
def test_a_celery_worker_that_is_told_to_stop_puts_its_job_back_unharmed(
    enqueue: Callable[..., Job],
    meetings: Meetings,
    start_worker: Callable[..., subprocess.Popen[bytes]],
    settings: LazySettings,
) -> None:
    settings.EXECUTOR = "celery"
    job = enqueue("endless")
    worker = start_worker(CELERY)
    assert meetings.next() == "working"
    meetings.go_on()
    worker.terminate()
    assert worker.wait(PATIENCE_SECONDS) == 0
    job.refresh_from_db()
    assert (job.status, job.attempts, job.interruptions) == ("queued", 0, 0)
