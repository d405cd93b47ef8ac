"""The page and the REST of a session's requests: each with what it was, in words."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from django.utils import timezone

from contextstudio.accounts.domain.caller import Caller
from operations.forwarding.proxy.recording import Exchange, Outcome, record_outcome
from operations.forwarding.requests.presentation import LOST_AFTER, sentence
from operations.models import SessionRequest
from tests.operations.support.rest import get, make_session, operate, post, said
from threads.store import events

COUNT = 8


@pytest.fixture
def session_id(agent: Client) -> str:
    session_id = make_session(agent, COUNT)
    operate(agent, session_id, "digest", range=[0, 1], summary="Sum")
    for messages in (said(COUNT), said(COUNT + 1), said(COUNT + 1)[2:]):
        post(agent, f"/api/sessions/{session_id}/apply", {"messages": messages})
    return session_id


def test_each_request_is_listed_with_its_decision(
    agent: Client, session_id: str
) -> None:
    path = f"/api/sessions/{session_id}/requests"
    newest = get(agent, path, limit=1)
    (trimmed,) = newest["items"]
    assert trimmed["sentence"] == "No longer sends 2 messages."
    assert (trimmed["decision"], trimmed["absent"]) == ("trimmed", 2)
    assert trimmed["edits"] == [
        {"key": "o2", "act": "made", "kind": "snip", "cause": "trimmed", "count": 2}
    ]
    assert trimmed["suspended"] == {
        "The client no longer sends any of its messages.": ["o1"]
    }
    rest = get(agent, path, cursor=newest["next_cursor"])["items"]
    assert [row["sentence"] for row in rest] == [
        "Adds 1 message.",
        "Sends the same again.",
    ]


def test_what_comes_again_is_listed_again_and_a_question_is_not(
    agent: Client, session_id: str
) -> None:
    body = {"messages": said(COUNT + 1)}
    path = f"/api/sessions/{session_id}"
    post(agent, f"{path}/apply", body)
    post(agent, f"{path}/apply", body)
    post(agent, f"{path}/apply", {**body, "append": False})
    rows = get(agent, f"{path}/requests")["items"]
    assert [row["decision"] for row in rows[:2]] == ["repeated", "resumed"]
    assert rows[1]["sentence"] == "Brings back 2 messages."
    assert len(rows) == 5


@pytest.fixture
def told(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> Callable[..., list[dict[str, object]]]:
    """Does something, and gives what pages were told of it."""

    def of(act: Callable[[], object]) -> list[dict[str, object]]:
        facts: list[dict[str, object]] = []
        monkeypatch.setattr(events, "_send", lambda _, fact: facts.append(fact))
        with django_capture_on_commit_callbacks(execute=True):
            act()
        return facts

    return of


def test_pages_are_told_once_of_a_request_also_where_it_came_again(
    agent: Client, session_id: str, told: Callable[..., list[dict[str, object]]]
) -> None:
    path = f"/api/sessions/{session_id}/apply"
    for count in (COUNT + 2, COUNT + 2, COUNT + 2, COUNT + 3):
        body = {"messages": said(count)}
        (fact,) = told(lambda body=body: post(agent, path, body))
        assert fact["message_count"] == count
    body = {"messages": said(COUNT), "append": False}
    assert told(lambda: post(agent, path, body)) == []


def test_pages_are_told_of_a_request_that_failed(
    agent: Client,
    session_id: str,
    caller: Caller,
    told: Callable[..., list[dict[str, object]]],
) -> None:
    asked = SessionRequest.objects.filter(session=session_id).order_by("-number")[0]
    exchange = Exchange(
        caller=caller,
        session_id=UUID(session_id),
        request_id=asked.pk,
        count=asked.message_count,
        provider="openai",
        model="",
    )
    (fact,) = told(lambda: record_outcome(exchange, Outcome(error="It hung up.")))
    assert fact["head"] == asked.head
    asked.refresh_from_db()
    assert (asked.status, asked.error) == ("failed", "It hung up.")


def test_the_page_says_the_same(agent: Client, session_id: str) -> None:
    text = agent.get(f"/sessions/{session_id}/requests").content.decode()
    for words in ("No longer sends 2 messages.", "1 suspended", "7", "2 not sent"):
        assert words in text
    empty = make_session(agent, 1)
    text = agent.get(f"/sessions/{empty}/requests").content.decode()
    assert "No requests yet" in text
    assert '<a class="link" href="/settings/keys/">Create a key</a>' in text


def test_a_request_whose_server_was_killed_is_under_way_for_a_day_at_most(
    agent: Client, session_id: str
) -> None:
    rows = SessionRequest.objects.filter(session=session_id).order_by("number")
    rows.update(status=SessionRequest.Status.SENT)
    killed = rows[0]
    SessionRequest.objects.filter(pk=killed.pk).update(
        created_at=timezone.now() - LOST_AFTER - timedelta(minutes=1)
    )
    listed = get(agent, f"/api/sessions/{session_id}/requests")["items"]
    assert [row["status"] for row in listed] == ["sent", "sent", "failed"]
    assert listed[-1]["error"] == "No reply was recorded within a day."
    text = agent.get(f"/sessions/{session_id}/requests").content.decode()
    assert (text.count("Under way"), text.count("No reply was recorded")) == (2, 1)


@pytest.mark.parametrize(
    ("decision", "edit", "words"),
    [
        ("first", None, "Starts the conversation with 2 messages."),
        (
            "linked",
            None,
            "Unrelated to the session it was sent to; starts this one.",
        ),
        ("prompt", ("revise", "prompt", 1), "Sends a different system prompt."),
        ("prompt", ("snip", "prompt", 1), "No longer sends its system prompt."),
        (
            "compacted",
            ("revise", "compacted", 9),
            "its own summary in place of 9 messages",
        ),
        (
            "regenerated",
            ("snip", "regenerated", 1),
            "Discards the last message.",
        ),
        ("regenerated", ("snip", "regenerated", 4), "Discards the last 4 messages."),
        ("edited", ("revise", "edited", 1), "Rewords 1 message."),
        ("edited", ("insert", "edited", 2), "Inserts 2 messages."),
    ],
)
def test_every_decision_has_its_words(decision, edit, words) -> None:
    edits = []
    if edit:
        kind, cause, count = edit
        made = {
            "key": "o1",
            "act": "made",
            "kind": kind,
            "cause": cause,
            "count": count,
        }
        edits = [made]
    row = SessionRequest(decision=decision, edits=edits, new=2)
    assert words in sentence(row)
    assert ("Adds 2 messages." in sentence(row)) is bool(edits)


def test_what_was_put_in_and_is_gone_is_said_too() -> None:
    gone = {"key": "o1", "act": "reverted", "kind": "insert", "cause": "resumed"}
    row = SessionRequest(decision="resumed", edits=[gone | {"count": 1}], new=0)
    assert sentence(row) == "No longer sends what it had inserted."
