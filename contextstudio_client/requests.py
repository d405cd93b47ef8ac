"""The kinds of requests to the API."""

from collections.abc import Mapping
from typing import Any, TypeVar

from .exchange import Flow, Request, ask, json_as, path

T = TypeVar("T")
JSON = dict[str, Any]


def get(where: str, shape: type[T], **query: Any) -> Flow[T]:
    """Read something."""
    return ask(Request(method="GET", path=where, read=json_as(shape), query=query))


def send(
    method: str,
    where: str,
    shape: type[T],
    body: Any = None,
    *,
    is_keyed: bool = True,
    **query: Any,
) -> Flow[T]:
    """Change something, with an Idempotency-Key."""
    request = Request(
        method=method,
        path=where,
        read=json_as(shape),
        body=body,
        query=query,
        is_keyed=is_keyed,
    )
    return ask(request)


def erase(where: str, **query: Any) -> Flow[None]:
    """Delete something; the answer is empty."""
    request: Request[None] = Request(
        method="DELETE",
        path=where,
        read=lambda response: None,
        query=query,
        is_keyed=True,
    )
    return ask(request)


def given(**members: Any) -> JSON:
    """The members of a body that aren't None."""
    return {name: value for name, value in members.items() if value is not None}


def call_tool(name: str, arguments: Mapping[str, Any], shape: type[T]) -> Flow[T]:
    """Call one of the agent's tools."""
    return send("POST", path("api", "tools", name), shape, dict(arguments))
