"""Telling those who look at a session: best effort, never in the way of a write."""

from typing import Any

import pytest
from django.test import Client

from tests.operations.support.rest import make_session, operate
from threads.store import events


class Unreachable:
    """A channel layer whose server is away."""

    async def group_send(self, group: str, fact: dict[str, Any]) -> None:
        raise ConnectionRefusedError


@pytest.mark.usefixtures("redis_unknown")
@pytest.mark.parametrize("layer", [None, Unreachable()])
def test_a_write_succeeds_though_nobody_can_be_told(
    agent: Client,
    layer: Any,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    monkeypatch.setattr(events, "get_channel_layer", lambda: layer)
    session_id = make_session(agent, 2)
    with django_capture_on_commit_callbacks(execute=True) as told:
        operate(agent, session_id, "snip", range=[0, 0])
    assert told
