"""The doors through which operations are recorded, so that one test can use all of them.

Each takes the kind of an edit with its fields, and returns a status and a body as REST does; doors
without a status return 200, or the problem document of the refusal.
"""

import io
import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.core.management import call_command
from django.test import Client
from pydantic import TypeAdapter, ValidationError

from contextstudio.accounts.domain.errors import DomainError, problem
from contextstudio.accounts.models import Project, User
from contextstudio.accounts.selectors import caller_of_user
from contextstudio.accounts.shape import wrong_shape
from operations.edits import services
from operations.edits.arguments import AnyEdit
from operations.edits.schemas import present_recorded, present_transaction
from tests.people import key_of

TOOL_OF = {
    kind: f"{kind}_messages"
    for kind in ("tag", "digest", "revise", "snip", "resequence", "insert")
}
"""The tool of each kind of edit that has one."""


@dataclass(frozen=True)
class Answered:
    status: int
    body: dict[str, Any]
    replayed: bool = False

    @property
    def ok(self) -> bool:
        return self.status in (200, 201)


Door = Callable[..., Answered]
"""`door(kind, **fields)`; `idempotency_key` and `session_id` are among the fields."""


def rest(user: User, project: Project, session_id: str) -> Door:
    """`POST /api/sessions/{id}/operations`."""
    headers = _headers(user, project)

    def knock(
        kind: str,
        *,
        idempotency_key: str = "",
        session_id: str = session_id,
        **fields: Any,
    ) -> Answered:
        sent = headers | (
            {"Idempotency-Key": idempotency_key} if idempotency_key else {}
        )
        path = f"/api/sessions/{session_id}/operations"
        return _posted(path, {"type": kind, **fields}, sent)

    return knock


def tools(user: User, project: Project, session_id: str) -> Door:
    """`POST /api/tools/<name>`."""
    headers = _headers(user, project)

    def knock(kind: str, **fields: Any) -> Answered:
        return _posted(
            f"/api/tools/{TOOL_OF[kind]}", {"session_id": session_id} | fields, headers
        )

    return knock


def command(user: User, project: Project, session_id: str) -> Door:
    """`manage.py tool`: always as the owner of the project."""

    def knock(kind: str, **fields: Any) -> Answered:
        output = io.StringIO()
        arguments = json.dumps({"session_id": session_id} | fields)
        try:
            call_command("tool", TOOL_OF[kind], arguments, stdout=output)
        except DomainError as error:
            return _refused(error)
        return Answered(200, json.loads(output.getvalue()))

    return knock


def service(user: User, project: Project, session_id: str) -> Door:
    """The service itself, with the arguments that every door checks."""
    arguments: TypeAdapter[Any] = TypeAdapter(AnyEdit)

    def knock(kind: str, *, session_id: str = session_id, **fields: Any) -> Answered:
        try:
            edit = arguments.validate_python({"type": kind, **fields})
        except ValidationError as error:
            return _refused(wrong_shape(error.errors(), place=lambda at: at[1:]))
        try:
            transaction = services.record_edit(
                caller_of_user(user),
                uuid.UUID(session_id),
                edit,
                expected_head=edit.expected_head,
            )
        except DomainError as error:
            return _refused(error)
        recorded = present_recorded(transaction, transaction.numbers[0])
        return Answered(200, present_transaction(transaction) | recorded)

    return knock


DOORS = {"rest": rest, "tools": tools, "command": command, "service": service}
FOR_ANYONE = ("rest", "tools", "service")
"""The doors that any caller may use."""
WITH_KEYS = ("rest", "tools", "command")
"""The doors that take an idempotency key."""


def _headers(user: User, project: Project) -> dict[str, str]:
    return {"Authorization": f"Bearer {key_of(user, project)}"}


def _posted(path: str, body: dict[str, Any], headers: dict[str, str]) -> Answered:
    answer = Client().post(path, body, "application/json", headers=headers)
    return Answered(
        answer.status_code,
        answer.json(),
        answer.headers.get("Idempotent-Replayed") == "true",
    )


def _refused(error: DomainError) -> Answered:
    return Answered(error.status, json.loads(json.dumps(problem(error))))
