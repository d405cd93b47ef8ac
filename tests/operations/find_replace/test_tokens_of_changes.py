"""What a change of text saves in the thread is what it saves in the context, to the token."""

from typing import Any
from uuid import UUID

import pytest
from django.conf import LazySettings
from django.test import Client

from contextstudio.accounts.models import Project, User
from operations.find_replace import secrets
from tests.operations.support.rest import get, make_session, operate, post
from tests.operations.support.rest import thread as thread_of
from tests.people import caller

from .test_secrets import ACCESS_KEY, ADDRESS, TOKEN

LINE = "the quick-brown-fox ran past fox-hole no. 12foxes and foxglove, unfoxed;"
WORDS = f"{LINE}\n{LINE}\n{LINE}"
CALL = {
    "id": "call-1",
    "type": "function",
    "function": {"name": "bash", "arguments": '{"command":  "find a fox", "n": 1}'},
}


@pytest.fixture
def session_id(agent: Client) -> str:
    said = [
        {"role": "user", "content": WORDS},
        {"role": "assistant", "content": "A fox?", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call-1", "content": "no fox"},
    ]
    return make_session(agent, said)


def counts(agent: Client, session_id: str) -> tuple[int, int]:
    """What the thread comes to on the page, and what of it the context says."""
    context = get(agent, f"/api/sessions/{session_id}/context?provider=openai")
    shown: int = thread_of(agent, session_id)["tokens"]["effective"]
    return shown, context["tokens"]["shown"]


def change(agent: Client, session_id: str, kind: str, **pattern: Any) -> Any:
    return operate(agent, session_id, kind, patterns=[pattern | {"all": True}])


def test_many_short_redactions_save_in_the_thread_what_they_save_in_the_context(
    agent: Client, session_id: str
) -> None:
    body = {"type": "redact", "patterns": [{"start": "fox", "all": True}]}
    path = f"/api/sessions/{session_id}/operations"
    looked = post(agent, path, body | {"dry_run": True})
    before, _ = counts(agent, session_id)
    change(agent, session_id, "redact", start="fox")
    shown, in_context = counts(agent, session_id)
    assert shown == in_context
    assert looked["tokens_saved"] == before - shown
    assert len(looked["matches"]) == 18


def test_a_change_beside_another_is_counted_as_the_text_reads_with_both(
    agent: Client, session_id: str
) -> None:
    operate(
        agent,
        session_id,
        "replace",
        patterns=[{"start": LINE, "occurrence": 2, "replacement": "fox" * 9}],
    )
    change(agent, session_id, "redact", start="the quick", replacement="x")
    change(agent, session_id, "redact", start=";", replacement="")
    shown, in_context = counts(agent, session_id)
    assert shown == in_context


def test_what_is_proposed_for_secrets_says_what_it_saves(
    agent: Client, editor: User, project: Project, settings: LazySettings
) -> None:
    settings.SKIP_SECRETS = False
    said = f"TOKEN={TOKEN}\nAWS_ACCESS_KEY_ID={ACCESS_KEY}\nDATABASE_URL={ADDRESS}\n"
    session_id = make_session(agent, [{"role": "user", "content": said}])
    before, _ = counts(agent, session_id)
    assert secrets.propose_redactions(caller(editor), UUID(session_id)) > 1
    bundle = get(agent, f"/api/sessions/{session_id}/operations")["operations"][0]
    post(agent, f"/api/bundles/{bundle['bundle_id']}/accept")
    shown, in_context = counts(agent, session_id)
    assert shown == in_context < before
