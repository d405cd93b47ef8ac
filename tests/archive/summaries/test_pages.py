"""Pages of summaries: the digest's dialog, the providers, the queue."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from contextstudio.accounts.models import Job, User
from tests.operations.support.rest import get, operate, put

from .conftest import run
from .provider import KEY, FakeProvider

Use = Callable[..., Any]


@pytest.fixture
def browser(owner: User) -> Client:
    client = Client()
    client.force_login(owner)
    return client


def summarise(browser: Client, session_id: str, **fields: str) -> str:
    path = f"/sessions/{session_id}/summaries"
    answer = browser.post(path, {"targets": "m1 m2 m3 m4", **fields})
    assert answer.status_code == 200
    return answer.content.decode()


def dialog(browser: Client, session_id: str, job: Job) -> str:
    path = f"/sessions/{session_id}/summaries/{job.pk}"
    return browser.get(path).content.decode()


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("fast", "They chose SQLite."),
        ("broken", "answer broke off"),
        ("redirect", "answered with a redirect, which is not followed"),
        ("none", "has no such model"),
        ("mute", "answered with an empty text"),
        ("busy", "asks to wait: too many requests"),
        ("fault", "had an internal error"),
    ],
)
def test_each_outcome_is_told_in_the_dialog_and_in_the_queue(
    browser: Client, session_id: str, use: Use, model: str, words: str
) -> None:
    use(model)
    assert "Waiting" in summarise(browser, session_id)
    job = run(str(Job.objects.get().pk))
    html = dialog(browser, session_id, job).replace("&#x27;", "'")
    assert words in html
    asks_again = 'hx-trigger="every 2s' in html
    assert asks_again == (model in ("busy", "fault"))
    queue = browser.get("/settings/jobs/").content.decode().replace("&#x27;", "'")
    assert (words in queue) == (model != "fast")
    assert (f"retry-{job.pk}" in queue) == (job.status == "failed")


def test_a_wrong_key_is_told_too(browser: Client, session_id: str, use: Use) -> None:
    use("fast", key="sk-wrong")
    summarise(browser, session_id)
    job = run(str(Job.objects.get().pk))
    assert "refused the key (HTTP 401)" in dialog(browser, session_id, job)


def test_the_dialog_records_nothing_and_offers_what_was_dropped(
    browser: Client, session_id: str, use: Use
) -> None:
    use("fast")
    summarise(browser, session_id)
    job = run(str(Job.objects.get().pk))
    html = dialog(browser, session_id, job)
    assert 'data-kind="path" data-text="settings/base.py"' in html
    assert "Written by compatible/fast" in html
    assert job.result is not None
    assert job.result["operation_id"] is None


def test_a_refusal_of_a_range_is_told_before_anything_is_asked(
    browser: Client, session_id: str
) -> None:
    assert "no message" in summarise(browser, session_id, targets="m77").lower()
    assert not Job.objects.exists()


def test_a_waiting_summary_can_be_stopped_in_the_dialog(
    browser: Client, session_id: str
) -> None:
    summarise(browser, session_id)
    job = Job.objects.get()
    path = f"/sessions/{session_id}/summaries/{job.pk}/cancel"
    assert b"Cancelled. Nothing was changed." in browser.post(path).content


def test_document_1_the_providers_say_which_is_chosen_and_why_and_are_tested(
    browser: Client, agent: Client, use: Use, provider: FakeProvider
) -> None:
    page = "/settings/projects/demo/providers"
    assert b"No provider is set" in browser.get(page).content
    fields = {"name": "compatible", "base_url": provider.base_url, "api_key": KEY}
    assert browser.post(page, fields).status_code == 422  # it needs its model
    assert browser.post(page, {**fields, "model": "fast"}).status_code == 302
    assert b"only provider that is set up" in browser.get(page).content
    assert b'?name=compatible#set"' in browser.get(page).content
    changed = browser.get(page, {"name": "compatible"}).content.decode()
    assert '<option value="compatible" selected>' in changed
    assert f'value="{provider.base_url}"' in changed
    assert 'value="fast"' in changed
    browser.post(f"{page}/compatible/test")
    assert b"Testing" in browser.get(page, headers={"HX-Request": "true"}).content
    run(str(Job.objects.get().pk))
    assert b"Answered" in browser.get(page).content
    use("fast", key="sk-wrong")
    browser.post(f"{page}/compatible/test")
    run(str(Job.objects.order_by("created_at").last().pk))  # type: ignore[union-attr]
    assert b"refused the key" in browser.get(page).content
    settings = {"summarization_provider": "nobody"}
    refused = browser.post(f"{page}/settings", settings, follow=True)
    assert "Nothing was saved." in refused.content.decode()
    settings = {"summarization_provider": "groq"}
    browser.post(f"{page}/settings", settings)
    assert b"Groq is not set up" in browser.get(page).content
    put(agent, "/api/projects/demo/providers/groq", {"api_key": "gsk-1"})
    assert b"Chosen by the project" in browser.get(page).content
    row = browser.get(page).content.decode().partition('<details class="confirm">')[2]
    assert (
        row.index("Remove…") < row.index("for good") < row.index(f"{page}/groq/remove")
    )
    browser.post(f"{page}/groq/remove")
    assert b"Groq is not set up" in browser.get(page).content
    assert KEY.encode() not in browser.get(page).content


def test_a_test_that_asks_or_says_nothing_is_told_as_that(
    browser: Client, use: Use
) -> None:
    page, part = "/settings/projects/demo/providers", {"HX-Request": "true"}
    use("mute")
    browser.post(f"{page}/compatible/test")
    run(str(Job.objects.get().pk))
    assert b"Answered without a word" in browser.get(page, headers=part).content
    asks = "The server stopped during a call. Continue makes it again."
    Job.objects.update(status=Job.Status.ASKS, error=asks, finished_at=None)
    html = browser.get(page, headers=part).content.decode()
    assert asks in html
    assert "Trying again" not in html
    assert "hx-trigger" not in html  # nothing goes on by itself
    assert "/settings/jobs/" in html


def test_a_test_of_what_was_set_up_otherwise_is_not_shown_any_more(
    browser: Client, use: Use
) -> None:
    page = "/settings/projects/demo/providers"
    use("fast")
    browser.post(f"{page}/compatible/test")
    run(str(Job.objects.get().pk))
    assert b"Answered" in browser.get(page).content
    use("fast", key="sk-wrong")
    assert b"Answered" not in browser.get(page).content
    browser.post(f"{page}/compatible/test")
    assert b"Testing" in browser.get(page).content
    run(str(Job.objects.order_by("created_at").last().pk))  # type: ignore[union-attr]
    assert b"refused the key" in browser.get(page).content
    browser.post(f"{page}/compatible/remove")
    assert b"refused the key" not in browser.get(page).content


def test_the_queue_cancels_continues_and_starts_again(
    browser: Client, session_id: str, use: Use
) -> None:
    use("broken")
    summarise(browser, session_id)
    job = run(str(Job.objects.get().pk))
    assert job.status == "failed"
    browser.post(f"/settings/jobs/{job.pk}/retry")
    job.refresh_from_db()
    assert (job.status, job.error) == ("queued", "")
    refused = browser.post(f"/settings/jobs/{job.pk}/continue", follow=True)
    assert b"is not waiting to be continued" in refused.content
    browser.post(f"/settings/jobs/{job.pk}/cancel")
    job.refresh_from_db()
    assert job.status == "cancelled"
    assert browser.post(f"/settings/jobs/{job.pk}/other").status_code == 404
    shown = browser.get("/settings/jobs/?status=cancelled").content.decode()
    assert str(job.pk) in shown
    none = browser.get("/settings/jobs/?status=done").content.decode()
    assert "No jobs with this status" in none
    assert "appear here" not in none


def test_the_page_of_notes_shows_what_a_models_state_would_change(
    browser: Client, session_id: str, use: Use, provider: FakeProvider
) -> None:
    path = f"/sessions/{session_id}/state"
    assert (
        b"Have a model write it" in browser.get(f"/sessions/{session_id}/notes").content
    )
    assert b"No provider is set up" in browser.post(path).content
    use("fast")
    provider.answer = lambda asked: "### STATE\nGoal: choose a database"
    assert b"Writing" in browser.post(path).content
    job = run(str(Job.objects.get().pk))
    html = browser.get(f"{path}/{job.pk}").content
    assert b"Written by compatible/fast" in html
    fields = {"act": "state", "content": "### STATE\nGoal: choose a database"}
    assert browser.post(f"/sessions/{session_id}/notes", fields).status_code == 302


def test_what_is_redacted_is_masked_in_results_of_jobs_too(
    browser: Client, agent: Client, session_id: str, use: Use
) -> None:
    use("fast")
    summarise(browser, session_id)
    job = run(str(Job.objects.get().pk))
    assert "settings/base.py" in dialog(browser, session_id, job)
    pattern = {"start": "settings/base.py", "end": None, "all": True}
    operate(agent, session_id, "redact", patterns=[pattern])
    assert "settings/base.py" not in dialog(browser, session_id, job)
    assert "settings/base.py" not in str(get(agent, f"/api/jobs/{job.pk}"))
