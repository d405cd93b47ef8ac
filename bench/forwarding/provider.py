"""The provider of `bench.forwarding.beside_litellm`: gives every request the same reply."""

import os
from typing import Any

import uvicorn

from bench.pages.reading_server import Announcing

SAID = "ok, done"
REPLY = (
    b'{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"gpt-4o","choices":'
    b'[{"index":0,"message":{"role":"assistant","content":"ok, done"},"finish_reason":"stop"}],'
    b'"usage":{"prompt_tokens":10,"completion_tokens":3,"total_tokens":13}}'
)


async def provider(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Reads a request to its end and replies."""
    while (await receive()).get("more_body", False):
        pass
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(REPLY)).encode()),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": REPLY})


def main() -> None:
    """Serve until told to stop."""
    config = uvicorn.Config(
        provider,
        host="127.0.0.1",
        port=0,
        log_level="warning",
        lifespan="off",
        timeout_keep_alive=3600,
    )
    Announcing(config, str(os.getpid())).run()


if __name__ == "__main__":
    main()
