"""The official client of the Model Context Protocol calls every tool on a running server."""

import asyncio
from typing import Any

import httpx
import pytest

from tests.servers import Server

from .cases import CASES, COUNT, ON_SESSION, PREPARED

# test_doors.py calls every tool on either database.
pytestmark = pytest.mark.sqlite

SECONDS = 60


@pytest.fixture(scope="module")
def answers(server: Server) -> dict[str, Any]:
    """What each tool answered to a good call, and what the client was told at first."""
    # Both ask for seconds to be imported, which only this file needs.
    import httpx2
    from mcp.client.client import Client
    from mcp.client.streamable_http import streamable_http_client

    key = {"Authorization": f"Bearer {server.key()}"}
    found: dict[str, Any] = {}
    # The first request imports the protocol: on a busy machine longer than a client waits.
    httpx.post(f"{server.url}/mcp", headers=key, json={}, timeout=SECONDS)

    async def call_all() -> None:
        http = httpx2.AsyncClient(headers=key, timeout=SECONDS)
        transport = streamable_http_client(f"{server.url}/mcp", http_client=http)
        async with http, Client(transport) as client:
            found["tools"] = await client.list_tools()
            found["instructions"] = client.instructions
            for name in CASES:
                found[name] = await call(client, name)
            found["refused"] = await client.call_tool("show_group", {"group_id": 1})

    async def call(client: Any, name: str) -> Any:
        case = CASES[name]
        session_id, made = new_session(server, key), ""
        for need in case.needs:
            for first, arguments in PREPARED[need]:
                body = {"session_id": session_id, **arguments}
                done = (await client.call_tool(first, body)).structured_content
                made = made or done.get("operation_id") or done.get("memo_id", "")
        on: dict[str, Any] = {"session_id": session_id}
        if case.on != ON_SESSION:
            named = "memo_id" if case.on == "memo" else "operation_id"
            on = {named: made} if case.on else {}
        return await client.call_tool(name, {**on, **case.arguments})

    asyncio.run(call_all())
    return found


def new_session(server: Server, key: dict[str, str]) -> str:
    messages = [
        {"role": ("user", "assistant")[index % 2], "content": f"message {index}"}
        for index in range(COUNT)
    ]
    body = {"project": "demo", "messages": messages}
    made = httpx.post(
        f"{server.url}/api/sessions", json=body, headers=key, timeout=SECONDS
    )
    session_id: str = made.json()["id"]
    return session_id


@pytest.mark.parametrize("name", CASES)
def test_the_client_gets_the_answer_of_every_tool(
    name: str, answers: dict[str, Any]
) -> None:
    result = answers[name]
    assert not result.is_error, result.content
    content = result.structured_content
    body = content["result"] if set(content) == {"result"} else content
    assert CASES[name].answers <= set(body if isinstance(body, dict) else ())
    assert CASES[name].check(body)


def test_the_client_is_told_of_every_tool(answers: dict[str, Any]) -> None:
    tools = {tool.name: tool for tool in answers["tools"].tools}
    assert set(tools) == set(CASES)
    assert tools["remove_group"].annotations.destructive_hint
    assert tools["list_groups"].annotations.read_only_hint
    assert "list_sessions" in answers["instructions"]


def test_a_refusal_is_an_error_with_the_problem_in_it(answers: dict[str, Any]) -> None:
    refused = answers["refused"]
    assert refused.is_error
    assert refused.structured_content["status"] == 422
    assert refused.structured_content["at"] == ["session_id"]
