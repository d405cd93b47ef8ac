"""A server that may call this machine, and a provider on it."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from contextstudio.accounts.models import Project, User
from operations.forwarding.proxy.incoming import Incoming, ProxiedRequest
from operations.forwarding.proxy.rewriting import RewrittenRequest, rewrite
from operations.forwarding.proxy.routes import route_of
from operations.forwarding.upstreams.services import target_of
from tests.people import caller
from tests.servers import PATIENCE_SECONDS, Server, started_copy

from .provider import Provider, running_provider

Ask = Callable[..., RewrittenRequest]
"""Returns the rewritten request for a body sent to an address; nothing is sent."""


@pytest.fixture(scope="session")
def proxying_server(
    first_start: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """One server for all tests of the proxy: each test distinguishes its own sessions."""
    yield from started_copy(
        first_start,
        tmp_path_factory.mktemp("proxying"),
        CONTEXTSTUDIO_ALLOW_PRIVATE_UPSTREAMS="1",
        CONTEXTSTUDIO_UPSTREAM_TIMEOUT="5",
    )


@pytest.fixture
def provider() -> Iterator[Provider]:
    with running_provider() as provider:
        yield provider


@dataclass
class Proxy:
    """Our server, whose project's upstreams are the provider."""

    url: str
    key: str
    provider: Provider
    api: httpx.Client
    known: set[str] = field(default_factory=set)

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}

    def sessions(self) -> list[dict[str, Any]]:
        """The sessions created since the test began, newest first."""
        found = self.api.get("/api/sessions").raise_for_status().json()["items"]
        return [one for one in found if one["id"] not in self.known]

    def session(self) -> dict[str, Any]:
        """The only session."""
        (found,) = self.sessions()
        return found

    def messages(self, session_id: str = "") -> list[dict[str, Any]]:
        """The originals of a session, by default of the only one."""
        session_id = session_id or self.session()["id"]
        found = self.api.get(f"/api/sessions/{session_id}/messages").raise_for_status()
        items: list[dict[str, Any]] = found.json()["items"]
        return items

    def operations(self, session_id: str) -> list[dict[str, Any]]:
        """The operations of a session."""
        path = f"/api/sessions/{session_id}/operations"
        found: list[dict[str, Any]] = (
            self.api.get(path).raise_for_status().json()["operations"]
        )
        return found

    def operate(self, **edit: Any) -> dict[str, Any]:
        """Record an operation in the only session."""
        path = f"/api/sessions/{self.session()['id']}/operations"
        done: dict[str, Any] = self.api.post(path, json=edit).raise_for_status().json()
        return done

    def lead(self, provider: str, **changes: Any) -> httpx.Response:
        """Set an upstream of the project."""
        given = {"base_url": self.provider.url, "api_key": "sk-project"} | changes
        return self.api.put(f"/api/projects/demo/upstreams/{provider}", json=given)


@pytest.fixture
def proxy(proxying_server: Server, provider: Provider) -> Iterator[Proxy]:
    key = proxying_server.key()
    headers = {"Authorization": f"Bearer {key}"}
    with httpx.Client(
        base_url=proxying_server.url, headers=headers, timeout=PATIENCE_SECONDS
    ) as api:
        found = Proxy(proxying_server.url, key, provider, api)
        found.known = {one["id"] for one in found.sessions()}
        for form in ("openai", "anthropic", "gemini"):
            found.lead(form).raise_for_status()
        yield found
        for (
            session
        ) in found.sessions():  # or the same words in another test would continue it
            api.delete(f"/api/sessions/{session['id']}").raise_for_status()


@pytest.fixture
def ask(project: Project, editor: User) -> Ask:
    """Rewrites requests of the project's editor; `name` is the session's."""

    def send(path: str, body: dict[str, Any], name: str = "") -> RewrittenRequest:
        route = route_of("POST", path.encode(), {})
        headers = [(b"x-session-id", name.encode())] if name else []
        raw = json.dumps(body).encode()
        incoming = Incoming(method="POST", query=b"", headers=headers, body=raw)
        target = target_of(project.pk, route.provider)
        return rewrite(ProxiedRequest(caller(editor), project, target, route, incoming))

    return send
