"""The queue says of each job what it is about."""

import re
import uuid

import pytest
from django.test import Client

from contextstudio.accounts import jobs
from contextstudio.accounts.models import Project, User
from operations.find_replace import secrets
from tests.people import caller
from threads.imports.jobs import KIND
from threads.models import Import, Session
from threads.sessions.services import delete_session

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


def test_a_job_says_of_a_deleted_session_that_it_was_and_does_not_lead_there(
    owner: User, project: Project
) -> None:
    there, deleted = (
        Session.objects.create(project=project, title=title)
        for title in ("Kept", "Lost")
    )
    erased = uuid.uuid4()
    for session_id in (there.pk, deleted.pk, erased):
        arguments = {"session_id": str(session_id)}
        jobs.enqueue(project, "summary", arguments, caller(owner))
    delete_session(caller(owner), deleted.pk)
    browser = Client()
    browser.force_login(owner)
    assert shown(browser) == {
        f"Kept · {project}",
        f"Lost, session deleted · {project}",
        f"Session deleted · {project}",
    }
    html = browser.get("/settings/jobs/").content.decode()
    assert f"/sessions/{there.pk}/" in html
    assert f"/sessions/{deleted.pk}/" not in html
    assert f"/sessions/{erased}/" not in html


def shown(browser: Client) -> set[str]:
    """What stands below the titles of the jobs."""
    html = browser.get("/settings/jobs/").content.decode()
    return set(re.findall(r'<span class="session-line">(.*?)</span>', html))
