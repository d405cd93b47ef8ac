"""Who is asking."""

import pytest

from contextstudio.accounts.domain.caller import is_agent


@pytest.mark.parametrize(
    ("actor", "agent"), [("key:7", True), ("user:7", False), ("client", False)]
)
def test_an_agent_is_who_holds_a_key(actor: str, agent: bool) -> None:
    assert is_agent(actor) is agent
