"""Recordings of requests (HAR), for tests."""

import json
from typing import Any

KEY, COOKIE = "sk-this-must-not-be-kept", "session=nor-may-this"


def request(url: str, body: Any, **post: Any) -> dict[str, Any]:
    """A request with a key in a header and a cookie."""
    text = body if isinstance(body, str) else json.dumps(body)
    return {
        "method": "POST",
        "url": url,
        "headers": [
            {"name": "Authorization", "value": f"Bearer {KEY}"},
            {"name": "X-Api-Key", "value": KEY},
            {"name": "Cookie", "value": COOKIE},
            {"name": "User-Agent", "value": "Agent/1"},
        ],
        "cookies": [{"name": "session", "value": COOKIE}],
        "queryString": [{"name": "key", "value": KEY}],
        "postData": {"mimeType": "application/json", "text": text, **post},
    }


def entry(
    url: str, body: Any, reply: Any = "", second: int = 0, **content: Any
) -> dict[str, Any]:
    """A request and its response."""
    text = reply if isinstance(reply, str) else json.dumps(reply)
    return {
        "startedDateTime": f"2026-03-02T10:00:{second:02}.000Z",
        "time": 12,
        "_initiator": {"url": f"https://example.org/?token={KEY}"},
        "request": request(url, body),
        "response": {
            "status": 200,
            "headers": [{"name": "Set-Cookie", "value": COOKIE}],
            "cookies": [{"name": "session", "value": COOKIE}],
            "content": {"mimeType": "application/json", "text": text, **content},
        },
    }


def har(*entries: Any) -> bytes:
    """A recording."""
    creator = {"name": "Browser", "version": "1", "comment": KEY}
    pages = [{"title": f"https://example.org/?token={KEY}"}]
    log = {"version": "1.2", "creator": creator, "pages": pages, "entries": [*entries]}
    return json.dumps({"log": log}).encode()
