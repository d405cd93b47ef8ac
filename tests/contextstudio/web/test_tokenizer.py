"""When a process loads what counts tokens."""

import asyncio
from typing import Any

import pytest

from contextstudio.web.tokenizer import with_tokenizer
from threads import tokens


class Site:
    """Behind the wrapper: what was loaded when a request reached it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.loaded: list[str] = []
        self.seen: list[list[str]] = []
        self.application = with_tokenizer(self._answer)
        monkeypatch.setattr(tokens, "counter", self.loaded.append)

    def ask(self, method: str, path: str = "/api/sessions") -> list[str]:
        """What was loaded when such a request was answered."""
        scope = {"type": "http", "method": method, "path": path}
        asyncio.run(self.application(scope, self._event, self._event))
        return self.seen[-1]

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        self.seen.append(list(self.loaded))

    async def _event(self, *_: Any) -> dict[str, Any]:
        return {}


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_the_tokenizer_is_there_before_a_request_may_write(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Site(monkeypatch)

    assert site.ask(method) == [tokens.DEFAULT]
    assert site.ask(method) == [tokens.DEFAULT]


def test_who_reads_or_signs_in_does_not_wait_for_the_tokenizer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    site = Site(monkeypatch)

    assert site.ask("GET") == site.ask("POST", "/sign-in/token") == []
