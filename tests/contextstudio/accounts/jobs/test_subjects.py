"""The queue says of each job what it is about."""

import re

import pytest
from django.test import Client

from contextstudio.accounts import jobs
from contextstudio.accounts.models import Project, User
from operations.find_replace import secrets
from tests.people import caller
from threads.imports.jobs import KIND
from threads.models import Import, Session

pytestmark = pytest.mark.django_db


def test_jobs_are_told_apart_by_what_they_are_about(
    owner: User, project: Project
) -> None:
    session = Session.objects.create(project=project, title="Lost <holds>")
    brought = Import.objects.create(project=project, name="a.jsonl", created_by="x")
    arguments = {"name": "b.jsonl", "session_id": str(session.pk)}
    jobs.enqueue(project, KIND, arguments, caller(owner))
    jobs.enqueue(project, secrets.KIND, {"import_id": str(brought.pk)}, caller(owner))
    jobs.enqueue(project, "summary", {"session_id": str(session.pk)}, caller(owner))

    browser = Client()
    browser.force_login(owner)
    lines = shown(browser)

    assert lines == {
        f"Lost &lt;holds&gt; · {project}",
        f"a.jsonl · {project}",
        f"b.jsonl · {project}",
    }


def shown(browser: Client) -> set[str]:
    """What stands below the titles of the jobs."""
    html = browser.get("/settings/jobs/").content.decode()
    return set(re.findall(r'<span class="session-line">(.*?)</span>', html))
