"""The API's answers as typed values.

Unknown members of an answer are ignored, since additions to version 1 of the API are free. Messages
and provider requests stay JSON: dicts.
"""

import types
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Any, Generic, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
JSON = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A page of a list; `next_cursor` leads to the next page, None on the last."""

    items: list[T]
    next_cursor: str | None = None

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A session without its messages. `head` is the number of the last entry of its log."""

    id: str
    project: str
    title: str
    external_id: str | None
    source: str
    parsing_strategy: str
    model: str
    objective: str
    message_count: int
    head: int
    tokens: int
    created_at: datetime
    updated_at: datetime
    parent: str | None = None
    """The session that it came from, or that it was asked beside."""
    relation: str | None = None
    """Its relation to `parent`: `side_call`, `subagent`, `branch`, `continuation`."""


@dataclass(frozen=True, slots=True)
class Message:
    """An original message; `content` and `tool_calls` are in OpenAI's form."""

    key: str
    id: str
    short_id: str
    index: int
    role: str
    content: str | list[JSON] | None
    parts: list[JSON]
    tool_results: list[JSON]
    group_id: int
    status: str
    tags: list[str]
    tokens: int
    tool_calls: list[JSON] | None = None
    tool_call_id: str | None = None
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Suspended:
    """An operation that had nothing to act on in a request."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Issue:
    """A provider's rule that the request would have broken, and how it was repaired."""

    rule: str
    severity: str
    detail: str
    keys: list[str]
    repair: str


@dataclass(frozen=True, slots=True)
class Step:
    """A step from the thread to the request. Figures are tokens."""

    name: str
    before: int
    after: int
    added: int


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    """Token counts of the given messages, and of what to send."""

    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Applied:
    """What to send instead of one's own messages.

    `session_id` is the session that holds them: a different one than asked if the messages turned
    out to be a separate conversation. `message_count` is how many messages it now holds. If
    `thinking_off` is set, Anthropic would refuse these messages with `thinking` of type `enabled`.
    """

    messages: list[JSON]
    applied: list[str]
    suspended: list[Suspended]
    issues: list[Issue]
    steps: list[Step]
    tokens: BeforeAfter
    session_id: str
    message_count: int
    system: Any = None
    thinking_off: bool = False


@dataclass(frozen=True, slots=True)
class ContextTokens:
    """Token counts of the whole thread, of what is shown, and of what would be sent."""

    total: int
    shown: int
    sent: int
    tokenizer: str
    exact: bool


@dataclass(frozen=True, slots=True)
class Context:
    """What would be sent; `request` is the body of the provider's request."""

    request: JSON
    messages: list[JSON]
    issues: list[Issue]
    over_budget: bool
    steps: list[Step]
    tokens: ContextTokens
    provider: str
    model: str
    system: Any = None


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of a session's log. `status` is `applied`, or tells why it isn't."""

    id: str
    key: str
    type: str
    title: str
    status: str
    reason: str
    hidden_by: str | None
    condition: JSON | None
    bundle_id: str | None
    actor: JSON
    created_at: datetime
    reverted_at: datetime | None


@dataclass(frozen=True, slots=True)
class OperationList:
    """Some operations of a session, in the order of its log."""

    operations: list[Operation]
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """A warning about what was recorded."""

    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class Changed:
    """Another operation whose status has changed as a result."""

    key: str
    id: str
    type: str
    before: str
    status: str
    reason: str


@dataclass(frozen=True, slots=True)
class Switched:
    """The result of switching, undoing or reviewing."""

    head: int
    warnings: list[Note]
    changed: list[Changed]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A named point of a session: the number of its last entry, and how many messages it had."""

    name: str
    head: int
    message_count: int
    actor: JSON
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Snapshots:
    """The snapshots of a session, newest first."""

    items: list[Snapshot]


@dataclass(frozen=True, slots=True)
class Resolved:
    """The messages that an edit refers to: the range of its originals, and their keys."""

    first: int | None
    last: int | None
    count: int
    keys: list[str]


@dataclass(frozen=True, slots=True)
class RecordedOne:
    """One edit of a bundle."""

    operation_id: str
    key: str
    type: str
    resolved: Resolved
    status: str
    reason: str


@dataclass(frozen=True, slots=True)
class Recorded:
    """The result of recording one edit."""

    operation_id: str
    key: str
    type: str
    resolved: Resolved
    status: str
    reason: str
    head: int
    warnings: list[Note]
    changed: list[Changed]


@dataclass(frozen=True, slots=True)
class RecordedBundle:
    """The result of recording a bundle."""

    bundle_id: str
    operations: list[RecordedOne]
    head: int
    warnings: list[Note]
    changed: list[Changed]


@dataclass(frozen=True, slots=True)
class Tools:
    """Function schemas, in the form of `tools` in a provider's request."""

    tools: list[JSON]


@dataclass(frozen=True, slots=True)
class Messages:
    """Some messages of a session."""

    items: list[Message]


def decode(shape: Any, value: Any, at: str = "the answer") -> Any:
    """Decode a JSON value as a type: a dataclass, `list[…]`, `… | None`, datetime, or as it is.

    Raises TypeError or ValueError naming the place.
    """
    if shape is Any or shape is object:
        return value
    origin, inner = get_origin(shape), get_args(shape)
    if origin in (Union, types.UnionType):
        return _decode_one_of(inner, value, at)
    bare = origin or shape
    if is_dataclass(bare):
        return _decode_members(shape, bare, value, at)
    if shape is datetime and isinstance(value, str):
        return datetime.fromisoformat(value)
    if not isinstance(value, bare) or (bare is int and isinstance(value, bool)):
        raise TypeError(f"{at} is {type(value).__name__}, not {bare.__name__}")
    if bare is list and inner and inner[0] != JSON:
        return [decode(inner[0], one, f"{at}[{n}]") for n, one in enumerate(value)]
    return value


def _decode_one_of(options: tuple[Any, ...], value: Any, at: str) -> Any:
    if value is None and types.NoneType in options:
        return None
    named = [one for one in options if one is not types.NoneType]
    for one in named[:-1]:
        if isinstance(value, get_origin(one) or one):
            return decode(one, value, at)
    return decode(named[-1], value, at)


def _decode_members(shape: Any, bare: Any, value: Any, at: str) -> Any:
    if not isinstance(value, dict):
        raise TypeError(f"{at} is {type(value).__name__}, not an object")
    taken = {}
    for name, kind, is_needed in _members(shape, bare):
        if name in value:
            taken[name] = decode(kind, value[name], f"{at}.{name}")
        elif is_needed:
            raise ValueError(f"{at} has no {name}")
    return bare(**taken)


@cache
def _members(shape: Any, bare: Any) -> list[tuple[str, Any, bool]]:
    """The fields of a dataclass: name, type, and whether it is required."""
    hints = get_type_hints(bare)
    given = dict(zip(getattr(bare, "__parameters__", ()), get_args(shape), strict=True))
    found = []
    for one in fields(bare):
        kind = hints[one.name]
        if own := getattr(kind, "__parameters__", ()):
            kind = kind[tuple(given[parameter] for parameter in own)]
        found.append((one.name, kind, one.default is MISSING))
    return found
