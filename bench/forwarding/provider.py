"""The provider for measuring the proxy: gives every request the same reply.

When streaming, each piece contains the time at which it was sent, by the clock that all processes
share.
"""

import asyncio
import time
from typing import Any

from bench.address_server import serve

SAID = "ok, done"
REPLY = (
    b'{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"gpt-4o","choices":'
    b'[{"index":0,"message":{"role":"assistant","content":"ok, done"},"finish_reason":"stop"}],'
    b'"usage":{"prompt_tokens":10,"completion_tokens":3,"total_tokens":13}}'
)
_STREAMS = b'"stream":true'
PIECES, APART = 8, 0.02
"""How many pieces a streamed reply has, and the seconds between two of them."""
_PIECE = (
    b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-4o",'
    b'"choices":[{"index":0,"delta":{"role":"assistant","content":"%d "},"finish_reason":%s}]}\n\n'
)
_END = b"data: [DONE]\n\n"


async def provider(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Read a request to its end and reply."""
    more, end = True, b""
    while more:
        message = await receive()
        more = message.get("more_body", False)
        end = (end + message.get("body", b""))[-len(_STREAMS) - 2 :]
    if _STREAMS in end:
        await _stream(send)
        return
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(REPLY)).encode()),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": REPLY})


async def _stream(send: Any) -> None:
    headers = [(b"content-type", b"text/event-stream")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    for number in range(1, PIECES + 1):
        reason = b'"stop"' if number == PIECES else b"null"
        piece = _PIECE % (time.monotonic_ns(), reason)
        await send({"type": "http.response.body", "body": piece, "more_body": True})
        await asyncio.sleep(APART)
    await send({"type": "http.response.body", "body": _END})


def main() -> None:
    """Serve until stopped."""
    serve(provider)


if __name__ == "__main__":
    main()
