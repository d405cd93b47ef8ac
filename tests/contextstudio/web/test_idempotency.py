"""A request that is sent twice with one Idempotency-Key has one effect and one answer."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.utils import timezone

from contextstudio.accounts import idempotency
from contextstudio.accounts.domain.errors import Conflict, Invalid
from contextstudio.accounts.idempotency import RecordedResponse
from contextstudio.accounts.jobs import housekeeping
from contextstudio.accounts.models import IdempotentResponse, Project, User
from tests.people import client_of
from threads.models import Session

ANSWER = RecordedResponse(201, b'{"id": 1}', "application/json")


def post(
    client: Client, body: dict[str, Any], *, key: str = "k", path: str = "/api/sessions"
) -> Any:
    return client.post(path, body, "application/json", headers={"Idempotency-Key": key})


def test_a_repeat_gets_the_first_answer_and_changes_nothing(agent: Client) -> None:
    first, second = (post(agent, {"title": "Once"}) for _ in range(2))
    assert (second.status_code, second.content) == (first.status_code, first.content)
    assert second["Content-Type"] == first["Content-Type"]
    assert "Idempotent-Replayed" not in first
    assert second["Idempotent-Replayed"] == "true"
    assert Session.objects.count() == 1


def test_a_refusal_is_repeated_too(agent: Client) -> None:
    first, second = (post(agent, {"title": 7}) for _ in range(2))
    assert first.status_code == second.status_code == 422
    assert second.content == first.content
    assert second["Content-Type"] == "application/problem+json"
    assert second["Idempotent-Replayed"] == "true"


def test_the_same_key_for_another_request_is_refused(agent: Client) -> None:
    post(agent, {"title": "Once"})
    for body, path in (
        ({"title": "Twice"}, "/api/sessions"),
        ({"title": "Once"}, "/api/sessions?x=1"),
    ):
        answer = post(agent, body, path=path)
        assert answer.status_code == 422
        assert answer.json()["code"] == "idempotency_key_reused"
        assert answer.json()["at"] == ["Idempotency-Key"]


def test_two_callers_may_use_the_same_key(
    agent: Client, editor: User, project: Project
) -> None:
    post(agent, {"title": "One"})
    other = client_of(editor, project)
    assert post(other, {"title": "Two"}).status_code == 201


def test_without_a_key_nothing_is_kept(agent: Client) -> None:
    agent.post("/api/sessions", {}, "application/json")
    agent.get("/api/sessions", headers={"Idempotency-Key": "k"})
    assert IdempotentResponse.objects.count() == 0


@pytest.mark.parametrize("chosen", ["", "k" * 256])
def test_a_key_that_can_not_be_kept_is_refused(agent: Client, chosen: str) -> None:
    refused = post(agent, {}, key=chosen)
    assert (refused.status_code, refused.json()["at"]) == (422, ["Idempotency-Key"])


@pytest.mark.parametrize("chosen", ["a\x00b", "a\ud800b"])
def test_a_tool_is_told_where_its_key_stands(agent: Client, chosen: str) -> None:
    call = {"idempotency_key": chosen}
    refused = agent.post("/api/tools/list_sessions", call, "application/json")
    assert (refused.status_code, refused.json()["at"]) == (422, ["idempotency_key"])


@pytest.mark.django_db
def test_without_credentials_nothing_is_kept(client: Client) -> None:
    assert post(client, {}).status_code == 401
    assert IdempotentResponse.objects.count() == 0


def test_a_form_is_known_again_though_its_boundary_is_another(agent: Client) -> None:
    def send(content: bytes) -> Any:
        return agent.post(
            "/api/sessions/import",
            {"file": SimpleUploadedFile("a.json", content), "format": "auto"},
            headers={"Idempotency-Key": "k"},
        )

    transcript = b'[{"role": "user", "content": "Hello"}]'
    first, second = send(transcript), send(transcript)
    assert first.status_code == 201, first.content
    assert second["Idempotent-Replayed"] == "true"
    assert second.content == first.content
    assert send(transcript + b" ").status_code == 422


@pytest.mark.django_db(transaction=True)
def test_of_many_at_once_one_has_an_effect() -> None:
    def ask(_: int) -> str:
        try:
            return _once(lambda: _make_project("p")).body.decode()
        except Conflict as refusal:
            return refusal.code
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        answers = set(threads.map(ask, range(16)))
    assert answers <= {"made", "idempotency_key_in_use"}
    assert Project.objects.count() == 1


def test_while_the_first_runs_a_repeat_is_told_to_wait(db: None) -> None:
    def run() -> RecordedResponse:
        with pytest.raises(Conflict, match="still running"):
            _once(lambda: ANSWER)
        return ANSWER

    assert _once(run) == ANSWER


def test_a_fault_of_the_server_is_tried_anew_and_leaves_nothing(db: None) -> None:
    def fail() -> RecordedResponse:
        _make_project("p")
        raise ValueError("a bug")

    with pytest.raises(ValueError, match="a bug"):
        _once(fail)
    assert _once(lambda: _make_project("p")).body == b"made"
    assert Project.objects.count() == 1


@pytest.mark.parametrize("status", [401, 403, 429, 500, 503])
def test_an_answer_that_may_change_by_itself_is_not_kept(db: None, status: int) -> None:
    _once(lambda: RecordedResponse(status, b"", ""))
    assert _once(lambda: ANSWER) == ANSWER


def test_what_a_refused_request_wrote_is_taken_back(db: None) -> None:
    def refuse() -> RecordedResponse:
        _make_project("p")
        return RecordedResponse(409, b"no", "")

    assert _once(refuse).status == 409
    assert Project.objects.count() == 0
    assert _once(lambda: ANSWER).replayed


@pytest.mark.postgresql  # on SQLite the second can't write before the first has ended
@pytest.mark.django_db(transaction=True)
def test_a_claim_whose_server_stalls_is_taken_over_and_the_first_has_no_effect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stalled, go_on = threading.Event(), threading.Event()

    def stall() -> RecordedResponse:
        stalled.set()
        assert go_on.wait(20)
        return _make_project("first")

    def first() -> None:
        try:
            _once(stall)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as threads:
        attempt = threads.submit(first)
        assert stalled.wait(20)
        later = timezone.now() + timedelta(minutes=2)
        monkeypatch.setattr(timezone, "now", lambda: later)
        _once(lambda: _make_project("second"))
        go_on.set()
        with pytest.raises(Conflict, match="took so long"):
            attempt.result(20)
    assert [project.slug for project in Project.objects.all()] == ["second"]
    assert _once(lambda: ANSWER).body == b"made"


@pytest.mark.parametrize(
    ("back", "is_held"), [(timedelta(seconds=30), True), (timedelta(hours=3), False)]
)
def test_a_request_that_died_is_made_again_although_the_clock_was_set_back(
    db: None, monkeypatch: pytest.MonkeyPatch, back: timedelta, is_held: bool
) -> None:
    """Its process was killed: it runs for no longer than a lease, whatever the clock says."""
    claims: list[dict[str, Any]] = []

    def look() -> RecordedResponse:
        claims.extend(IdempotentResponse.objects.values())
        return ANSWER

    _once(look)
    IdempotentResponse.objects.all().delete()
    IdempotentResponse.objects.create(**claims[0])
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now - back)
    if is_held:
        with pytest.raises(Conflict, match="still running"):
            _once(lambda: ANSWER)
    else:
        assert _once(lambda: ANSWER) == ANSWER


def test_an_answer_is_kept_for_a_day(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    _once(lambda: ANSWER)
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now + timedelta(hours=23))
    assert _once(lambda: ANSWER).replayed
    housekeeping.clean()
    assert IdempotentResponse.objects.count() == 1
    monkeypatch.setattr(timezone, "now", lambda: now + timedelta(hours=25))
    assert not _once(lambda: ANSWER, request="another").replayed
    monkeypatch.setattr(timezone, "now", lambda: now + timedelta(hours=50))
    housekeeping.clean()
    assert IdempotentResponse.objects.count() == 0


def test_claims_of_a_server_that_died_are_dropped_at_the_next_start(db: None) -> None:
    def run() -> RecordedResponse:
        idempotency.forget_claims()
        return _once(lambda: ANSWER)

    with pytest.raises(Conflict):
        _once(run)


@pytest.mark.parametrize("key", ["", "\x00", "k" * 256])
def test_tools_are_refused_a_wrong_key_too(db: None, key: str) -> None:
    with pytest.raises(Invalid):
        idempotency.run_once("key:1", key, "digest", lambda: ANSWER, at="key")


def test_pieces_can_not_be_confused() -> None:
    assert idempotency.digest([b"ab", b"c"]) != idempotency.digest([b"a", b"bc"])


def _once(run: Any, *, request: str = "request") -> RecordedResponse:
    return idempotency.run_once("key:1", "k", request, run, at="key")


def _make_project(slug: str) -> RecordedResponse:
    Project.objects.create(slug=slug, name=slug)
    return RecordedResponse(201, b"made", "text/plain")
