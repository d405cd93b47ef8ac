"""Pruning by itself, where a policy says so and the next request would be too long."""

import logging

import pytest
from django.test import Client

from archive.pruning.automatic import trigger_of
from tests.archive.pruning.conftest import WORK
from tests.operations.support.rest import Tools, get, make_session, post, put
from threads.models import Session

MODEL = "gpt-4"
"""A window of 8,192 tokens, of which a fifth is to stay."""
LONG = {"role": "assistant", "content": "Words and words. " * 1500}


@pytest.fixture
def tools(agent: Client) -> Tools:
    return Tools(agent, make_session(agent, [WORK[0], LONG, *WORK[1:]], model=MODEL))


def ask(tools: Tools, **fields: object) -> dict:
    sent = [WORK[0], LONG, *WORK[1:], {"role": "user", "content": "And now?"}]
    body = {"messages": sent, **fields}
    return post(tools.client, f"/api/sessions/{tools.session_id}/apply", body)


def choose(tools: Tools, policy: dict) -> None:
    path = f"/api/sessions/{tools.session_id}/policy"
    put(tools.client, path, {"policy": policy})


def test_document_1_the_trigger_prunes_nothing_where_it_is_switched_off(
    tools: Tools,
) -> None:
    assert ask(tools)["applied"] == []
    put(
        tools.client,
        f"/api/sessions/{tools.session_id}/rules",
        {"rules": {"keep_last_n": 5}},
    )
    assert ask(tools)["applied"] == []


def test_a_request_that_would_leave_too_little_is_pruned_first(tools: Tools) -> None:
    choose(tools, {"preset": "nexora"})
    found = ask(tools)
    assert found["tokens"]["after"] < found["tokens"]["before"] - 3000
    assert found["messages"][1]["content"].startswith("📝 Words and words.")
    assert found["messages"][-1] == {"role": "user", "content": "And now?"}
    (actor,) = get(tools.client, f"/api/sessions/{tools.session_id}/actors")["actors"]
    assert "system" in actor.values()


def test_a_request_that_only_asks_prunes_nothing(tools: Tools) -> None:
    choose(tools, {"preset": "nexora"})
    assert ask(tools, append=False)["applied"] == []


def test_document_1_the_trigger_stays_silent_for_a_model_that_is_not_known(
    tools: Tools,
) -> None:
    choose(tools, {"preset": "nexora"})
    assert ask(tools, model="a-model-of-ours")["applied"] == []
    told = trigger_of(Session.objects.get(), "a-model-of-ours")
    assert (told.is_due, told.window) == (False, None)
    assert "the window of a-model-of-ours is not known" in told.sentence(
        "a-model-of-ours"
    )


def test_a_session_with_nothing_left_to_prune_is_left_alone(
    tools: Tools, caplog: pytest.LogCaptureFixture
) -> None:
    choose(tools, {"pruning": {"keep_last_n": 1000}})
    with caplog.at_level(logging.WARNING):
        assert ask(tools)["applied"] == []
        assert ask(tools)["applied"] == []
    assert not caplog.records
