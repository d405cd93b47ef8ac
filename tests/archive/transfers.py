"""What is compared between a session and its copy elsewhere."""

from typing import Any

from django.test import Client

from tests.operations.support.rest import (
    effective,
    get,
)


def said_in(client: Client, session_id: str) -> list[tuple[str, Any, Any]]:
    shown = effective(client, session_id)
    return [(one["role"], one["content"], one.get("tool_calls")) for one in shown]


def statuses(client: Client, session_id: str) -> list[str]:
    listed = get(client, f"/api/sessions/{session_id}/operations")["operations"]
    return [one["status"] for one in listed]
