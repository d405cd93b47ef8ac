"""The bodies of requests that are answered before Django."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]


async def read_body(receive: Receive) -> bytes | None:
    """Read a request's body to the end; returns None if the client disconnects first."""
    pieces: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        pieces.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(pieces)


def replay_body(
    body: bytes, receive: Receive
) -> Callable[[], Awaitable[dict[str, Any]]]:
    """A `receive` that replays a body which was already read."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def read() -> dict[str, Any]:
        return waiting.pop() if waiting else dict(await receive())

    return read
