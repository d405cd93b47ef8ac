"""A message, and groups: a user's message with what follows it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from itertools import accumulate, islice
from typing import Any, Self

from .part import Part, Text, ToolResult


class Role(StrEnum):
    """Who speaks. `developer` is kept as given; providers treat it as `system`."""

    SYSTEM = "system"
    DEVELOPER = "developer"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"

    __hash__ = str.__hash__  # Enum's is in Python, and roles are hashed all the time


USER, ASSISTANT, TOOL = Role.USER, Role.ASSISTANT, Role.TOOL
"""For code that runs for every message: access through the Enum takes three times as long."""


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Usage:
    """Tokens as the provider counted them for the request that made a message."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0

    def __init__(  # the one that dataclass generates takes twice as long
        self, *, input_tokens: int = 0, output_tokens: int = 0, cached_tokens: int = 0
    ) -> None:
        _set_input_tokens(self, input_tokens)
        _set_output_tokens(self, output_tokens)
        _set_cached_tokens(self, cached_tokens)


_set_input_tokens, _set_output_tokens, _set_cached_tokens = (
    getattr(Usage, member.name).__set__ for member in fields(Usage)
)


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Message:
    """One message of a conversation, as a transcript or a client gives it.

    `records` locate what it was read from: `bytes:<start>-<end>` of the source file (end
    exclusive), be it a line or an element of a JSON document; `row:<table>/<rowid>` of a
    database. For a record in another file of the folder than the transcript's own, that file's
    name and `#` come first.
    """

    role: Role
    parts: tuple[Part, ...]
    name: str | None = None
    model: str | None = None
    source_id: str | None = None
    """The transcript's own id of the message (uuid, `msg_…`), used to align a longer version."""
    created_at: datetime | None = None
    usage: Usage | None = None
    partial: bool = False
    records: tuple[str, ...] = ()

    def __new__(  # like `__init__` of `Usage`, and twice as fast as an `__init__`
        cls,
        *,
        role: Role,
        parts: tuple[Part, ...],
        name: str | None = None,
        model: str | None = None,
        source_id: str | None = None,
        created_at: datetime | None = None,
        usage: Usage | None = None,
        partial: bool = False,
        records: tuple[str, ...] = (),
    ) -> Self:
        """Create a message with these members."""
        draft = _Draft()
        draft.role = role
        draft.parts = parts
        draft.name = name
        draft.model = model
        draft.source_id = source_id
        draft.created_at = created_at
        draft.usage = usage
        draft.partial = partial
        draft.records = records
        draft.__class__ = cls
        return draft  # type: ignore[no-any-return]

    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]:
        """The arguments with which `copy` and `pickle` create a message."""
        return (), {member.name: getattr(self, member.name) for member in fields(self)}

    @property
    def text(self) -> str:
        """All its text parts, joined by blank lines."""
        return "\n\n".join(part.text for part in self.parts if isinstance(part, Text))


_Draft: Any = type("_Draft", (), {"__slots__": Message.__slots__})
"""A message that isn't frozen yet: setting its members takes a tenth of the time."""


def starts_group(role: Role, parts: Iterable[Part]) -> bool:
    """Whether a message starts a group: a user message that holds more than tool results.

    A user message without any part starts one too, because somebody sent it.
    """
    if role is not Role.USER:
        return False
    empty = True
    for part in parts:
        if not isinstance(part, ToolResult):
            return True
        empty = False
    return empty


def group_ids(starts: Iterable[bool], *, last: int = 0) -> Iterator[int]:
    """The group number of each message, given which of them start a group.

    Messages before the first group are in group 0, so the first group is always 1. `last` is the
    group of the message before these when they are appended.
    """
    return islice(accumulate(starts, initial=last), 1, None)
