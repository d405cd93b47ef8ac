"""Answers of a model that are no summary: what is not asked for any more, and asked again."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from tests.operations.support.rest import make_session, post, thread

from .conftest import WORDS, run
from .provider import SUMMARY, FakeProvider
from .test_summaries import order

Use = Callable[..., Any]


def retried(agent: Client, job_id: str) -> Any:
    post(agent, f"/api/jobs/{job_id}/retry")
    return run(job_id)


@pytest.mark.parametrize("answer", ["", "Error: overloaded", WORDS * 40])
def test_a_retry_asks_again_for_an_answer_that_was_refused(
    agent: Client, session_id: str, use: Use, provider: FakeProvider, answer: str
) -> None:
    use("fast")
    provider.answer = lambda asked: answer
    job = run(order(agent, session_id)["job_id"])
    assert (job.status, len(provider.asked)) == ("failed", 1)
    provider.answer = lambda asked: SUMMARY
    job = retried(agent, str(job.pk))
    assert job.status == "done", job.error
    assert job.result is not None
    assert job.result["summary"] == SUMMARY
    # The one that was refused was paid for too.
    assert job.result["tokens"]["input"] == 300


def test_a_retry_asks_again_for_a_state_that_was_none(
    agent: Client, session_id: str, use: Use, provider: FakeProvider
) -> None:
    use("fast")
    provider.answer = lambda asked: "Which state?"
    path, body = "/api/tools/rebuild_state", {"session_id": session_id}
    job = run(post(agent, path, body, **{"Idempotency-Key": "a"})["job_id"])
    assert "did not answer with a STATE block" in job.error
    provider.answer = lambda asked: "### STATE\nGoal: choose"
    job = retried(agent, str(job.pk))
    assert job.status == "done", job.error
    assert job.result is not None
    assert job.result["objective"] == "choose"


def test_state_of_a_window_without_messages_is_asked_of_no_model(
    agent: Client, use: Use, provider: FakeProvider
) -> None:
    use("fast")
    path, body = "/api/tools/rebuild_state", {"session_id": make_session(agent, [])}
    job = run(post(agent, path, body, **{"Idempotency-Key": "a"})["job_id"])
    assert "the window holds no messages" in job.error
    assert provider.asked == []


def test_a_part_that_the_model_refuses_is_not_left_out_of_the_whole(
    agent: Client, use: Use, provider: FakeProvider
) -> None:
    said = [{"role": "user", "content": f"{n}. {WORDS * 60}"} for n in range(12)]
    session_id = make_session(agent, said)
    use("fast")
    answers = iter(["The first part.", "I'm sorry, but I can't help with that."])
    provider.answer = lambda asked: next(answers, "More.")
    job = run(order(agent, session_id, start=0, end=12)["job_id"])
    assert "an error or a refusal instead of a summary" in job.error
    assert len(provider.asked) == 2  # nothing more is paid for
    assert len(thread(agent, session_id)["nodes"]) == 12
    job = retried(agent, str(job.pk))
    assert job.status == "done", job.error
    assert len(provider.asked) == 6  # two parts, the join, the verification


def test_a_summary_stays_where_its_verification_is_longer_than_the_messages(
    agent: Client, session_id: str, use: Use, provider: FakeProvider
) -> None:
    use("fast")
    longer = WORDS * 20 + "Never commit to main."
    provider.answer = lambda asked: longer if provider.asked[1:] else SUMMARY
    job = run(order(agent, session_id)["job_id"])
    assert (job.status, len(provider.asked)) == ("done", 2), job.error
    assert job.result is not None
    assert job.result["summary"] == SUMMARY


def test_what_a_model_thought_aloud_stands_in_no_digest(
    agent: Client, session_id: str, use: Use, provider: FakeProvider
) -> None:
    use("fast")
    provider.answer = lambda asked: f"<think>Never commit to main?</think>\n\n{SUMMARY}"
    job = run(order(agent, session_id)["job_id"])
    assert job.result is not None
    assert job.result["summary"] == SUMMARY
    assert "Never commit to main." in str(job.result["dropped"])
