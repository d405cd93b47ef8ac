"""Whatever a file is, importing it is answered: with a report, or with a refusal that says why."""

import json
import os
import resource
from io import BytesIO

import pytest
from django.test import Client

from contextstudio.accounts.domain.errors import DomainError
from contextstudio.accounts.jobs import JobContext
from contextstudio.accounts.jobs.queue import claim
from contextstudio.accounts.models import Job
from tests.threads.support.mutations import file_of
from tests.threads.support.specimens import SPECIMENS
from threads.imports import jobs

COUNT = int(os.environ.get("MUTATIONS", "200"))
"""Files; `make soak` has more of them answered."""
ON_BOTH = 50
"""So many are answered on PostgreSQL too; reading is the same on both."""
AT_ONCE = 25
MAX_MEMORY_BYTES = 600 << 20
"""Bytes that the process may come to hold beyond what it held, whatever is sent to it."""


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(first, marks=() if first < ON_BOTH else pytest.mark.sqlite)
        for first in range(0, COUNT, AT_ONCE)
    ],
)
@pytest.mark.django_db
def test_every_mutated_file_is_answered(
    agent: Client, caplog: pytest.LogCaptureFixture, first: int
) -> None:
    answer_to(agent, "warm", SPECIMENS["openai"])
    before = most_memory()
    for seed in range(first, first + AT_ONCE):
        name, data = file_of(seed)
        answer_to(agent, name, data)
        faults = [record for record in caplog.records if record.levelname == "ERROR"]
        assert not faults, f"{name}: a parser failed in a way of its own"
        assert most_memory() - before < MAX_MEMORY_BYTES, (
            f"{name} takes too much memory"
        )


@pytest.mark.parametrize("name", SPECIMENS)
@pytest.mark.django_db
def test_every_specimen_is_imported_as_what_it_is(agent: Client, name: str) -> None:
    status, body = answer_to(agent, name, SPECIMENS[name])
    assert status == 201, body
    formats = {session["format"] for session in body["sessions"]}
    assert formats == {name.partition(",")[0]}


def answer_to(agent: Client, name: str, data: bytes) -> tuple[int, dict[str, object]]:
    """What an import is answered, its job's result included; fails on anything but an answer."""
    file = BytesIO(data)
    file.name = f"{name}.jsonl"
    response = agent.post("/api/sessions/import", {"file": file})
    assert response.status_code in (200, 201, 202, 413, 422), (name, response.content)
    body = json.loads(response.content)
    if response.status_code >= 400:
        assert body["detail"] and body["code"], name
        return response.status_code, body
    if response.status_code == 202:
        return 202, run_job(body["job_id"], name)
    assert "warnings" in body and "sessions" in body, name
    return response.status_code, body


def run_job(job_id: str, name: str) -> dict[str, object]:
    """Do an import's job; one that is refused says why, like a request."""
    job = claim(Job.objects.get(pk=job_id).pk)
    assert job is not None
    context = JobContext(job)
    try:
        result = jobs.run_import(context, **job.arguments)
    except DomainError as refusal:
        assert refusal.message, name
        return {}
    for (
        effect
    ) in context.effects:  # what it staged is shown, as at the end of every job
        effect()
    return result


def most_memory() -> int:
    """The most bytes that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
