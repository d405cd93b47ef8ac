"""The methods of a client except those of a session, as flows shared by both kinds of client."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeVar

import httpx

from .exchange import Flow, Request, ask, json_as, path
from .requests import JSON, call_tool, get, given, send
from .shapes import Page, SessionInfo, Switched, Tools
from .transports import call

T = TypeVar("T")


def _read(response: httpx.Response) -> Any:
    return None if response.status_code == 204 else json_as(object)(response)


class AnyApi:
    """Requests that belong to no particular part of the client."""

    @call
    def request(
        self, method: str, path: str, /, body: Any = None, **query: Any
    ) -> Flow[Any]:
        """Send any other request of the API, by its path (`/api/jobs/…`).

        Returns the answer as JSON; None if it is empty, as after a deletion.
        """
        request: Request[Any] = Request(
            method=method.upper(),
            path=path.lstrip("/"),
            read=_read,
            query=query,
            body=body,
            is_keyed=method.upper() != "GET",
        )
        return (yield from ask(request))

    @call
    def tools(
        self,
        only: Iterable[str] = (),
        *,
        format: Literal["openai", "anthropic", "mcp"] = "openai",
    ) -> Flow[list[JSON]]:
        """List the agent's tools in a provider's format; `only` names groups or tools."""
        names = ",".join(only) or None
        found = yield from get("api/tools", Tools, format=format, tools=names)
        return found.tools

    def _tool(self, name: str, arguments: JSON, shape: type[T]) -> Flow[T]:
        return call_tool(name, arguments, shape)


class SessionsApi:
    """The sessions that the key may see."""

    @call
    def create(
        self,
        *,
        title: str | None = None,
        project: str | None = None,
        external_id: str | None = None,
        model: str | None = None,
        system: str | None = None,
        messages: Sequence[JSON] | None = None,
    ) -> Flow[SessionInfo]:
        """Create a session. Raises Conflict if its `external_id` is taken."""
        body = given(
            title=title,
            project=project,
            external_id=external_id,
            model=model,
            system=system,
            messages=messages,
        )
        return (yield from send("POST", "api/sessions", SessionInfo, body))

    @call
    def list(
        self,
        *,
        project: str | None = None,
        q: str | None = None,
        source: str | None = None,
        external_id: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> Flow[Page[SessionInfo]]:
        """List sessions, latest change first; `q` matches part of the title."""
        return (
            yield from get(
                "api/sessions",
                Page[SessionInfo],
                project=project,
                q=q,
                source=source,
                external_id=external_id,
                cursor=cursor,
                limit=limit,
            )
        )

    @call
    def get(self, session_id: str) -> Flow[SessionInfo]:
        """Get a session without its messages. Raises NotFound."""
        return (yield from get(path("api", "sessions", session_id), SessionInfo))


class SwitchesApi:
    """Switches, reverts and reviews what was recorded, given its id."""

    kind: str
    """The segment of the path: `operations` or `bundles`."""

    @call
    def toggle(self, id: str, active: bool) -> Flow[Switched]:
        """Switch it on or off."""
        where = path("api", self.kind, id, "toggle")
        return (yield from send("POST", where, Switched, {"active": active}))

    @call
    def revert(self, id: str) -> Flow[Switched]:
        """Revert it."""
        return (yield from send("POST", path("api", self.kind, id, "revert"), Switched))

    @call
    def accept(self, id: str) -> Flow[Switched]:
        """Accept a proposal. Raises Conflict."""
        return (yield from send("POST", path("api", self.kind, id, "accept"), Switched))

    @call
    def reject(self, id: str) -> Flow[Switched]:
        """Reject a proposal."""
        return (yield from send("POST", path("api", self.kind, id, "reject"), Switched))


class OperationsApi(SwitchesApi):
    """Operations, identified by their ids."""

    kind = "operations"

    @call
    def get(self, id: str) -> Flow[JSON]:
        """Get all details of an operation, as JSON."""
        return (yield from get(path("api", "operations", id), JSON))

    @call
    def amend(self, id: str, /, **changes: Any) -> Flow[Switched]:
        """Change its text or its condition."""
        where = path("api", "operations", id, "amend")
        return (yield from send("POST", where, Switched, changes))


class BundlesApi(SwitchesApi):
    """Bundles, identified by their ids."""

    kind = "bundles"

    @call
    def accept(self, id: str, *, skip_conflicts: bool = False) -> Flow[Switched]:
        """Accept its proposals. Raises Conflict if some can't apply, unless they are skipped."""
        where = path("api", self.kind, id, "accept")
        asked = {"skip_conflicts": skip_conflicts}
        return (yield from send("POST", where, Switched, asked))
