"""A kind of job that does what a test defines."""

from collections.abc import Iterator

import pytest

from contextstudio.accounts import jobs
from contextstudio.accounts.jobs import kinds
from contextstudio.accounts.models import Job, Project, User
from tests.people import caller

from .working import KIND, Work


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Iterator[Work]:
    handler = Work()
    monkeypatch.setitem(kinds._kinds, KIND, kinds.JobKind(KIND, handler))
    yield handler


@pytest.fixture
def job(work: Work, project: Project, editor: User) -> Job:
    return jobs.enqueue(project, KIND, {"number": 1}, caller(editor))
