"""REST helpers for tests: sessions with messages, calls that must succeed or be refused."""

from dataclasses import dataclass
from typing import Any

from django.test import Client

RECALL = {"type": "function", "function": {"name": "recall", "parameters": {}}}
"""The tool by which a model recalls, as in a request."""


def post(
    client: Client, path: str, body: Any = None, *, expect: int = 200, **headers: str
) -> Any:
    """Post, check the status, and return the body of the response."""
    answer = client.post(
        path,
        {} if body is None else body,
        content_type="application/json",
        headers=headers,
    )
    assert answer.status_code == expect, answer.content
    return answer.json()


def get(client: Client, path: str, *, expect: int = 200, **query: Any) -> Any:
    answer = client.get(path, query)
    assert answer.status_code == expect, answer.content
    return answer.json()


def put(client: Client, path: str, body: Any, *, expect: int = 200) -> Any:
    answer = client.put(path, body, "application/json")
    assert answer.status_code == expect, answer.content
    return answer.json()


def said(count: int) -> list[dict[str, Any]]:
    """`message 0`, `message 1`, …, alternating between user and assistant."""
    return [
        {"role": ("user", "assistant")[index % 2], "content": f"message {index}"}
        for index in range(count)
    ]


def make_session(client: Client, messages: int | list[Any], **fields: Any) -> str:
    if isinstance(messages, int):
        messages = said(messages)
    body = {"messages": messages, **fields}
    made = post(client, "/api/sessions", body, expect=201)
    session_id: str = made["id"]
    return session_id


def operate(client: Client, session_id: str, kind: str, **fields: Any) -> Any:
    """Record an edit."""
    path = f"/api/sessions/{session_id}/operations"
    return post(client, path, {"type": kind, **fields}, expect=201)


def thread(client: Client, session_id: str, **query: Any) -> Any:
    return get(client, f"/api/sessions/{session_id}/thread", **query)


def keys(client: Client, session_id: str, **query: Any) -> list[str]:
    return [node["key"] for node in thread(client, session_id, **query)["nodes"]]


def effective(client: Client, session_id: str, **query: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = thread(client, session_id, view="effective", **query)[
        "nodes"
    ]
    return found


def context(client: Client, session_id: str, **query: Any) -> Any:
    return get(client, f"/api/sessions/{session_id}/context", **query)


def adds_up(found: Any) -> bool:
    """Whether the token figures of a context add up from step to step."""
    tokens = found["tokens"]
    steps = found["steps"]
    assert steps[0]["before"] == tokens["total"]
    assert steps[0]["after"] == tokens["shown"]
    assert steps[-1]["after"] == tokens["sent"] == sum(tokens["by_layer"].values())
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        lost = sum(one["tokens"] for one in step["left_out"])
        assert step["before"] + step["added"] - lost == step["after"]
        assert following is None or following["before"] == step["after"]
    return True


@dataclass(frozen=True)
class Tools:
    """The agent's tools on one session: `call("snip_messages", range=[1, 2])`."""

    client: Client
    session_id: str

    def __call__(self, name: str, **arguments: Any) -> Any:
        return post(self.client, f"/api/tools/{name}", self._with(name, arguments))

    def refused(self, name: str, **arguments: Any) -> Any:
        """The problem document with which a call is refused."""
        answer = self.client.post(
            f"/api/tools/{name}", self._with(name, arguments), "application/json"
        )
        assert answer.status_code >= 400, answer.content
        assert answer["Content-Type"] == "application/problem+json"
        return answer.json()

    def post(self, path: str, body: Any) -> Any:
        return post(self.client, f"/api/sessions/{self.session_id}/{path}", body)

    def thread(self, **query: Any) -> Any:
        return thread(self.client, self.session_id, **query)

    def _with(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        own = {} if name.endswith("_operation") else {"session_id": self.session_id}
        return own | arguments
