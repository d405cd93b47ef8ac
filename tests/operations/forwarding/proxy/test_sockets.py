"""WebSockets to the addresses of providers."""

import asyncio
from typing import Any

import httpx
import pytest
from asgiref.testing import ApplicationCommunicator

from contextstudio.asgi import application
from tests.servers import PATIENCE_SECONDS

from .conftest import Proxy

UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


@pytest.mark.parametrize("path", ["/v1/responses", "/s/run-17/v1/responses"])
def test_a_client_that_tries_a_socket_is_told_to_use_http(
    proxy: Proxy, path: str
) -> None:
    reply = httpx.get(
        proxy.url + path, headers=proxy.headers | UPGRADE, timeout=PATIENCE_SECONDS
    )
    assert reply.status_code == 426
    assert "use HTTP" in reply.json()["error"]["message"]
    assert reply.json()["code"] == "use_http"
    assert not proxy.provider.asked


def test_where_the_server_can_not_answer_so_the_socket_is_closed_with_the_reason() -> (
    None
):
    async def ask() -> dict[str, Any]:
        scope = {"type": "websocket", "path": "/v1/responses", "headers": []}
        socket = ApplicationCommunicator(application, scope)
        await socket.send_input({"type": "websocket.connect"})
        found: dict[str, Any] = await socket.receive_output(timeout=PATIENCE_SECONDS)
        return found

    closed = asyncio.run(ask())
    assert (closed["type"], closed["code"]) == ("websocket.close", 4426)
    assert "use HTTP" in closed["reason"]
