"""Edits through REST, for tests: recording them, and their statuses."""

from typing import Any

from django.test import Client

from tests.operations.support.rest import get, operate, post

COUNT = 10


def digest(client: Client, session_id: str, first: int, last: int, **more: Any) -> Any:
    fields = {"range": [first, last], "summary": "Sum"} | more
    return operate(client, session_id, "digest", **fields)


def act(
    client: Client, operation: Any, verb: str, body: Any = None, **more: Any
) -> Any:
    path = f"/api/operations/{operation['operation_id']}/{verb}"
    return post(client, path, body, **more)


def statuses(client: Client, session_id: str) -> list[str]:
    listed = get(client, f"/api/sessions/{session_id}/operations")["operations"]
    return [operation["status"] for operation in listed]
