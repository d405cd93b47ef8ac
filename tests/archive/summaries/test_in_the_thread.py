"""Summaries beside a thread: those on their way into it, and a session's settings."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from archive.models import SummarySettings
from contextstudio.accounts.models import Job, User
from tests.operations.support.rest import get, operate, post

from .conftest import run

Use = Callable[..., Any]


@pytest.fixture
def browser(owner: User) -> Client:
    client = Client()
    client.force_login(owner)
    return client


def pending(browser: Client, session_id: str, *known: object) -> str:
    path = f"/sessions/{session_id}/summaries/pending"
    answer = browser.get(path, {"known": ",".join(map(str, (*known, "nonsense")))})
    assert answer.status_code == 200
    return answer.content.decode()


def order(browser: Client, session_id: str) -> Job:
    fields = {"targets": "m1 m2 m3 m4", "record": "1"}
    answer = browser.post(f"/sessions/{session_id}/summaries", fields)
    job = Job.objects.latest("created_at")
    told = json.loads(answer["HX-Trigger"])
    assert told == {"summaryOrdered": {"job": str(job.pk)}}
    return job


def test_a_summary_is_shown_where_its_digest_will_stand_until_that_is_there(
    browser: Client, agent: Client, session_id: str, use: Use
) -> None:
    use("fast")
    assert "section" not in pending(browser, session_id)
    job = order(browser, session_id)
    waiting = pending(browser, session_id)
    for words in ('data-at="m1"', "#1–#4", "Waiting…", "/cancel"):
        assert words in waiting
    Job.objects.filter(pk=job.pk).update(notes={"preview": "They <b>chose"})
    assert "They &lt;b&gt;chose" in pending(browser, session_id)
    run(str(job.pk))
    assert "section" not in pending(browser, session_id)
    done = pending(browser, session_id, job.pk)
    assert 'data-status="done"' in done
    assert "#1–#4 summarised by compatible/fast" in done
    log = get(agent, f"/api/sessions/{session_id}/operations")["operations"]
    assert [one["type"] for one in log] == ["digest"]


def test_one_that_is_only_proposed_is_not_said_to_have_changed_the_thread(
    browser: Client, agent: Client, session_id: str, use: Use
) -> None:
    use("fast")
    path, body = f"/api/sessions/{session_id}/summaries", {"start": 1, "end": 5}
    job_id = post(agent, path, {**body, "propose": True}, expect=202)["job_id"]
    run(job_id)
    done = pending(browser, session_id, job_id)
    assert "summarised by compatible/fast, as a proposal:" in done
    assert "tokens would become" in done


def test_a_pending_summary_stands_at_the_fold_that_its_messages_came_into(
    browser: Client, agent: Client, session_id: str, use: Use
) -> None:
    use("fast")
    order(browser, session_id)
    operate(agent, session_id, "snip", targets=["m1", "m2"])
    assert 'data-at="o1"' in pending(browser, session_id)
    Job.objects.update(arguments=Job.objects.get().arguments | {"keys": ["o99"]})
    assert 'data-at=""' in pending(browser, session_id)


def test_one_that_failed_says_why_to_the_page_that_knows_it_and_is_retried(
    browser: Client, session_id: str, use: Use
) -> None:
    use("none")
    job = order(browser, session_id)
    run(str(job.pk))
    for known in (
        [job.pk],
        [],
    ):  # a page that saw it run, and one that was loaded later
        failed = pending(browser, session_id, *known)
        assert "has no such model" in failed.replace("&#x27;", "'")
        assert failed.count("/retry") == failed.count("/dismiss") == 1
    browser.post(f"/sessions/{session_id}/summaries/{job.pk}/retry")
    assert "Waiting…" in pending(browser, session_id)
    browser.post(f"/sessions/{session_id}/summaries/{job.pk}/cancel")
    assert "Cancelled. Nothing was changed." in pending(browser, session_id, job.pk)


def test_one_that_failed_is_shown_until_it_is_dismissed_and_when_it_fails_again(
    browser: Client, session_id: str, use: Use
) -> None:
    use("none")
    job = order(browser, session_id)
    path = f"/sessions/{session_id}/summaries/{job.pk}"
    browser.post(f"{path}/dismiss")
    assert "Waiting…" in pending(browser, session_id)
    run(str(job.pk))
    browser.post(f"{path}/dismiss")
    assert "section" not in pending(browser, session_id)
    browser.post(f"{path}/retry")
    run(str(job.pk))
    assert 'data-status="failed"' in pending(browser, session_id)


def test_one_that_failed_gives_way_to_a_later_one_that_succeeded(
    browser: Client, session_id: str, use: Use
) -> None:
    use("none")
    run(str(order(browser, session_id).pk))
    assert 'data-status="failed"' in pending(browser, session_id)
    use("fast")
    run(str(order(browser, session_id).pk))
    assert "section" not in pending(browser, session_id)


def test_a_viewer_can_not_dismiss_it_for_all(
    browser: Client, session_id: str, use: Use, viewer: User
) -> None:
    use("none")
    job = order(browser, session_id)
    run(str(job.pk))
    other = Client()
    other.force_login(viewer)
    path = f"/sessions/{session_id}/summaries/{job.pk}/dismiss"
    assert other.post(path).status_code == 403
    assert 'data-status="failed"' in pending(browser, session_id)


def test_a_summary_for_the_dialog_is_not_shown_in_the_thread(
    browser: Client, session_id: str, use: Use
) -> None:
    use("fast")
    browser.post(f"/sessions/{session_id}/summaries", {"targets": "m1 m2"})
    assert "section" not in pending(browser, session_id)


def test_a_session_has_a_form_for_what_it_overrides(
    browser: Client, session_id: str, viewer: User
) -> None:
    path = f"/sessions/{session_id}/summaries/settings"
    policy = browser.get(f"/sessions/{session_id}/policy").content.decode()
    assert f'hx-get="{path}"' in policy
    before = browser.get(path).content.decode()
    assert "This session may be summarised automatically." in before
    given = {
        "summarization_provider": "groq",
        "summarization_model": "llama",
        "disable_auto_summarize": "yes",
    }
    saved = browser.post(path, given)
    assert saved["Location"] == f"/sessions/{session_id}/policy#summaries"
    row = SummarySettings.objects.get()
    assert (row.summarization_provider, row.disable_auto_summarize) == ("groq", True)
    after = browser.get(path).content.decode()
    assert '<option value="yes" selected>' in after
    assert "This session is never summarised automatically." in after
    assert "not set" in after
    browser.post(path, {})
    row.refresh_from_db()
    assert (row.summarization_provider, row.disable_auto_summarize) == ("", None)
    wrong = browser.post(path, {"summarization_provider": "nobody"}, follow=True)
    assert "There is no such setting." in wrong.content.decode()
    other = Client()
    other.force_login(viewer)
    shown = other.get(path).content.decode()
    assert "This session may be summarised automatically." in shown
    assert "<form" not in shown, "no fields for what they can't save"
