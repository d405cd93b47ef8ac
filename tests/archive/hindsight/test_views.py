"""What was needed later, as the thread's page asks for it."""

import re

import pytest
from django.test import Client

from archive.hindsight import views
from contextstudio.accounts.models import User
from tests.operations.support.rest import Tools, post


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
    assert '4 needed<span class="needed-later"> later</span>' in shown
    for key in ("m3", "m5", "m7"):
        assert f'data-to="{key}">#{key[1:]}</a>' in shown
    assert "<code>deploy/local/compose.yaml</code>" in shown


def test_of_a_bundle_each_reference_is_counted_once(
    tools: Tools, signed_in: Client
) -> None:
    edits = [{"type": "snip", "range": [at, at]} for at in (1, 2)]
    path = f"/api/sessions/{tools.session_id}/bundles"
    bundle = post(tools.client, path, {"operations": edits}, expect=201)["bundle_id"]
    shown = lines(signed_in, tools)
    of_each = [
        lost.partition("</div>")[0] for lost in shown.split('<div data-lost="')[1:]
    ]
    *alone, together = of_each
    assert [one.partition('"')[0] for one in of_each] == ["o1", "o2", bundle]
    assert "4 references needed later" in together
    named = [set(re.findall("<code>(.*?)</code>", one)) for one in of_each]
    assert named[-1] == named[0] | named[1]
    assert len(re.findall("<code>", together)) == len(named[-1])
    assert len(alone) == 2
    answered = tools.client.get(f"/api/sessions/{tools.session_id}/hindsight").json()
    counted = {
        "bundle_id": bundle,
        "operations": ["o1", "o2"],
        "lost": len(named[-1]),
    }
    assert answered["bundles"] == tools("hindsight")["bundles"] == [counted]


def test_nothing_is_said_of_what_nobody_needed(tools: Tools, signed_in: Client) -> None:
    tools("snip_messages", start_idx=6, end_idx=6)
    assert "data-needed" not in lines(signed_in, tools)


def test_a_long_thread_is_looked_at_when_somebody_asks(
    tools: Tools, signed_in: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools("snip_messages", start_idx=1, end_idx=2)
    monkeypatch.setattr(views, "MAX_UNASKED", 2)
    assert "data-needed" not in lines(signed_in, tools)
    assert '4 needed<span class="needed-later"> later</span>' in lines(
        signed_in, tools, "?asked=1"
    )
