"""The doors at which a tool is called, so that one test can use all of them.

Each takes a tool's name with its arguments, and returns a status and a body as REST does.
"""

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from asgiref.sync import async_to_sync
from django.core.management import call_command
from django.test import Client

from contextstudio.accounts.domain.errors import DomainError, problem
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.models import Project, User
from contextstudio.accounts.selectors import caller_of_key, find_key
from contextstudio.mcp.mount import with_mcp
from operations.tools import call_once, read_call
from tests.people import key_of

MCP_HEADERS = {"Accept": "application/json, text/event-stream"}


@dataclass(frozen=True)
class Answered:
    status: int
    body: Any
    replayed: bool = False


Door = Callable[..., Answered]
"""`door(name, **arguments)`."""


def rest(key: str) -> Door:
    """`POST /api/tools/<name>`."""

    def knock(name: str, **arguments: Any) -> Answered:
        answer = Client().post(
            f"/api/tools/{name}", arguments, "application/json", headers=_bearer(key)
        )
        replayed = answer.headers.get("Idempotent-Replayed") == "true"
        return Answered(answer.status_code, answer.json(), replayed)

    return knock


def mcp(key: str) -> Door:
    """`tools/call` at `/mcp`; the status is 200, or that of the returned problem."""

    def knock(name: str, **arguments: Any) -> Answered:
        status, body = post_mcp("tools/call", key, name=name, arguments=arguments)
        if status != 200:
            return Answered(status, body)
        result = body["result"]
        content = result["structuredContent"]
        (text,) = result["content"]
        assert json.loads(text["text"]) == content.get("result", content)
        return Answered(content["status"] if result["isError"] else 200, content)

    return knock


def service(key: str) -> Door:
    """The table of tools itself."""

    def knock(name: str, **arguments: Any) -> Answered:
        found = find_key(key)
        assert found is not None
        try:
            answer = call_once(caller_of_key(found), read_call(name, arguments))
        except DomainError as error:
            return _refused(error)
        return Answered(answer.status, json.loads(answer.body), answer.replayed)

    return knock


def command(owner: User, project: Project) -> Door:
    """`manage.py tool`: always as the owner of the project."""

    def knock(name: str, **arguments: Any) -> Answered:
        output = io.StringIO()
        words = json.dumps(arguments)
        try:
            call_command("tool", name, words, "--project", project.slug, stdout=output)
        except DomainError as error:
            return _refused(error)
        return Answered(200, json.loads(output.getvalue()))

    return knock


WITH_KEYS = {"rest": rest, "mcp": mcp, "service": service}
"""The doors for anyone with a key."""


def every_door(owner: User, project: Project) -> dict[str, Door]:
    """All doors, each used by the owner."""
    key = key_of(owner, project)
    found = {name: door(key) for name, door in WITH_KEYS.items()}
    return {**found, "command": command(owner, project)}


def limited(user: User, project: Project, *scopes: Right) -> dict[str, Door]:
    """The doors for a key with only these scopes."""
    key = key_of(user, project, *scopes)
    return {name: door(key) for name, door in WITH_KEYS.items()}


def post_mcp(
    method: str, key: str, *, query: bytes = b"", **params: Any
) -> tuple[int, Any]:
    """Send a request of the protocol to the application itself; returns its status and answer."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = MCP_HEADERS | {"Content-Type": "application/json"} | _bearer(key)
    words = json.dumps(body).encode()
    status, answer = async_to_sync(ask)("POST", headers, words, query)
    return status, json.loads(answer)


async def ask(
    method: str, headers: dict[str, str], body: bytes | None, query: bytes = b""
) -> tuple[int, bytes]:
    """The status and body of `/mcp`; (0, b"") if the client leaves before sending its body."""
    sent: list[dict[str, Any]] = []
    scope = {
        "type": "http",
        "method": method,
        "path": "/mcp",
        "query_string": query,
        "headers": [(k.lower().encode(), v.encode()) for k, v in headers.items()],
    }

    async def receive() -> dict[str, Any]:
        if body is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    # Between requests a server closes connections, but the test has an open transaction.
    with patch("channels.db.close_old_connections"):
        await with_mcp(_nothing_else)(scope, receive, send)
    if body is None:
        assert not any(one.get("body") for one in sent)
        return 0, b""
    pieces = [one["body"] for one in sent if one["type"] == "http.response.body"]
    return sent[0]["status"], b"".join(pieces)


async def _nothing_else(*_: Any) -> None:
    raise AssertionError("/mcp was passed on")


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


def _refused(error: DomainError) -> Answered:
    return Answered(error.status, json.loads(json.dumps(problem(error))))
