"""What every tool of an agent is, the one table of them, and calling them.

Every door is a translation of the table. `register` adds a tool; apps that stand on this one
register theirs when Django starts.
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
    there_is_no,
)
from contextstudio.accounts.domain.paging import decode_cursor, encode_cursor
from contextstudio.accounts.idempotency import RecordedResponse, digest, once
from contextstudio.accounts.keys.request_log import note_tool
from contextstudio.accounts.responses import dump
from contextstudio.accounts.shape import RequestBody, wrong_shape
from operations.domain.text.budget import fitted
from operations.log.transaction import refuse_stale
from threads import tokens
from threads.models import Session
from threads.store.selectors import get_session

DEFAULT_TOKENS, LEAST_TOKENS, MOST_TOKENS = 4_000, 200, 1_000_000


class Tool(RequestBody, ABC):
    """A call of a tool: its arguments, checked."""

    name: ClassVar[str]
    group: ClassVar[str]
    """The name by which an agent takes it with others: `?tools=edit,recall`."""
    brief: ClassVar[str] = ""
    """What a model is told where its provider takes less than the docstring."""
    reads_only: ClassVar[bool] = False
    """Whether it changes nothing: clients may then call it without asking anybody."""
    is_paid_for: ClassVar[bool] = False
    """Whether a call may ask a model, though it changes nothing."""
    cuts_itself: ClassVar[bool] = False
    """Whether its answer already has as many tokens as were asked for."""
    is_permanent: ClassVar[bool] = False
    """Whether it destroys what can't be had back."""

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
        ge=LEAST_TOKENS,
        le=MOST_TOKENS,
        description="Limit for the answer; `next_cursor` continues with the rest.",
    )
    cursor: str | None = Field(
        None,
        max_length=2000,
        description="`next_cursor` of the last answer; the rest of the call stays the same.",
    )

    @abstractmethod
    def call(self, caller: Caller) -> Any:
        """Do it; the answer, as JSON takes it. Raises DomainError."""

    def session_at_hand(self, caller: Caller) -> Session | None:
        """The session that it acts on; None where it is about none. Raises NotFound."""
        return None


class SessionTool(Tool):
    """A tool that is about one session."""

    session_id: uuid.UUID = Field(description="The session's id, a UUID.")

    def session_at_hand(self, caller: Caller) -> Session:
        return get_session(caller, self.session_id)

    def open_session(self, caller: Caller) -> Session:
        """The session, at the head that the caller knows of. Raises NotFound, Conflict."""
        session = get_session(caller, self.session_id)
        refuse_stale(session, self.expected_head)
        return session

    @contextmanager
    def held_session(self, caller: Caller) -> Iterator[Session]:
        """The same, where nobody else records anything until the tool has acted."""
        with atomic():
            session = get_session(caller, self.session_id, lock=True)
            refuse_stale(session, self.expected_head)
            yield session


def chosen(names: str) -> list[type[Tool]]:
    """The tools of these groups, or of these names, separated by commas; all for an empty text.

    Raises Invalid for a name that is neither.
    """
    wanted = {name.strip() for name in names.split(",")} - {""}
    known = {name: {name, tool.group} for name, tool in TOOLS.items()}
    if unknown := wanted.difference(*known.values()):
        groups = dict.fromkeys(tool.group for tool in TOOLS.values())
        name = min(unknown)
        near = there_is_no("tool", name, TOOLS)
        raise Invalid(
            near if near.endswith("?") else there_is_no("group", name, groups),
            at=["tools"],
        )
    return [TOOLS[name] for name, own in known.items() if not wanted or wanted & own]


def _refuse_other_project(caller: Caller, call: Tool) -> None:
    """Raise Invalid where a call names a project in which its session is not."""
    session = None if call.project is None else call.session_at_hand(caller)
    if session is not None and session.project.slug != call.project:
        raise Invalid("This session is in another project.", at=["project"])


def _answer(caller: Caller, call: Tool) -> bytes:
    """The answer as JSON, in as many tokens as were asked for. Raises DomainError."""
    if call.cursor is not None and not call.reads_only:
        raise Invalid("Only a tool that just reads takes a cursor.", at=["cursor"])
    _refuse_other_project(caller, call)
    body = dump(call.call(caller))
    count = tokens.counter(tokens.DEFAULT)
    if call.cuts_itself:
        return body
    # A token is a byte at least, and seldom more than 16.
    is_short = len(body) <= call.max_tokens
    if not is_short and len(body) <= 16 * call.max_tokens:
        is_short = count(body.decode()) <= call.max_tokens
    if is_short and call.cursor is None:
        return body
    path = decode_cursor(call.cursor, 1)[0] if call.cursor else []
    if not isinstance(path, list):
        raise Invalid("This cursor does not belong to this answer.", at=["cursor"])
    value, stop = fitted(json.loads(body), call.max_tokens, count, path)
    found = value if isinstance(value, dict) else {"result": value}
    if stop is not None and call.reads_only:
        found["next_cursor"] = encode_cursor([stop])
    elif stop is not None:  # called again it would act again
        found["truncated"] = True
    return dump(found)


_tools: dict[str, type[Tool]] = {}
TOOLS: Mapping[str, type[Tool]] = MappingProxyType(_tools)
"""Every tool by its name, in the order in which they were registered."""


def register(tools: Iterable[type[Tool]]) -> None:
    _tools.update((tool.name, tool) for tool in tools)


def read_call(name: str, arguments: Any) -> Tool:
    """A call of the tool with this name. Raises NotFound, or Invalid with the places."""
    tool = _tools.get(name)
    note_tool(name if tool else "")
    if tool is None:
        raise NotFound(there_is_no("tool", name, TOOLS), at=["name"])
    try:
        return tool.model_validate(arguments)
    except ValidationError as error:
        raise wrong_shape(
            error.errors(), model=tool, fields=_own_fields(tool)
        ) from error


@cache
def _own_fields(tool: type[Tool]) -> list[str]:
    """What a tool takes beside what all take, first what it needs.

    The kind of an edit is said by the tool's name.
    """
    schema = tool.model_json_schema()
    own = [
        name
        for name, field in schema["properties"].items()
        if name not in Tool.model_fields and "const" not in field
    ]
    return sorted(own, key=lambda name: name not in schema.get("required", ()))


def call_once(caller: Caller, call: Tool) -> RecordedResponse:
    """The answer of a call; one with an idempotency key that was used before gets it again.

    What only reads is read again.

    Raises DomainError only where there is no such key: else a refusal is an answer too.
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
    return once(
        caller.actor,
        call.idempotency_key,
        digest([call.name.encode(), words]),
        answer_or_refusal,
        at="idempotency_key",
        keeps_answer=call.is_paid_for or not call.reads_only,
    )
