"""Nothing is reached from another site, by another name, or under a borrowed header."""

from typing import Any

import pytest

from contextstudio.web.guard import HostGuard

HOSTILE_HOSTS = [
    "evil.example",
    "localhost.evil.example",
    "evil.example:8000",
    "127.0.0.1.evil.example",
    "localhost@evil.example",
    "localhost/evil",
    "evil\x00localhost",
    "",
    " ",
    "127.0.0.2",
    "[::2]",
    "2130706433",
    "0x7f000001",
]


class Site:
    """Behind the guard: remembers what reached it."""

    def __init__(self) -> None:
        self.scopes: list[Any] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.scopes.append(scope)


async def ask(
    kind: str, headers: list[tuple[str, str]], method: str = "GET"
) -> tuple[Site, list[Any]]:
    site, sent = Site(), []

    async def send(event: dict[str, Any]) -> None:
        sent.append(event)

    async def receive() -> dict[str, Any]:
        return {}

    raw = [(name.encode(), value.encode("latin-1")) for name, value in headers]
    scope = {"type": kind, "method": method, "headers": raw}
    await HostGuard(site)(scope, receive, send)
    return site, sent


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8000", "127.0.0.1:80", "[::1]:8000"]
)
async def test_our_own_names_pass(host: str) -> None:
    site, _ = await ask("http", [("host", host)])
    assert len(site.scopes) == 1


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize("host", HOSTILE_HOSTS)
async def test_any_other_host_is_refused_on_every_protocol(
    kind: str, host: str
) -> None:
    headers = [("host", host), ("origin", f"http://{host}")]
    site, sent = await ask(kind, headers)
    assert site.scopes == []
    assert sent[0].get("status") == 400 or sent[0]["code"] == 4400


@pytest.mark.parametrize(
    "headers", [[], [("host", "localhost"), ("host", "evil.example")]]
)
async def test_exactly_one_host_is_wanted(headers: list[tuple[str, str]]) -> None:
    site, sent = await ask("http", headers)
    assert site.scopes == []
    assert sent[0]["status"] == 400


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://localhost:9999", "", "file://"]
)
async def test_another_origin_changes_nothing_and_opens_no_socket(origin: str) -> None:
    headers = [("host", "localhost:8000"), ("origin", origin)]
    for kind, method in (("http", "POST"), ("http", "DELETE"), ("websocket", "")):
        site, sent = await ask(kind, headers, method)
        assert site.scopes == []
        assert sent[0].get("status") == 403 or sent[0]["code"] == 4403


async def test_who_set_up_a_proxy_that_changes_the_host_is_told_what_to_mend() -> None:
    headers = [("host", "localhost"), ("origin", "https://localhost:8443")]

    _, sent = await ask("http", headers, "POST")

    assert b"pass on the Host header" in sent[1]["body"]


async def test_our_own_origin_may_post_and_open_a_socket() -> None:
    headers = [("host", "localhost:8000"), ("origin", "http://localhost:8000")]
    for kind, method in (("http", "POST"), ("websocket", "")):
        site, _ = await ask(kind, headers, method)
        assert len(site.scopes) == 1


async def test_a_program_without_an_origin_may_post_but_open_no_socket() -> None:
    site, _ = await ask("http", [("host", "localhost")], "POST")
    assert len(site.scopes) == 1
    site, sent = await ask("websocket", [("host", "localhost")])
    assert site.scopes == []
    assert sent[0]["type"] == "websocket.close"


async def test_headers_with_underscores_are_dropped() -> None:
    headers = [("host", "localhost"), ("x_forwarded_proto", "https"), ("x-kept", "yes")]
    site, _ = await ask("http", headers)
    assert site.scopes[0]["headers"] == [(b"host", b"localhost"), (b"x-kept", b"yes")]


async def test_what_is_no_connection_passes() -> None:
    site, _ = await ask("lifespan", [])
    assert len(site.scopes) == 1
