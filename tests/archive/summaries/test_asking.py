"""A paid call that may have happened: the job asks, and repeats it only when a person says so."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings as project_settings
from django.db import connection
from django.test import Client

from contextstudio.accounts.jobs import queue, runner
from contextstudio.accounts.models import Job
from tests.operations.support.rest import post
from tests.servers import ROOT, environment, url_of_test_database

from .conftest import run
from .provider import PATIENCE_SECONDS, FakeProvider
from .test_summaries import order

Use = Callable[..., Any]
pytestmark = pytest.mark.django_db(transaction=True)
WORKER = """
import django; django.setup()
from django.conf import settings
settings.JOB_LEASE_SECONDS = 1
settings.ALLOW_PRIVATE_UPSTREAMS = True
from contextstudio.accounts.jobs import queue, runner
while (job := queue.claim()) is None:
    pass
runner.run(job)
"""


def start_worker() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", WORKER],
        cwd=ROOT,
        env=environment(
            DATABASE_URL=url_of_test_database(),
            SECRET_KEY=project_settings.SECRET_KEY,
            DJANGO_SETTINGS_MODULE="contextstudio.settings",
            CONTEXTSTUDIO_DATA_DIR=str(project_settings.DATA_DIR),
        ),
        start_new_session=True,
    )


def kill(worker: subprocess.Popen[bytes]) -> None:
    os.killpg(worker.pid, signal.SIGKILL)
    worker.wait(PATIENCE_SECONDS)


def claimed_when_due() -> Job | None:
    """What a worker gets of the abandoned job: nothing, for the job asks."""
    while Job.objects.get().status == "running":
        if (job := queue.claim()) is not None:
            return job
    return None


def test_a_killed_worker_repeats_no_paid_call_without_asking(
    agent: Client, session_id: str, use: Use, provider: FakeProvider
) -> None:
    use("slow")
    ordered = order(agent, session_id)
    worker = start_worker()
    assert provider.began.wait(PATIENCE_SECONDS)  # the call is under way
    kill(worker)
    assert claimed_when_due() is None
    job = Job.objects.get()
    assert job.status == "asks"
    assert "may have been charged" in job.error
    assert len(provider.asked) == 1
    assert run(str(job.pk)).status == "asks"  # nobody takes it
    provider.go_on.set()
    answer = post(agent, f"/api/jobs/{ordered['job_id']}/continue")
    assert answer["status"] == "queued"
    job = run(str(job.pk))
    assert (job.status, len(provider.asked)) == (
        "done",
        3,
    )  # again, and the verification
    assert job.result is not None
    assert job.result["operation_id"]
    refused = agent.post(f"/api/jobs/{job.pk}/continue")
    assert refused.json()["code"] == "job_does_not_ask"


def test_a_killed_test_of_a_provider_is_paid_for_and_asks_too(
    agent: Client, use: Use, provider: FakeProvider
) -> None:
    use("slow")
    post(agent, "/api/projects/demo/providers/compatible/test", expect=202)
    worker = start_worker()
    assert provider.began.wait(PATIENCE_SECONDS)
    kill(worker)
    assert claimed_when_due() is None
    assert Job.objects.get().status == "asks"
    assert len(provider.asked) == 1


def test_a_killed_worker_repeats_no_call_that_had_come_to_its_end(
    agent: Client, session_id: str, use: Use, provider: FakeProvider
) -> None:
    use("fast")
    order(agent, session_id)
    job = queue.claim()
    assert job is not None
    context = runner.JobContext(job)
    answers = {"compatible/fast part 1": {"text": "Kept.", "input": 1, "output": 1}}
    context.pay("a call to OpenAI-compatible")
    context.paid(answers=answers)
    Job.objects.update(lease_until=job.created_at)  # its worker died
    job = run(str(job.pk))
    assert job.status == "done", job.error
    assert len(provider.asked) == 1  # the verification alone
    assert provider.asked[0]["messages"][1]["content"].count("Kept.") == 1


def test_a_summary_is_cancelled_in_the_middle_of_a_call(
    agent: Client, session_id: str, use: Use, provider: FakeProvider
) -> None:
    use("slow")
    ordered = order(agent, session_id)

    def work() -> None:
        run(ordered["job_id"])
        connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    assert provider.began.wait(PATIENCE_SECONDS)
    post(agent, f"/api/jobs/{ordered['job_id']}/cancel")
    thread.join(PATIENCE_SECONDS)
    assert Job.objects.get().status == "cancelled"
