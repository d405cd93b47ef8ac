"""The section "Connect an agent" on the page of keys."""

import re

from django.test import Client

from contextstudio.accounts.domain.connecting import connections
from contextstudio.accounts.models import Project, User
from tests.people import key_of


def test_a_new_key_is_shown_in_the_settings_of_every_client(
    client: Client, project: Project, owner: User
) -> None:
    client.force_login(owner)
    fields = {"name": "agent", "project": "demo", "scopes": ["read", "propose"]}
    page = client.post("/settings/keys/", fields, headers={"Host": "127.0.0.1"})
    assert page.status_code == 200
    html = page.content.decode()
    text = page.context["new_key"].text
    for one in connections("http://127.0.0.1", text):
        assert one.title in html
        for number, _ in enumerate(one.blocks, 1):
            name = f"connect-{one.client}-{number}"
            assert html.count(f'id="{name}"') == 1
            assert html.count(f'data-copy="{name}"') == 1
    assert f"ANTHROPIC_AUTH_TOKEN={text}" in html
    assert "ANTHROPIC_BASE_URL=http://127.0.0.1\n" in html
    key = page.context["new_key"].row
    assert f'href="/settings/keys/{key.pk}/">let it keep sessions of its own' in html
    assert 'href="/settings/projects/demo/upstreams"' in html
    assert _opened(html) == "MCP"
    page = client.post("/settings/keys/", fields | {"scopes": ["own_session"]})
    html = page.content.decode()
    assert "can't make sessions" not in html
    assert _opened(html) == "Claude Code"


def _opened(html: str) -> str:
    """The client whose settings are open."""
    return re.split(r"<summary>|</summary>", html.partition(" open>")[2])[1]


def test_without_a_new_key_there_are_no_settings_to_show(
    client: Client, project: Project, owner: User
) -> None:
    key_of(owner, project)
    client.force_login(owner)
    assert "Connect an agent" not in client.get("/settings/keys/").content.decode()
