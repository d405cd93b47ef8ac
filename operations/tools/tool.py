"""The base class of an agent's tools, the one table of them, and how they are called.

Every door is a translation of the table. `register` adds a tool; apps above this one register
theirs when Django starts.
"""

import json
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar

from django.db.transaction import atomic
from pydantic import Field, ValidationError

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import (
    DomainError,
    Invalid,
    NotFound,
    problem,
    unknown_name,
)
from contextstudio.accounts.domain.paging import decode_cursor, encode_cursor
from contextstudio.accounts.idempotency import RecordedResponse, digest, run_once
from contextstudio.accounts.keys.request_log import note_tool
from contextstudio.accounts.responses import dump
from contextstudio.accounts.shape import RequestBody, wrong_shape
from operations.domain.text.budget import fit_to_tokens
from operations.log.transaction import refuse_stale
from threads import tokens
from threads.domain.formats.io import json_text
from threads.models import Session
from threads.store.selectors import get_session

DEFAULT_TOKENS, MIN_TOKENS, MAX_TOKENS = 4_000, 200, 1_000_000


class Tool(RequestBody, ABC):
    """A call of a tool, with validated arguments."""

    name: ClassVar[str]
    group: ClassVar[str]
    """The group that an agent selects it with: `?tools=edit,recall`."""
    brief: ClassVar[str] = ""
    """The description for models whose provider accepts less than the docstring."""
    reads_only: ClassVar[bool] = False
    """Whether it changes nothing, so that clients may call it without asking anybody."""
    is_paid_for: ClassVar[bool] = False
    """Whether a call may query a model, although it changes nothing."""
    cuts_itself: ClassVar[bool] = False
    """Whether it limits its answer to the requested tokens itself."""
    is_permanent: ClassVar[bool] = False
    """Whether it destroys something that can't be recovered."""

    project: str | None = Field(
        None, description="Slug of the project, if it must be named."
    )
    idempotency_key: str | None = Field(
        None,
        min_length=1,
        max_length=255,
        description="A call repeated with the same key gets the same answer.",
    )
    expected_head: int | None = Field(
        None, ge=0, description="Refuse (409) if the log has grown beyond this entry."
    )

    max_tokens: int = Field(
        DEFAULT_TOKENS,
        ge=MIN_TOKENS,
        le=MAX_TOKENS,
        description="Limit for the answer; `next_cursor` continues with the rest.",
    )
    cursor: str | None = Field(
        None,
        max_length=2000,
        description="`next_cursor` of the last answer; the rest of the call stays the same.",
    )

    @abstractmethod
    def call(self, caller: Caller) -> Any:
        """Run the call and return its answer as JSON values. Raises DomainError."""

    def session_at_hand(self, caller: Caller) -> Session | None:
        """The session that it acts on; None if it acts on none. Raises NotFound."""
        return None


class SessionTool(Tool):
    """A tool that acts on one session."""

    session_id: uuid.UUID = Field(description="The session's id, a UUID.")

    def session_at_hand(self, caller: Caller) -> Session:
        return get_session(caller, self.session_id)

    def open_session(self, caller: Caller) -> Session:
        """The session, at the head that the caller expects. Raises NotFound, Conflict."""
        session = get_session(caller, self.session_id)
        refuse_stale(session, self.expected_head)
        return session

    @contextmanager
    def held_session(self, caller: Caller) -> Iterator[Session]:
        """The session, locked so that nobody else records anything until the tool has acted."""
        with atomic():
            session = get_session(caller, self.session_id, lock=True)
            refuse_stale(session, self.expected_head)
            yield session


def chosen(names: str) -> list[type[Tool]]:
    """The tools of these groups or names, separated by commas; all of them for an empty text.

    Raises Invalid for an unknown name.
    """
    wanted = {name.strip() for name in names.split(",")} - {""}
    known = {name: {name, tool.group} for name, tool in TOOLS.items()}
    if unknown := wanted.difference(*known.values()):
        groups = dict.fromkeys(tool.group for tool in TOOLS.values())
        name = min(unknown)
        near = unknown_name("tool", name, TOOLS)
        raise Invalid(
            near if near.endswith("?") else unknown_name("group", name, groups),
            at=["tools"],
        )
    return [TOOLS[name] for name, own in known.items() if not wanted or wanted & own]


def _refuse_other_project(caller: Caller, call: Tool) -> None:
    """Raise Invalid if a call names a project other than that of its session."""
    session = None if call.project is None else call.session_at_hand(caller)
    if session is not None and session.project.slug != call.project:
        raise Invalid("This session is in another project.", at=["project"])


def _continued_at(call: Tool) -> list[Any]:
    """Where in its answer a call goes on. Raises Invalid before anything is done or paid for."""
    if call.cursor is not None and not call.reads_only:
        raise Invalid("Only read-only tools take a cursor.", at=["cursor"])
    if not call.cursor or call.cuts_itself:
        return []
    (path,) = decode_cursor(call.cursor, 1)
    if not isinstance(path, list):
        raise Invalid("This cursor does not belong to this answer.", at=["cursor"])
    return path


def _answer(caller: Caller, call: Tool) -> bytes:
    """The answer as JSON, limited to the requested tokens. Raises DomainError."""
    path = _continued_at(call)
    _refuse_other_project(caller, call)
    body = dump(call.call(caller))
    count = tokens.counter(tokens.DEFAULT)
    if call.cuts_itself:
        return body
    # A token is at least one byte, and seldom more than 16.
    is_short = len(body) <= call.max_tokens
    if not is_short and len(body) <= 16 * call.max_tokens:
        is_short = count(body.decode()) <= call.max_tokens
    if is_short and call.cursor is None:
        return body
    value, stop = fit_to_tokens(json.loads(body), call.max_tokens, count, path)
    found = value if isinstance(value, dict) else {"result": value}
    if stop is not None and call.reads_only:
        found["next_cursor"] = encode_cursor([stop])
    elif stop is not None:  # calling it again would repeat the action
        found["truncated"] = True
    return dump(found)


_tools: dict[str, type[Tool]] = {}
TOOLS: Mapping[str, type[Tool]] = MappingProxyType(_tools)
"""Every tool by its name, in order of registration."""


def register(tools: Iterable[type[Tool]]) -> None:
    _tools.update((tool.name, tool) for tool in tools)


def read_call(name: str, arguments: Any) -> Tool:
    """Read a call of the named tool. Raises NotFound, or Invalid with the places."""
    tool = _tools.get(name)
    note_tool(name if tool else "")
    if tool is None:
        raise NotFound(unknown_name("tool", name, TOOLS), at=["name"])
    if at := json_text.place_not_finite(arguments):
        raise Invalid(
            "NaN and Infinity are not JSON values.", at=at, code="json_invalid"
        )
    try:
        return tool.model_validate(arguments)
    except ValidationError as error:
        raise wrong_shape(
            error.errors(), model=tool, fields=_own_fields(tool)
        ) from error


@cache
def _own_fields(tool: type[Tool]) -> list[str]:
    """The arguments of a tool besides those common to all, required ones first.

    The kind of an edit is excluded, because the tool's name implies it.
    """
    schema = tool.model_json_schema()
    own = [
        name
        for name, field in schema["properties"].items()
        if name not in Tool.model_fields and "const" not in field
    ]
    return sorted(own, key=lambda name: name not in schema.get("required", ()))


def call_once(caller: Caller, call: Tool) -> RecordedResponse:
    """The answer of a call. A repeated idempotency key gets the recorded answer again.

    Tools that only read are run again. Raises DomainError only for a call without a key; with
    one, a refusal is recorded as the answer.
    """

    def answer() -> RecordedResponse:
        return RecordedResponse(200, _answer(caller, call), "application/json")

    def answer_or_refusal() -> RecordedResponse:
        try:
            return answer()
        except DomainError as error:
            body = dump(problem(error))
            return RecordedResponse(error.status, body, "application/problem+json")

    if call.idempotency_key is None:
        return answer()
    words = dump(call.model_dump(exclude={"idempotency_key"}))
    return run_once(
        caller.actor,
        call.idempotency_key,
        digest([call.name.encode(), words]),
        answer_or_refusal,
        at="idempotency_key",
        keeps_answer=call.is_paid_for or not call.reads_only,
    )
