"""A policy tried on the newest sessions of a project."""

from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from archive.hindsight import trials
from contextstudio.accounts.jobs import queue, runner
from contextstudio.accounts.models import User
from operations.context.pages.forms import fields_of
from operations.domain.context.policy import REPLAY
from tests.archive.pruning.conftest import WORK
from tests.operations.support.rest import Tools, get, make_session, post


def run(job_id: str) -> None:
    job = queue.claim(UUID(job_id))
    assert job is not None
    runner.run(job)


def tried(tools: Tools, **body: Any) -> dict[str, Any]:
    path = "/api/projects/demo/hindsight"
    job = post(tools.client, path, body, expect=202)["job_id"]
    run(job)
    found: dict[str, Any] = get(tools.client, f"/api/jobs/{job}")
    assert found["status"] == "done", found
    result: dict[str, Any] = found["result"]
    return result


def test_a_window_is_tried_on_all_sessions_together(tools: Tools) -> None:
    make_session(tools.client, [{"role": "user", "content": "Nothing else"}])
    make_session(tools.client, [])
    found = tried(tools, policy={"window": 1})
    assert (found["sessions"], found["passed_over"]) == (2, 1)
    assert found["pruned"] is None
    sent = found["sent"]
    assert (sent["lost"], sent["references"]) == (3, 3)
    assert sent["lost_share"] == 1.0
    before, after = sent["tokens"]["before"], sent["tokens"]["after"]
    assert sent["saved_share"] == pytest.approx((before - after) / before)


def test_the_rules_of_a_policy_are_tried_without_knowing_what_comes(
    tools: Tools,
) -> None:
    later = {"role": "assistant", "content": "It is in src/a12.py."}
    make_session(tools.client, [*WORK, later])
    pruned = tried(tools, policy={"preset": "nexora"}, sessions=1)["pruned"]
    assert (pruned["lost"], pruned["saved_share"] > 0.5) == (1, True)


def test_a_policy_that_leaves_nothing_out_has_no_figures(tools: Tools) -> None:
    found = tried(tools, policy={"preset": "replay"})
    assert (found["sent"], found["pruned"], found["sessions"]) == (None, None, 1)


def test_sessions_that_are_too_long_are_passed_over(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials, "MAX_MESSAGES", 2)
    found = tried(tools, policy={"window": 1})
    assert (found["sessions"], found["passed_over"]) == (0, 1)
    assert found["sent"]["saved_share"] == found["sent"]["lost_share"] == 0.0


def test_a_policy_that_cant_be_is_refused_at_once(tools: Tools) -> None:
    body = {"policy": {"windows": 1}}
    refused = post(tools.client, "/api/projects/demo/hindsight", body, expect=422)
    assert refused["at"] == ["windows"]


def test_the_page_of_the_policy_shows_what_came_of_it(
    tools: Tools, editor: User
) -> None:
    client, path = Client(), f"/sessions/{tools.session_id}/hindsight/trials"
    client.force_login(editor)
    wrong = client.post(path, {**fields_of(REPLAY), "window": "x"})
    assert (wrong.status_code, b"Correct the settings" in wrong.content) == (422, True)
    begun = client.post(path, {**fields_of(REPLAY), "window": "1"}).content.decode()
    job = begun.split("/hindsight/trials/")[1].split('"')[0]
    assert "Trying" in client.get(f"{path}/{job}").content.decode()
    run(job)
    shown = client.get(f"{path}/{job}").content.decode()
    assert "100.0% of later references lost" in shown
    assert "1 session." in shown
    assert client.get(f"{path}/{UUID(int=1)}").status_code == 404


def test_another_job_is_no_trial(tools: Tools, editor: User) -> None:
    client = Client()
    client.force_login(editor)
    body = {"start": 0, "end": 2}
    path = f"/api/sessions/{tools.session_id}/summaries"
    job = post(tools.client, path, body, expect=202)["job_id"]
    at = f"/sessions/{tools.session_id}/hindsight/trials/{job}"
    assert client.get(at).status_code == 404
