"""The methods of a session, as flows shared by both kinds of client."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypedDict, TypeVar, Unpack

from .errors import Conflict
from .exchange import Flow, Request, ask, path
from .requests import JSON, call_tool, erase, get, given, send
from .shapes import (
    Applied,
    Context,
    Message,
    Messages,
    OperationList,
    Page,
    Recorded,
    RecordedBundle,
    SessionInfo,
    Switched,
)
from .snapshots_api import SnapshotsApi
from .transports import call

T = TypeVar("T")
View = Literal["annotated", "effective", "original"]


class Named(TypedDict, total=False):
    """The caller's own id of a session, and the fields for creating it if there is none."""

    external_id: str | None
    project: str | None
    title: str | None
    model: str | None


class SessionApi(SnapshotsApi):
    """One session, identified by its id or by the caller's own `external_id`."""

    def __init__(self, id: str | None, **named: Unpack[Named]) -> None:
        if (id is None) == (named.get("external_id") is None):
            raise ValueError("Name a session by its id or by external_id.")
        self._id = id
        self._new = given(**named)

    @property
    def id(self) -> str:
        """The session's id. Raises ValueError until the session was found or created."""
        if self._id is None:
            raise ValueError("The session is not open yet: use it in `with`.")
        return self._id

    def _ensure_id(self) -> Flow[str]:
        """The session's id; a session named by `external_id` is created on first use."""
        if self._id is None:
            found = yield from self._find()
            try:
                self._id = (
                    found
                    or (
                        yield from send("POST", "api/sessions", SessionInfo, self._new)
                    ).id
                )
            except Conflict:  # created by somebody else meanwhile
                self._id = yield from self._find()
                if self._id is None:
                    raise
        return self._id

    def _find(self) -> Flow[str | None]:
        query = {name: self._new.get(name) for name in ("external_id", "project")}
        page = yield from get("api/sessions", Page[SessionInfo], **query)
        return page.items[0].id if page.items else None

    def _path(self, *steps: object) -> Flow[str]:
        session_id = yield from self._ensure_id()
        return path("api", "sessions", session_id, *steps)

    @call
    def info(self) -> Flow[SessionInfo]:
        """Get the session without its messages."""
        return (yield from get((yield from self._path()), SessionInfo))

    @call
    def update(
        self,
        *,
        title: str | None = None,
        objective: str | None = None,
        model: str | None = None,
    ) -> Flow[SessionInfo]:
        """Change its title, objective or model; None leaves a value unchanged."""
        body = given(title=title, objective=objective, model=model)
        return (yield from send("PATCH", (yield from self._path()), SessionInfo, body))

    @call
    def delete(self, *, purge: bool = False) -> Flow[None]:
        """Hide it for 30 days; `purge` erases it at once, even if it is deleted already."""
        return (yield from erase((yield from self._path()), purge=purge or None))

    @call
    def restore(self) -> Flow[SessionInfo]:
        """Restore it after `delete`."""
        where = yield from self._path("restore")
        return (yield from send("POST", where, SessionInfo))

    @call
    def apply(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        system: Any = None,
        tools: Sequence[JSON] | None = None,
        model: str | None = None,
        format: Literal["openai", "anthropic"] | None = None,
        active_tags: Iterable[str] | None = None,
        append: bool | None = None,
    ) -> Flow[Applied]:
        """Get what to send to the model instead of these messages; new messages are recorded.

        Keep your own list unchanged: the server recognises the messages by it. It is sent without
        an Idempotency-Key: a list that was recorded is recognised and not recorded twice.
        """
        body = given(
            messages=list(messages),
            system=system,
            tools=tools,
            model=model,
            format=format,
            active_tags=None if active_tags is None else list(active_tags),
            append=append,
        )
        where = yield from self._path("apply")
        return (yield from send("POST", where, Applied, body, is_keyed=False))

    @call
    def append(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        expected_count: int | None = None,
    ) -> Flow[SessionInfo]:
        """Append messages. Raises Conflict unless the session holds `expected_count` messages."""
        body = given(messages=list(messages), expected_count=expected_count)
        where = yield from self._path("messages")
        return (yield from send("POST", where, SessionInfo, body))

    @call
    def messages(
        self, start: int | None = None, end: int | None = None
    ) -> Flow[list[Message]]:
        """Get originals `start` to `end` (exclusive), at most 500; 100 if no `end` is given."""
        where = yield from self._path("messages")
        return (yield from get(where, Messages, start=start, end=end)).items

    @call
    def thread(
        self,
        view: View | None = None,
        *,
        start: int | None = None,
        limit: int | None = None,
        active_tags: Iterable[str] | None = None,
    ) -> Flow[JSON]:
        """Get the thread; `start` and `limit` count its top-level nodes."""
        where = yield from self._path("thread")
        tags = None if active_tags is None else list(active_tags)
        return (
            yield from get(
                where, JSON, view=view, start=start, limit=limit, active_tags=tags
            )
        )

    @call
    def context(
        self,
        provider: str | None = None,
        *,
        model: str | None = None,
        active_tags: Iterable[str] | None = None,
        max_tokens: int | None = None,
        consume: bool | None = None,
        recall: bool | None = None,
        snapshot: str | None = None,
    ) -> Flow[Context]:
        """Get the request that a provider would be sent now, or as it was at a snapshot.

        `recall` says whether the model has that tool; None means as in the session's last request.
        """
        where = yield from self._path("context")
        return (
            yield from get(
                where,
                Context,
                provider=provider,
                model=model,
                active_tags=None if active_tags is None else list(active_tags),
                max_tokens=max_tokens,
                consume=consume,
                recall=recall,
                snapshot=snapshot,
            )
        )

    @call
    def export(
        self, format: str, view: Literal["original", "effective"] | None = None
    ) -> Flow[bytes]:
        """Export the session as a file in one of the formats."""
        where = yield from self._path("export")
        query = {"format": format, "view": view}
        request = Request(
            method="GET",
            path=where,
            read=lambda response: response.content,
            query=query,
        )
        return (yield from ask(request))

    @call
    def operations(
        self,
        *,
        active_only: bool | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> Flow[OperationList]:
        """List the operations of its log."""
        where = yield from self._path("operations")
        query = {"active_only": active_only, "cursor": cursor, "limit": limit}
        return (yield from get(where, OperationList, **query))

    @call
    def record(self, type: str, /, **fields: Any) -> Flow[Recorded]:
        """Record an operation (`digest`, `snip`, …) with the fields of its kind.

        Raises Invalid with the place, or Conflict with `operations` and `needs`.
        """
        where = yield from self._path("operations")
        return (yield from send("POST", where, Recorded, {"type": type, **fields}))

    @call
    def dry_run(
        self, type: Literal["replace", "redact"], /, **fields: Any
    ) -> Flow[JSON]:
        """Show what a replace or redact would match, without recording anything."""
        where = yield from self._path("operations")
        body = {"type": type, **fields, "dry_run": True}
        return (yield from send("POST", where, JSON, body))

    @call
    def bundle(
        self,
        operations: Sequence[Mapping[str, Any]],
        *,
        title: str | None = None,
        expected_head: int | None = None,
    ) -> Flow[RecordedBundle]:
        """Record several operations as one bundle: all or none."""
        where = yield from self._path("bundles")
        body = given(
            operations=list(operations), title=title, expected_head=expected_head
        )
        return (yield from send("POST", where, RecordedBundle, body))

    @call
    def undo(self) -> Flow[Switched]:
        """Undo what this key recorded last."""
        return (yield from send("POST", (yield from self._path("undo")), Switched))

    @call
    def redo(self) -> Flow[Switched]:
        """Redo what this key undid last."""
        return (yield from send("POST", (yield from self._path("redo")), Switched))

    def _tool(self, name: str, arguments: JSON, shape: type[T]) -> Flow[T]:
        session_id = yield from self._ensure_id()
        arguments = {"session_id": session_id, **arguments}
        return (yield from call_tool(name, arguments, shape))
