"""`GET /api/sessions/{id}/context`: what would be sent to a model now."""

import json

import pytest
from django.test import Client

from contextstudio.accounts.models import User
from contextstudio.accounts.selectors import caller_of_user
from operations.domain.log.operation import Redact
from operations.domain.tree.span import Span, fingerprint
from operations.edits import services
from operations.log.selectors import load_thread
from operations.messages.reader import MessageReader
from tests.operations.support.rest import (
    adds_up,
    context,
    get,
    make_session,
    operate,
    post,
    put,
    said,
)
from threads.domain.formats.summaries import SUMMARY
from threads.domain.text import text_of
from threads.models import Session
from threads.tokens import count_many

COUNT = 6


@pytest.fixture
def session_id(agent: Client) -> str:
    return make_session(agent, COUNT, system="Be brief.")


def test_a_new_session_is_sent_as_it_was_recorded(
    agent: Client, session_id: str
) -> None:
    found = context(agent, session_id)
    assert found["provider"] == "openai"
    assert found["messages"] == [
        {"role": "system", "content": "Be brief."},
        *said(COUNT),
    ]
    assert found["request"]["messages"] == found["messages"]
    texts = ["Be brief.", *(one["content"] for one in said(COUNT))]
    counts = count_many(texts)
    tokens = found["tokens"]
    assert tokens["total"] == tokens["shown"] == tokens["sent"] == sum(counts)
    assert tokens["by_layer"] == {"system": counts[0], "history": sum(counts[1:])}
    assert adds_up(found)
    assert (found["over_budget"], found["issues"]) == (False, [])


def test_what_operations_did_is_what_is_sent(agent: Client, session_id: str) -> None:
    operate(agent, session_id, "digest", range=[1, 4], summary="They greeted.")
    operate(agent, session_id, "insert", after_idx=5, messages=said(1))
    found = context(agent, session_id)
    assert adds_up(found)
    tokens = found["tokens"]
    bare, framed = count_many(["They greeted.", SUMMARY.format("They greeted.")])
    assert tokens["shown"] < tokens["total"]
    assert tokens["sent"] == tokens["shown"] + framed - bare
    assert found["steps"][-1]["added"] == framed - bare
    assert found["steps"][0]["left_out"][0]["key"] == "o1"


def test_a_budget_cuts_nothing_and_names_what_weighs_most(
    agent: Client, session_id: str
) -> None:
    free = context(agent, session_id, max_tokens=10_000)
    assert not free["over_budget"]
    tight = context(agent, session_id, max_tokens=5)
    assert tight["over_budget"]
    assert tight["messages"] == free["messages"]
    heaviest = tight["heaviest"]
    assert heaviest[0]["tokens"] == max(one["tokens"] for one in heaviest)
    assert (heaviest[0]["first"], heaviest[0]["count"]) == ("m1", 2)


def test_a_request_may_bring_its_own_tags(agent: Client, session_id: str) -> None:
    operate(agent, session_id, "snip", range=[1, 4], tags=["brief"])
    assert len(context(agent, session_id)["messages"]) == COUNT + 1
    brief = context(agent, session_id, active_tags="brief")
    assert len(brief["messages"]) == COUNT - 3


def test_every_provider_has_a_request(agent: Client, session_id: str) -> None:
    found = context(agent, session_id, provider="anthropic", model="claude-opus-4-5")
    assert found["system"]
    assert found["request"]["model"] == "claude-opus-4-5"
    assert not found["tokens"]["exact"]
    assert context(agent, session_id, model="gpt-4o")["tokens"]["exact"]
    path = f"/api/sessions/{session_id}/context"
    refused = get(agent, path, provider="acme", expect=422)
    assert refused["at"] == ["provider"]


def test_a_model_of_another_encoding_is_counted_in_its_own(
    agent: Client, session_id: str
) -> None:
    operate(agent, session_id, "insert", after_idx=5, messages=said(1))
    found = context(agent, session_id, model="gpt-4")
    texts = ["Be brief.", *(one["content"] for one in said(COUNT))]
    assert found["tokens"]["tokenizer"] == "cl100k_base"
    assert found["tokens"]["exact"]
    assert found["tokens"]["total"] == sum(count_many(texts, "cl100k_base"))
    assert adds_up(found)


def test_looking_at_a_slice_uses_nothing_up(agent: Client, session_id: str) -> None:
    slice = {"start_message_index": 1, "end_message_index": 3}
    post(agent, "/api/tools/request_context_slice", {"session_id": session_id, **slice})
    for consume in (False, True, False):
        found = context(agent, session_id, consume=consume)
        assert found["messages"] == [
            {"role": "system", "content": "Be brief."},
            *said(COUNT)[:2],
            *said(COUNT)[COUNT - 2 + COUNT % 2 :],
        ]
        assert adds_up(found)


def test_a_call_without_its_result_says_how_to_recall_it(agent: Client) -> None:
    call = {
        "id": "a",
        "type": "function",
        "function": {"name": "look", "arguments": "{}"},
    }
    messages = [
        *said(1),
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "much"},
        *said(1),
    ]
    made = post(agent, "/api/sessions", {"messages": messages}, expect=201)
    session_id = made["id"]
    operate(agent, session_id, "snip", targets=["m2"])
    found = context(agent, session_id)
    stub = "[This result was left out by o1. recall(m2) brings it back.]"
    assert found["messages"][2]["content"] == stub
    assert [one["rule"] for one in found["issues"]] == ["R1"]


def test_a_redaction_masks_scratchpad_state_and_layers(
    agent: Client, session_id: str
) -> None:
    path = f"/api/sessions/{session_id}"
    put(agent, f"{path}/scratchpad", {"content": "Ask for message 3, then rest."})
    put(agent, f"{path}/state", {"content": "Goal: answer message 3"})
    redacted = redact(agent, session_id, "m4", 0, len("message 3"))
    assert get(agent, f"{path}/scratchpad")["content"] == (
        "Ask for [redacted], then rest."
    )
    assert get(agent, f"{path}/state")["state"]["goal"] == "answer [redacted]"
    assert "message 3" not in json.dumps(context(agent, session_id))
    post(agent, f"/api/operations/{redacted}/toggle", {"active": False})
    assert "message 3" in get(agent, f"{path}/scratchpad")["content"]


def redact(client: Client, session_id: str, key: str, start: int, end: int) -> str:
    """Record a redaction of a stretch of a message, and give its id."""
    session = Session.objects.get(pk=session_id)
    (found,) = MessageReader(session, load_thread(session)).effective([key]).values()
    text = text_of(found.parts[0])[start:end]
    edit = Redact(
        spans=(Span(key=key, part=0, start=start, end=end, sha256=fingerprint(text)),)
    )
    transaction = services.record_edit(
        caller_of_user(User.objects.get(username="owner")),
        session.pk,
        edit,
    )
    return str(transaction.history.rows[transaction.numbers[0]].id)
