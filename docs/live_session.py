"""A live session for the pictures: the demonstration happens again, request by request.

A client sends each of its requests through the proxy to a local provider, which gives the recorded
replies. Meanwhile somebody folds what is no longer needed.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx

from tests.servers import PATIENCE_SECONDS, ROOT, Server

Message = dict[str, Any]

TRANSCRIPT = ROOT / "operations" / "demonstration" / "night-sailings.json"
TITLE = "Holds on the night sailings end too early"
CLIENT = {"User-Agent": "harbour-agent/1.2", "X-Session-Id": "night-sailings-live"}
REQUESTS = 27
BYTES_OF_A_TOKEN = 4
EDITS = {
    9: {
        "type": "digest",
        "start_idx": 4,
        "end_idx": 14,
        "summary": "Ends of a hold: `harbour/holds/sweeper.py` after 20 minutes, "
        "`harbour/payments/callback.py` on a declined card. Friday's early ones were all swept.",
    },
    16: {"type": "snip", "start_idx": 18, "end_idx": 21},
}
"""The edits to record, by the number of requests before them."""


def live_session(server: Server) -> str:
    """Run it on a server that may call this machine; returns the address of the session's page."""
    said = recorded()
    replies = [at for at, one in enumerate(said) if one["role"] == "assistant"]
    owner = bearer(server.key())
    agent = bearer(
        server.command(
            *("create_key", "--project", "demo", "--name", "harbour agent"),
            *("--scopes", "read,propose,edit"),
        )
    )
    with (
        provider(said) as url,
        httpx.Client(base_url=server.url, timeout=PATIENCE_SECONDS) as client,
    ):
        upstream = {"base_url": url, "api_key": "sk-provider"}
        path = "/api/projects/demo/upstreams/openai"
        client.put(path, json=upstream, headers=owner).raise_for_status()
        session = ""
        for number, end in enumerate(replies[:REQUESTS], 1):
            body = {"model": "gpt-4o", "messages": said[:end]}
            asked = client.post(
                "/v1/chat/completions", json=body, headers=agent | CLIENT
            )
            asked.raise_for_status()
            session = session or found(client, agent)
            if edit := EDITS.get(number):
                path = f"/api/sessions/{session}/operations"
                client.post(path, json=edit, headers=owner).raise_for_status()
        named = {"title": TITLE}
        client.patch(f"/api/sessions/{session}", json=named, headers=owner)
    return f"/sessions/{session}/"


def recorded() -> list[Message]:
    """The messages of the demonstration, as a client sends them."""
    transcript = json.loads(TRANSCRIPT.read_text("utf-8"))
    unsent = {"created_at", "reasoning_content"}
    return [
        {name: value for name, value in one.items() if name not in unsent}
        for one in transcript["messages"]
    ]


def bearer(key: str) -> dict[str, str]:
    """The header with a key."""
    return {"Authorization": f"Bearer {key}"}


def found(client: httpx.Client, agent: dict[str, str]) -> str:
    """The id of the session that the first request made."""
    asked = {"external_id": CLIENT["X-Session-Id"]}
    answer = client.get("/api/sessions", params=asked, headers=agent)
    return str(answer.json()["items"][0]["id"])


@contextmanager
def provider(said: list[Message]) -> Iterator[str]:
    """The address of a provider that gives the recorded replies, with a cache of its last input."""
    replies = iter([one for one in said if one["role"] == "assistant"])
    read = [b""]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = self.rfile.read(int(self.headers["Content-Length"]))
            reply = json.dumps(completion(next(replies), asked, read[-1])).encode()
            read.append(asked)
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, format: str, *args: object) -> None:
            """Write nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{listening.server_port}/v1"
        listening.shutdown()


def completion(reply: Message, asked: bytes, before: bytes) -> Message:
    """A response in the form of Chat Completions, with its usage estimated from bytes."""
    same = next(
        (at for at, (a, b) in enumerate(zip(asked, before, strict=False)) if a != b), 0
    )
    given, cached = tokens(asked), tokens(asked[:same])
    usage = {
        "prompt_tokens": given,
        "completion_tokens": tokens(json.dumps(reply).encode()),
        "prompt_tokens_details": {"cached_tokens": cached},
    }
    choice = {"index": 0, "message": reply, "finish_reason": "stop"}
    return {"id": "chatcmpl-1", "object": "chat.completion", "model": "gpt-4o"} | {
        "choices": [choice],
        "usage": usage,
    }


def tokens(text: bytes) -> int:
    """An estimate of the tokens in a text."""
    return len(text) // BYTES_OF_A_TOKEN
