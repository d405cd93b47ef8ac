"""What a server can be asked: the flows of every method, once for both kinds of client."""

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
    """What a client can be asked besides what its parts can."""

    @call
    def request(
        self, method: str, path: str, /, body: Any = None, **query: Any
    ) -> Flow[Any]:
        """Any other request of the API, by its path (`/api/jobs/…`).

        Its answer as JSON; None for one that is empty, as of a deletion.
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
        """The agent's tools as a provider's request lists them; `only` names groups or tools."""
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
        """Make a session. Raises Conflict where its `external_id` is taken."""
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
        """Sessions, newest change first; `q` is a part of the title."""
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
        """A session without its messages. Raises NotFound."""
        return (yield from get(path("api", "sessions", session_id), SessionInfo))


class SwitchesApi:
    """What was recorded, named by its id: switched, taken back, reviewed."""

    kind: str
    """The word of the path: `operations` or `bundles`."""

    @call
    def toggle(self, id: str, active: bool) -> Flow[Switched]:
        """Switch it on or off."""
        where = path("api", self.kind, id, "toggle")
        return (yield from send("POST", where, Switched, {"active": active}))

    @call
    def revert(self, id: str) -> Flow[Switched]:
        """Take it back."""
        return (yield from send("POST", path("api", self.kind, id, "revert"), Switched))

    @call
    def accept(self, id: str) -> Flow[Switched]:
        """Let a proposal apply. Raises Conflict."""
        return (yield from send("POST", path("api", self.kind, id, "accept"), Switched))

    @call
    def reject(self, id: str) -> Flow[Switched]:
        """Decline a proposal."""
        return (yield from send("POST", path("api", self.kind, id, "reject"), Switched))


class OperationsApi(SwitchesApi):
    """Operations, named by their ids."""

    kind = "operations"

    @call
    def get(self, id: str) -> Flow[JSON]:
        """All of an operation, as JSON."""
        return (yield from get(path("api", "operations", id), JSON))

    @call
    def amend(self, id: str, /, **changes: Any) -> Flow[Switched]:
        """Give it new words or another condition."""
        where = path("api", "operations", id, "amend")
        return (yield from send("POST", where, Switched, changes))


class BundlesApi(SwitchesApi):
    """Bundles, named by their ids."""

    kind = "bundles"

    @call
    def accept(self, id: str, *, skip_conflicts: bool = False) -> Flow[Switched]:
        """Let those that wait apply. Raises Conflict where some can't, unless they are skipped."""
        where = path("api", self.kind, id, "accept")
        asked = {"skip_conflicts": skip_conflicts}
        return (yield from send("POST", where, Switched, asked))
