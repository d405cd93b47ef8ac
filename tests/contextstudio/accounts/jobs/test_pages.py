"""The page of the queue: what it shows again by itself, and what it says was done."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.test import Client
from django.utils import timezone

from contextstudio.accounts.models import Job, Project, User
from contextstudio.accounts.views import jobs as page

QUEUE = "/settings/jobs/"


@pytest.fixture
def browser(client: Client, owner: User) -> Client:
    client.force_login(owner)
    return client


def test_a_page_of_older_jobs_stays_that_page_when_it_is_asked_for_again(
    browser: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "SHOWN", 1)
    now = timezone.now()
    for kind, at in (("newer", now), ("older", now - timedelta(hours=1))):
        Job.objects.create(project=project, kind=kind, actor="system", created_at=at)
    first = browser.get(QUEUE).content.decode()
    (older,) = re.findall(r'href="([^"]*cursor=[^"]*)"', first)
    shown = browser.get(QUEUE + unescape(older)).content.decode()
    (again,) = re.findall(r'hx-get="([^"]*)"', shown)
    rows = browser.get(unescape(again), headers={"HX-Request": "true"})
    assert "Older" in rows.content.decode()
    assert "Newer" not in rows.content.decode()
    assert f'href="{QUEUE}">' in shown.partition("Pages of jobs")[2]


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("queued", "The job is cancelled."),
        ("running", "The job stops at its next step."),
        ("done", "The job had already ended."),
    ],
)
def test_cancelling_says_what_became_of_the_job(
    browser: Client, project: Project, status: str, said: str
) -> None:
    job = Job.objects.create(
        project=project, kind="canary", actor="system", status=status
    )
    answer = browser.post(f"{QUEUE}{job.pk}/cancel", follow=True)
    assert said in answer.content.decode()


def test_a_job_that_waits_for_long_says_that_no_worker_has_taken_it(
    browser: Client, project: Project
) -> None:
    job = Job.objects.create(project=project, kind="canary", actor="system")
    assert "No worker has taken it yet" not in browser.get(QUEUE).content.decode()
    job.run_after = timezone.now() - page.LONG_WAIT - timedelta(seconds=1)
    job.save()
    assert "No worker has taken it yet" in browser.get(QUEUE).content.decode()
    job.status = Job.Status.DONE
    job.save()
    assert "No worker has taken it yet" not in browser.get(QUEUE).content.decode()


@pytest.mark.parametrize(
    ("done", "total", "said"),
    [
        (1, 1, "1 session"),
        (2, 2, "2 sessions"),
        (1, 3, "1 of 3 sessions"),
        (1, None, "1 session"),
        (0, 1, ""),
    ],
)
def test_a_job_says_how_far_it_came_in_words_for_one_or_several(
    done: int, total: int | None, said: str
) -> None:
    assert Job(done=done, total=total, unit="sessions").progress == said
