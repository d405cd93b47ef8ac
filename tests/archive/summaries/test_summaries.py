"""Summaries through REST and their job, with providers that are real servers."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from archive.summaries import making
from archive.summaries.making import CUT
from contextstudio.accounts.jobs import runner
from contextstudio.accounts.models import Job, Membership
from operations.models import LogEntry
from tests.operations.support.rest import get, post, thread
from threads.models import Session

from .conftest import run
from .provider import SUMMARY, FakeProvider

Use = Callable[..., Any]


def order(agent: Client, session_id: str, **body: Any) -> Any:
    path = f"/api/sessions/{session_id}/summaries"
    return post(agent, path, {"start": 1, "end": 5, **body}, expect=202)


def test_a_model_sums_up_a_range_and_the_digest_is_recorded(
    agent: Client, session_id: str, use: Use, provider: FakeProvider
) -> None:
    use("fast")
    ordered = order(agent, session_id)
    assert (ordered["provider"], ordered["model"]) == ("compatible", "fast")
    assert "only" in ordered["why"]
    job = run(ordered["job_id"])
    assert job.status == "done", job.error
    result = get(agent, f"/api/jobs/{job.pk}")["result"]
    assert result["summary"] == SUMMARY
    assert result["made_by"] == "compatible/fast"
    dropped = {(one["kind"], one["text"], one["key"]) for one in result["dropped"]}
    assert ("path", "settings/base.py", "m1") in dropped
    assert ("url", "https://sqlite.org/wal.html", "m4") in dropped
    assert ("imperative", "Never commit to main.", "m3") in dropped
    assert result["retained"] >= 0
    assert result["tokens"]["after"] < result["tokens"]["before"]
    assert result["tokens"]["input"] == 200  # a part, and its verification
    assert [node["key"] for node in thread(agent, session_id)["nodes"]] == [
        *("m0", "o1", "m5"),
    ]
    assert result["operation_id"]


@pytest.mark.parametrize(
    ("body", "at"),
    [
        ({"start": 1, "end": 5, "targets": ["m1"]}, ["targets"]),
        ({"targets": ["m1", "m" * 41]}, ["targets", 1]),
        ({"start": 1}, ["start"]),
        ({"start": 5, "end": 1}, ["end"]),
        ({"start": 0, "end": 99}, ["end"]),
        ({"start": 0, "end": 1, "instructions": "\0"}, ["instructions"]),
        ({"start": 0, "end": 1, "model": "\0"}, ["model"]),
    ],
)
def test_what_names_no_messages_or_can_not_be_is_refused_with_the_place(
    agent: Client, session_id: str, body: dict[str, Any], at: list[Any]
) -> None:
    refused = post(agent, f"/api/sessions/{session_id}/summaries", body, expect=422)
    assert refused["at"] == at


def test_a_range_is_summed_up_only_as_the_log_was_when_it_was_chosen(
    agent: Client, session_id: str
) -> None:
    path, body = f"/api/sessions/{session_id}/summaries", {"start": 1, "end": 5}
    refused = post(agent, path, body, expect=409, **{"If-Match": '"7"'})
    assert refused["code"] == "stale_head"
    post(agent, path, body, expect=202, **{"If-Match": '"0"'})


@pytest.mark.parametrize("model", ["wordy", "filtered"])
def test_a_summary_that_the_limit_or_a_filter_cut_off_says_so(
    agent: Client, session_id: str, use: Use, model: str
) -> None:
    use(model)
    result = run(order(agent, session_id)["job_id"]).result
    assert result is not None
    assert result["summary"] == f"{SUMMARY}\n\n{CUT}"


def test_a_proposal_changes_nothing_until_it_is_accepted(
    agent: Client, session_id: str, use: Use
) -> None:
    use("fast")
    job = run(order(agent, session_id, propose=True)["job_id"])
    assert job.result is not None
    assert job.result["status"] == "proposed"
    assert len(thread(agent, session_id)["nodes"]) == 6


def test_without_a_provider_the_digest_is_made_by_rule(
    agent: Client, session_id: str
) -> None:
    ordered = order(agent, session_id)
    assert (ordered["provider"], ordered["model"]) == (None, None)
    result = run(ordered["job_id"]).result
    assert result is not None
    assert result["made_by"] == "rules"
    assert "without a model" in result["summary"]
    assert "settings/base.py" in result["summary"]


@pytest.mark.parametrize(
    ("model", "code"),
    [
        ("broken", "provider_broken"),
        ("redirect", "provider_redirect"),
        ("none", "provider_model"),
        ("mute", "summary_refused"),
    ],
)
def test_a_failed_summary_says_why_and_changes_nothing(
    agent: Client,
    session_id: str,
    use: Use,
    provider: FakeProvider,
    model: str,
    code: str,
) -> None:
    use(model)
    job = run(order(agent, session_id)["job_id"])
    assert job.status == "failed"
    assert job.result is not None
    assert job.result["code"] == code, job.error
    assert len(thread(agent, session_id)["nodes"]) == 6
    assert set(provider.paths) == {
        "/v1/chat/completions"
    }  # nothing followed a redirect


def test_a_wrong_key_is_refused_in_a_clear_sentence_that_does_not_name_it(
    agent: Client, session_id: str, use: Use
) -> None:
    use("fast", key="sk-wrong")
    job = run(order(agent, session_id)["job_id"])
    assert job.status == "failed"
    assert job.error == (
        "OpenAI-compatible: The provider refused the key (HTTP 401). "
        'It said: "this key is wrong: Bearer …".'
    )


@pytest.mark.parametrize("model", ["busy", "fault"])
def test_a_provider_that_is_busy_or_at_fault_is_asked_again_later(
    agent: Client, session_id: str, use: Use, provider: FakeProvider, model: str
) -> None:
    use(model)
    job = run(order(agent, session_id)["job_id"])
    assert (job.status, job.attempts) == ("queued", 1)
    seconds = (job.run_after - job.created_at).total_seconds()
    assert seconds >= (
        7 if model == "busy" else 5
    )  # what it asked for, no worker sleeping
    assert "OpenAI-compatible" in job.error
    use("fast")
    Job.objects.filter(pk=job.pk).update(run_after=job.created_at)
    job = run(str(job.pk))
    assert (job.status, job.error) == ("done", "")


@pytest.mark.parametrize(
    "gone",
    [
        lambda: Membership.objects.all().delete(),
        lambda: Session.objects.update(deleted_at=timezone.now()),
    ],
    ids=["the member", "the session"],
)
@pytest.mark.parametrize("call", [1, 2])
def test_what_goes_while_a_model_is_asked_has_no_further_call_paid_and_nothing_recorded(
    agent: Client,
    session_id: str,
    use: Use,
    provider: FakeProvider,
    monkeypatch: pytest.MonkeyPatch,
    gone: Callable[[], object],
    call: int,
) -> None:
    use("fast")
    real = making.call_model

    def last(asked: Any, **options: Any) -> Any:
        usage = real(asked, **options)
        if len(provider.asked) == call:
            gone()
        return usage

    monkeypatch.setattr(making, "call_model", last)
    monkeypatch.setattr(runner, "_SECONDS_BETWEEN_REPORTS", 60)  # nothing is looked at
    job = run(order(agent, session_id)["job_id"])
    assert (job.status, len(provider.asked)) == ("failed", call)
    assert not LogEntry.objects.exists()


def test_what_a_job_said_of_a_message_goes_when_that_is_purged(
    agent: Client, session_id: str, use: Use
) -> None:
    use("fast")
    about, other = (
        run(order(agent, session_id, record=False, **span)["job_id"])
        for span in ({"start": 1, "end": 3}, {"start": 4, "end": 5})
    )
    body = {"session_id": session_id, "group_id": 1}
    post(agent, "/api/tools/remove_group", body)
    gone, kept = (get(agent, f"/api/jobs/{job.pk}")["result"] for job in (about, other))
    assert (gone["summary"], gone["dropped"]) == ("", [])
    assert gone["made_by"] == "compatible/fast"
    assert Job.objects.get(pk=about.pk).notes == {}
    assert kept["summary"] == SUMMARY


def test_a_model_of_characters_that_no_database_holds_is_refused_with_its_place(
    agent: Client, session_id: str
) -> None:
    named = {"base_url": "https://api.example.com", "model": "a\x00b"}
    for path, body, place in (
        ("projects/demo/providers/openai", {"model": "a\x00b"}, "model"),
        ("projects/demo/upstreams/openai", named, "model"),
    ):
        refused = agent.put(f"/api/{path}", body, "application/json")
        assert (refused.status_code, refused.json()["at"]) == (422, [place])
    settings = {"summarization_model": "a\x00b"}
    for path in ("projects/demo", f"sessions/{session_id}"):
        refused = agent.patch(f"/api/{path}/summaries", settings, "application/json")
        assert refused.json()["at"] == ["summarization_model"]
    order_ = {"start": 0, "end": 2, "model": "a\x00b"}
    path = f"/api/sessions/{session_id}/summaries"
    assert agent.post(path, order_, "application/json").json()["at"] == ["model"]


def test_the_providers_of_a_session_are_not_those_of_another_project(
    agent: Client, session_id: str
) -> None:
    path = f"/api/providers?session={session_id}&project="
    assert agent.get(f"{path}demo").status_code == 200
    refused = agent.get(f"{path}other")
    assert (refused.status_code, refused.json()["at"]) == (422, ["project"])


def test_settings_that_are_null_fall_back(agent: Client, session_id: str) -> None:
    for path in ("projects/demo", f"sessions/{session_id}"):
        for value, kept in (("rules", "rules"), (None, "")):
            body = {"summarization_provider": value, "summarization_model": None}
            answer = agent.patch(f"/api/{path}/summaries", body, "application/json")
            assert answer.status_code == 200, answer.content
            assert answer.json()["summarization_provider"] == kept
            assert answer.json()["summarization_model"] == ""
