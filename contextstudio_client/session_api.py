"""What can be asked of one session: the flows of every method, once for both kinds of client."""

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
    """A session by the caller's own id, and what it is made of where there is none."""

    external_id: str | None
    project: str | None
    title: str | None
    model: str | None


class SessionApi(SnapshotsApi):
    """One session, named by its id or by the caller's own `external_id`."""

    def __init__(self, id: str | None, **named: Unpack[Named]) -> None:
        if (id is None) == (named.get("external_id") is None):
            raise ValueError("Name a session by its id or by external_id.")
        self._id = id
        self._new = given(**named)

    @property
    def id(self) -> str:
        """The session's id. Raises ValueError before it was found or made."""
        if self._id is None:
            raise ValueError("The session is not open yet: use it in `with`.")
        return self._id

    def _opened(self) -> Flow[str]:
        """The id; of a session named by `external_id`, which is made on first use."""
        if self._id is None:
            found = yield from self._found()
            try:
                self._id = (
                    found
                    or (
                        yield from send("POST", "api/sessions", SessionInfo, self._new)
                    ).id
                )
            except Conflict:  # somebody else made it meanwhile
                self._id = yield from self._found()
                if self._id is None:
                    raise
        return self._id

    def _found(self) -> Flow[str | None]:
        query = {name: self._new.get(name) for name in ("external_id", "project")}
        page = yield from get("api/sessions", Page[SessionInfo], **query)
        return page.items[0].id if page.items else None

    def _path(self, *steps: object) -> Flow[str]:
        session_id = yield from self._opened()
        return path("api", "sessions", session_id, *steps)

    @call
    def info(self) -> Flow[SessionInfo]:
        """The session without its messages."""
        return (yield from get((yield from self._path()), SessionInfo))

    @call
    def update(
        self,
        *,
        title: str | None = None,
        objective: str | None = None,
        model: str | None = None,
    ) -> Flow[SessionInfo]:
        """Change its title, objective or model; what is None stays."""
        body = given(title=title, objective=objective, model=model)
        return (yield from send("PATCH", (yield from self._path()), SessionInfo, body))

    @call
    def delete(self, *, purge: bool = False) -> Flow[None]:
        """Hide it for 30 days; `purge` erases it at once, deleted or not."""
        return (yield from erase((yield from self._path()), purge=purge or None))

    @call
    def restore(self) -> Flow[SessionInfo]:
        """Bring it back after `delete`."""
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
        """What to send to the model in place of these messages; what is new is recorded.

        Keep your own list as it is: by it the server knows the messages again. It is sent
        without an Idempotency-Key: a list that was recorded is recognised and not recorded twice.
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
        """Add messages. Raises Conflict where it holds another number than `expected_count`."""
        body = given(messages=list(messages), expected_count=expected_count)
        where = yield from self._path("messages")
        return (yield from send("POST", where, SessionInfo, body))

    @call
    def messages(
        self, start: int | None = None, end: int | None = None
    ) -> Flow[list[Message]]:
        """Originals from `start` to before `end`, at most 500; 100 where no end is given."""
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
        """The thread as it is shown; `start` and `limit` count its outermost nodes."""
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
        """The request that a provider would be sent now, or as it was at a snapshot.

        `recall`: whether the model has that tool; None: as in the session's last request.
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
        """The session as a file in one of the formats."""
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
        """The operations of its log."""
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
        """What a replace or redact would find; nothing is recorded."""
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
        """Record operations as one: all or none."""
        where = yield from self._path("bundles")
        body = given(
            operations=list(operations), title=title, expected_head=expected_head
        )
        return (yield from send("POST", where, RecordedBundle, body))

    @call
    def undo(self) -> Flow[Switched]:
        """Take back what this key recorded last."""
        return (yield from send("POST", (yield from self._path("undo")), Switched))

    @call
    def redo(self) -> Flow[Switched]:
        """Bring back what this key undid last."""
        return (yield from send("POST", (yield from self._path("redo")), Switched))

    def _tool(self, name: str, arguments: JSON, shape: type[T]) -> Flow[T]:
        session_id = yield from self._opened()
        arguments = {"session_id": session_id, **arguments}
        return (yield from call_tool(name, arguments, shape))
