"""The Celery door: a message is a job's id, and losing messages loses nothing."""

import os
import threading
import uuid
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from celery.fixups.django import DjangoWorkerFixup
from django.conf import LazySettings
from django.db import InterfaceError, connection
from kombu import Connection
from kombu.exceptions import OperationalError
from kombu.transport import redis

from contextstudio.accounts import jobs
from contextstudio.accounts.jobs import kinds, tasks, waking
from contextstudio.accounts.models import Job, Project, User
from contextstudio.celery import app
from tests.people import caller

KIND = "test"

Message = tuple[str, list[str], str]


@pytest.fixture
def sent(settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> list[Message]:
    """The messages that would have gone to the broker."""
    messages: list[Message] = []

    def send(name: str, arguments: list[str], *, queue: str, retry: bool) -> None:
        assert not retry
        messages.append((name, arguments, queue))

    settings.EXECUTOR = "celery"
    monkeypatch.setattr("celery.current_app.send_task", send)
    return messages


@pytest.fixture
def job(
    sent: list[Message],
    project: Project,
    editor: User,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> Job:
    kind = kinds.JobKind(KIND, lambda context: {"done": True}, kinds.PROVIDER_QUEUE)
    monkeypatch.setitem(kinds._kinds, KIND, kind)
    with django_capture_on_commit_callbacks(execute=True):
        return jobs.enqueue(project, KIND, {}, caller(editor))


def test_a_message_is_the_id_of_a_job_on_the_queue_of_its_kind(
    job: Job, sent: list[Message]
) -> None:
    assert sent == [(waking.TASK, [str(job.pk)], "provider")]


def test_a_task_does_its_job_and_a_second_message_does_nothing(job: Job) -> None:
    tasks.run_job(str(job.pk))
    job.refresh_from_db()
    assert (job.status, job.attempts) == ("done", 1)
    tasks.run_job(str(job.pk))
    tasks.run_job(str(uuid.uuid4()))
    job.refresh_from_db()
    assert job.attempts == 1


def test_a_job_of_a_kind_that_is_no_more_keeps_the_sweep_from_no_other(
    job: Job, sent: list[Message], project: Project
) -> None:
    gone = Job.objects.create(
        project=project, kind="gone", actor="system", run_after=job.created_at
    )
    Job.objects.filter(pk=gone.pk).update(run_after=job.run_after - timedelta(hours=1))
    sent.clear()
    tasks.sweep()
    assert [ids for _, ids, _ in sent] == [[str(gone.pk)], [str(job.pk)]]


def test_jobs_that_wait_for_providers_keep_the_sweep_from_no_other(
    job: Job, sent: list[Message], project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "_MAX_AT_ONCE", 1)
    other = Job.objects.create(project=project, kind="gone", actor="system")
    sent.clear()
    tasks.sweep()
    tasks.sweep()
    assert sorted((name, ids) for _, ids, name in sent) == [
        ("default", [str(other.pk)]),
        ("provider", [str(job.pk)]),
    ]


def test_a_job_whose_message_was_lost_is_found_by_the_sweep_once_a_minute(
    job: Job, sent: list[Message]
) -> None:
    sent.clear()
    tasks.sweep()
    tasks.sweep()
    assert sent == [(waking.TASK, [str(job.pk)], "provider")]


@pytest.mark.django_db(transaction=True)
def test_a_sweep_that_fails_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    faults = [InterfaceError("closed"), OSError("denied"), ValueError("a bug")]
    over = threading.Event()

    def sweep() -> None:
        if faults:
            raise faults.pop()
        over.set()

    monkeypatch.setattr(tasks, "_stopping", over)
    monkeypatch.setattr(tasks, "_SECONDS_BETWEEN_SWEEPS", 0)
    monkeypatch.setattr(tasks, "sweep", sweep)
    tasks._sweep()
    assert not faults


def test_a_broker_that_is_away_harms_no_request(
    job: Job, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*arguments: Any, **options: Any) -> None:
        raise OperationalError("no broker")

    monkeypatch.setattr("celery.current_app.send_task", fail)
    waking.wake(job.pk, "default")
    assert "the sweep will find job" in caplog.text


def test_who_sends_a_message_gives_up_soon_and_who_waits_for_one_does_not() -> None:
    sending = app.connection_for_write().transport_options
    assert sending["socket_timeout"] <= 2
    assert sending["socket_connect_timeout"] <= 2
    assert app.conf.broker_pool_acquire_timeout <= 2
    assert app.connection().transport_options == sending  # a worker's banner asks so
    assert app.connection_for_read().transport_options["socket_timeout"] == 30


def test_a_broker_that_is_away_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """kombu would ask a second and a third time, and count these in seconds."""
    asked: list[str] = []

    def refuse(transport: redis.Transport) -> None:
        asked.append("connect")
        raise ConnectionRefusedError

    monkeypatch.setattr(redis.Transport, "establish_connection", refuse)
    away = app.connection_for_write("redis://127.0.0.1:1")
    with pytest.raises(OperationalError), app.amqp.Producer(away) as producer:
        app.send_task(waking.TASK, producer=producer, retry=False)
    assert asked == ["connect"]


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_a_process_of_a_worker_ends_no_connection_of_the_one_it_was_forked_from() -> (
    None
):
    connection.close()
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    connection.close()  # back to the pool
    child = os.fork()
    if child == 0:
        DjangoWorkerFixup(app)._close_database()
        os._exit(len(connection._connection_pools))
    assert os.waitpid(child, 0)[1] == 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def test_a_message_outlives_its_worker_and_is_nothing_but_json() -> None:
    assert app.conf.task_acks_late
    assert app.conf.task_reject_on_worker_lost
    assert app.conf.worker_prefetch_multiplier == 1
    assert app.conf.accept_content == ["json"]
    assert not app.conf.task_always_eager
    assert waking.TASK in app.tasks


def test_a_worker_outlives_a_redis_that_goes_while_it_does_a_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What kombu does with the messages in hand, once it has closed the lost connection."""
    monkeypatch.setattr(redis.Channel, "client", SimpleNamespace(ping=lambda: True))
    transport = Connection("redis://").transport
    channel = redis.Channel(transport)
    channel.qos._delivered["tag"] = SimpleNamespace()
    transport.client = None
    channel.close()
    channel.basic_ack("tag")
    assert not channel.qos._delivered


def test_a_worker_waits_for_redis_however_long_that_is_away() -> None:
    assert app.conf.broker_connection_max_retries is None
