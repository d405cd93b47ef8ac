"""The embedded executor, and what it does beside the jobs."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import call_command
from django.db import InterfaceError, OperationalError, connection
from django.utils import timezone

from contextstudio.accounts import jobs
from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.jobs import JobContext, housekeeping, kinds, queue, waking
from contextstudio.accounts.jobs.workers import Workers
from contextstudio.accounts.models import Job, Project, TokenBucket, User
from tests.people import caller
from tests.servers import PATIENCE_SECONDS, ROOT, environment, url_of_test_database

KIND = "test"

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def workers() -> Iterator[Workers]:
    running = Workers(2)
    running.start()
    yield running
    running.stop()


def does(
    monkeypatch: pytest.MonkeyPatch, handler: Any, queue_name: str = "default"
) -> None:
    kind = kinds.JobKind(KIND, handler, queue_name)
    monkeypatch.setitem(kinds._kinds, KIND, kind)


def see_a_job_done(
    monkeypatch: pytest.MonkeyPatch, project: Project, editor: User
) -> None:
    """Start a thread that does jobs, and wait until it has done one."""
    done = threading.Event()
    does(monkeypatch, lambda context: done.set())
    jobs.enqueue(project, KIND, {}, caller(editor))
    workers = Workers(1)
    workers.start()
    assert done.wait(PATIENCE_SECONDS)
    workers.stop()


def test_threads_do_jobs_as_they_come(
    workers: Workers, project: Project, editor: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    met = threading.Barrier(3, timeout=PATIENCE_SECONDS)
    does(monkeypatch, lambda context: met.wait() and None)
    for _ in range(2):
        jobs.enqueue(project, KIND, {}, caller(editor))
    met.wait()
    workers.stop()
    assert list(Job.objects.values_list("status", flat=True)) == ["done", "done"]


def test_threads_that_were_never_started_can_be_stopped() -> None:
    Workers().stop()


def test_a_worker_that_is_stopped_puts_its_job_back(
    workers: Workers, project: Project, editor: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = threading.Event()

    def work(context: JobContext) -> None:
        started.set()
        while True:
            context.progress(0)

    does(monkeypatch, work)
    jobs.enqueue(project, KIND, {}, caller(editor))
    assert started.wait(PATIENCE_SECONDS)
    workers.stop()
    assert Job.objects.values_list("status", "attempts").get() == ("queued", 0)


def test_a_lease_is_kept_while_the_work_goes_on(
    workers: Workers,
    project: Project,
    editor: User,
    monkeypatch: pytest.MonkeyPatch,
    settings: LazySettings,
) -> None:
    settings.JOB_LEASE_SECONDS = 0.3
    renewals = threading.Semaphore(0)
    renew = queue.renew
    faults: list[Exception] = [OperationalError("away"), InterfaceError("closed")]

    def counted(job: Job) -> bool:
        if faults:
            raise faults.pop()
        kept = renew(job)
        renewals.release()
        return kept

    def work(context: JobContext) -> dict[str, Any]:
        for _ in range(5):
            assert renewals.acquire(timeout=PATIENCE_SECONDS)
        done.set()
        return {}

    done = threading.Event()
    monkeypatch.setattr(queue, "renew", counted)
    does(monkeypatch, work)
    jobs.enqueue(project, KIND, {}, caller(editor))
    assert done.wait(PATIENCE_SECONDS)
    workers.stop()
    assert Job.objects.values_list("status", "attempts").get() == ("done", 1)


@pytest.mark.parametrize("fault", [OperationalError("away"), InterfaceError("closed")])
def test_a_database_that_is_away_for_a_while_stops_no_worker(
    project: Project,
    editor: User,
    monkeypatch: pytest.MonkeyPatch,
    fault: Exception,
    caplog: pytest.LogCaptureFixture,
) -> None:
    claim = queue.claim
    failures = iter([fault] * 2)

    def unsteady() -> Job | None:
        for failure in failures:
            waking.work_waits.set()
            raise failure
        return claim()

    monkeypatch.setattr(queue, "claim", unsteady)
    see_a_job_done(monkeypatch, project, editor)
    assert caplog.messages == [f"The database can't be asked for jobs: {fault}"] * 2
    assert "Traceback" not in caplog.text


def test_what_has_expired_is_removed_and_what_has_not_is_kept() -> None:
    now = timezone.now()
    for key, age in (("old", timedelta(days=2)), ("new", timedelta(hours=1))):
        TokenBucket.objects.create(key=key, level=1, updated_at=now - age)
    housekeeping.clean()
    assert TokenBucket.objects.values_list("key", flat=True).get() == "new"


@pytest.mark.parametrize(("days", "left"), [(30, {"new", "asks"}), (0, None)])
def test_jobs_that_ended_long_ago_are_removed(
    settings: LazySettings, days: int, left: set[str] | None
) -> None:
    settings.JOBS_KEPT_DAYS = days
    ended = Job.Status.DONE, Job.Status.FAILED, Job.Status.CANCELLED
    ages = {"old": (31, ended), "new": (29, ended), "asks": (31, (Job.Status.ASKS,))}
    for kind, (age, statuses) in ages.items():
        at = timezone.now() - timedelta(days=age)
        for status in statuses:
            Job.objects.create(kind=kind, actor="system", status=status, finished_at=at)
    housekeeping.clean()
    kept = Job.objects.filter(kind__in=ages).values_list("kind", flat=True)
    assert set(kept) == (set(ages) if left is None else left)


@pytest.mark.parametrize(
    ("fault", "has_traceback"),
    [(OperationalError("away"), False), (OSError("denied"), True)],
)
def test_what_can_not_be_removed_stops_no_worker(
    project: Project,
    editor: User,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    fault: Exception,
    has_traceback: bool,
) -> None:
    def fail() -> None:
        raise fault

    monkeypatch.setattr(housekeeping, "clean", fail)
    see_a_job_done(monkeypatch, project, editor)
    assert "could not be removed" in caplog.text
    assert ("Traceback" in caplog.text) == has_traceback


def test_work_does_jobs_without_a_web_server(project: Project) -> None:
    Job.objects.create(kind="canary", actor="system")
    worker = subprocess.Popen(
        [sys.executable, "manage.py", "work", "--threads", "1"],
        cwd=ROOT,
        env=environment(DATABASE_URL=url_of_test_database()),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert worker.stdout is not None
    assert worker.stdout.readline() == "Waiting for jobs.\n"
    while not Job.objects.filter(status="done").exists():
        connection.close()
    worker.terminate()
    assert worker.wait(PATIENCE_SECONDS) == 0
    worker.stdout.close()


def test_work_refuses_to_wait_without_a_thread() -> None:
    with pytest.raises(Invalid, match="at least 1"):
        call_command("work", "--threads", "0")


def test_the_embedded_server_never_loads_celery() -> None:
    code = (
        "import django, sys; django.setup(); import contextstudio.asgi; "
        "sys.exit('celery' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=environment(
            DJANGO_SETTINGS_MODULE="contextstudio.settings", SECRET_KEY="x"
        ),
        check=False,
    )
    assert done.returncode == 0
