"""Whose signature reasoning carries follows from its block, whatever the session was declared."""

import json
from typing import Any

import pytest
from django.test import Client

from tests.operations.support.rest import context, get, make_session, operate, post

SEAL = "c2VhbCBvZiB0aGUgdGhvdWdodA=="
HIDDEN = "aGlkZGVuIHdvcmRz"


def conversation(*answer: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": "How far is it?"},
        {"role": "assistant", "content": [*answer, {"type": "text", "text": "Far."}]},
        {"role": "user", "content": "And back?"},
    ]


THOUGHT = {"type": "thinking", "thinking": "A long way.", "signature": SEAL}
REDACTED = {"type": "redacted_thinking", "data": HIDDEN}


@pytest.mark.parametrize("declared", [None, "openai", "gemini", "anthropic"])
def test_thinking_of_anthropic_goes_to_anthropic_alone(
    agent: Client, declared: str | None
) -> None:
    fields = {"parsing_strategy": declared} if declared else {}
    session = make_session(agent, conversation(THOUGHT, REDACTED), **fields)
    for provider in ("anthropic", "bedrock"):
        sent = json.dumps(context(agent, session, provider=provider)["request"])
        assert SEAL in sent
        assert HIDDEN in sent
    for provider in ("gemini", "openai-responses", "openai", "deepseek"):
        sent = json.dumps(context(agent, session, provider=provider)["request"])
        assert SEAL not in sent
        assert HIDDEN not in sent


@pytest.mark.parametrize("declared", ["openai", "gemini", "anthropic"])
def test_an_export_of_originals_gives_a_signature_to_its_signer(
    agent: Client, declared: str
) -> None:
    session = make_session(
        agent, conversation(THOUGHT, REDACTED), parsing_strategy=declared
    )
    for format, is_theirs in (
        ("anthropic", True),
        ("claude_code", True),
        ("gemini", False),
        ("openai_responses", False),
        ("codex", False),
    ):
        query = {"format": format, "view": "original"}
        answer = agent.get(f"/api/sessions/{session}/export", query)
        file = b"".join(answer).decode()  # type: ignore[arg-type]  # it streams
        assert (SEAL in file, HIDDEN in file) == (is_theirs, is_theirs), format


def test_apply_knows_the_signature_again_and_sends_it(agent: Client) -> None:
    session = make_session(agent, conversation(THOUGHT))
    operate(agent, session, "insert", after_idx=2, messages=conversation()[:1])
    body = {"messages": conversation(THOUGHT), "format": "anthropic", "append": False}
    answer = post(agent, f"/api/sessions/{session}/apply", body)
    assert answer["messages"][1]["content"][0] == THOUGHT


def test_a_change_of_the_words_takes_the_signature(agent: Client) -> None:
    session = make_session(agent, conversation(THOUGHT, REDACTED))
    operate(agent, session, "redact", spans=[{"key": "m1", "start": 2, "end": 6}])
    sent = json.dumps(context(agent, session, provider="anthropic")["request"])
    assert SEAL not in sent


def test_the_public_form_says_who_signed_and_takes_it_back(agent: Client) -> None:
    session = make_session(agent, conversation(THOUGHT, REDACTED))
    shown = get(agent, f"/api/sessions/{session}/messages")["items"]
    assert [part.get("signer") for part in shown[1]["parts"]] == [
        "anthropic",
        "anthropic",
        None,
    ]
    again = make_session(agent, shown, parsing_strategy="gemini")
    sent = json.dumps(context(agent, again, provider="anthropic")["request"])
    assert SEAL in sent
