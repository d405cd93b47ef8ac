"""What was needed later, as the thread's page asks for it."""

import pytest
from django.test import Client

from archive.hindsight import views
from contextstudio.accounts.models import User
from tests.operations.support.rest import Tools


@pytest.fixture
def signed_in(editor: User) -> Client:
    client = Client()
    client.force_login(editor)
    return client


def lines(client: Client, tools: Tools, query: str = "") -> str:
    answer = client.get(f"/sessions/{tools.session_id}/hindsight{query}")
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_marker_names_what_was_needed_and_leads_there(
    tools: Tools, signed_in: Client
) -> None:
    tools("snip_messages", start_idx=1, end_idx=2)
    shown = lines(signed_in, tools)
    assert '<p data-needed="o1">' in shown
    assert "4 needed later" in shown
    for key in ("m3", "m5", "m7"):
        assert f'data-to="{key}">#{key[1:]}</a>' in shown
    assert "<code>deploy/local/compose.yaml</code>" in shown


def test_nothing_is_said_of_what_nobody_needed(tools: Tools, signed_in: Client) -> None:
    tools("snip_messages", start_idx=6, end_idx=6)
    assert "data-needed" not in lines(signed_in, tools)


def test_a_long_thread_is_looked_at_when_somebody_asks(
    tools: Tools, signed_in: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools("snip_messages", start_idx=1, end_idx=2)
    monkeypatch.setattr(views, "MOST_UNASKED", 2)
    assert "data-needed" not in lines(signed_in, tools)
    assert "4 needed later" in lines(signed_in, tools, "?asked=1")
