"""What operators are told."""

from typing import Any

import pytest
from django.db import InterfaceError, OperationalError
from django.test import Client
from redis.exceptions import ConnectionError as RedisConnectionError

from contextstudio.accounts.jobs import queue, runner
from contextstudio.accounts.models import Job

pytestmark = pytest.mark.django_db


def test_a_process_that_answers_is_alive(client: Client) -> None:
    assert client.get("/healthz").content == b"ok"


def test_it_is_ready_once_a_worker_has_done_the_canary_job(client: Client) -> None:
    waiting = client.get("/readyz")
    assert waiting.status_code == 503
    assert waiting.json()["jobs"] == "No job was done in the last 90 seconds."
    job = queue.claim()
    assert job is not None
    runner.run(job)
    done = client.get("/readyz")
    assert done.status_code == 200
    assert done.json() == {"database": "ok", "jobs": "ok", "live": "ok"}


def test_asking_often_makes_one_canary(client: Client) -> None:
    for _ in range(3):
        client.get("/readyz")
    assert Job.objects.count() == 1


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_it_is_not_ready_without_its_database(
    client: Client, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr("contextstudio.accounts.jobs.canary.send", fail)
    assert client.get("/readyz").json()["database"] == "The database accepts no writes."


@pytest.mark.parametrize("error", [ConnectionRefusedError, RedisConnectionError])
def test_it_is_not_ready_without_its_channel_layer(
    client: Client, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    class Silent:
        async def new_channel(self) -> str:
            raise error

    monkeypatch.setattr("contextstudio.web.health.get_channel_layer", Silent)
    assert "does not answer" in client.get("/readyz").json()["live"]


def test_the_figures_are_in_prometheus_form_and_name_nobody(
    client: Client, project: Any
) -> None:
    Job.objects.create(project=project, kind="x", actor="user:1")
    lines = client.get("/metrics").content.decode().splitlines()
    assert 'contextstudio_jobs{status="queued"} 1' in lines
    assert 'contextstudio_jobs{status="failed"} 0' in lines
    assert any(line.startswith("contextstudio_answers_total ") for line in lines)
    assert not any("user" in line or "demo" in line for line in lines)
