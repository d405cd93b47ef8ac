"""A provider for the tests of a module, set up for the project `demo`."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client

from contextstudio.accounts.jobs import queue, runner
from contextstudio.accounts.models import Job
from tests.operations.support.rest import make_session, put

from .provider import KEY, FakeProvider, serve

WORDS = "We compared SQLite and PostgreSQL at length, with all that speaks for either. "
SAID = [
    {"role": "system", "content": "You are careful."},
    {"role": "user", "content": "Please keep the port 8080 in settings/base.py."},
    {"role": "assistant", "content": WORDS * 8 + "We decided to go with SQLite."},
    {"role": "user", "content": "Never commit to main. Run the tests first."},
    {
        "role": "assistant",
        "content": WORDS * 8 + "See https://sqlite.org/wal.html too.",
    },
    {"role": "user", "content": "Go on."},
]


@pytest.fixture(scope="module")
def running_provider() -> Iterator[FakeProvider]:
    yield from serve()


@pytest.fixture
def provider(running_provider: FakeProvider, settings: LazySettings) -> FakeProvider:
    settings.ALLOW_PRIVATE_UPSTREAMS = True
    running_provider.forget()
    return running_provider


@pytest.fixture
def use(agent: Client, provider: FakeProvider) -> Callable[..., Any]:
    """Sets up the provider for the project, with one of its models."""

    def set_up(model: str = "fast", *, key: str = KEY) -> Any:
        path = "/api/projects/demo/providers/compatible"
        body = {"base_url": provider.base_url, "api_key": key, "model": model}
        return put(agent, path, body)

    return set_up


@pytest.fixture
def session_id(agent: Client) -> str:
    return make_session(agent, SAID)


def run(job_id: str) -> Job:
    """Run a due job, in this process."""
    job = queue.claim(Job.objects.get(pk=job_id).pk)
    if job is not None:
        runner.run(job)
    return Job.objects.get(pk=job_id)
