"""How a provider's requests hold messages: the one rule that exports and `apply` share.

A message becomes pieces, a piece one message of a request by itself; then pieces are joined,
where the provider wants what stands behind one another in one message.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from threads.domain.formats.format import Heading
from threads.domain.message import Message
from threads.domain.part import JSON

Form = dict[str, Any]
"""A message as it stands in the JSON of a request."""
SYSTEM_GAP = "\n\n"
"""What stands between two of the system's messages that become one prompt."""


class RequestPiece(NamedTuple):
    """A message of a request by itself. One that `joins` goes into one of its role before it."""

    form: Form
    joins: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestForm:
    """The form of one provider's requests."""

    read: Callable[[JSON], Message]
    """A message of a request, none that stands in a member of its own."""
    write: Callable[[Message, Heading], Iterable[RequestPiece]]
    join: Callable[[Iterable[RequestPiece]], Iterator[Form]]
    has_system: bool
    """Whether the system's messages at the top stand in a member of their own."""
    has_ids: bool
    """Whether every call must have an id: see `CallIds`."""


def system_words(messages: Iterable[Message]) -> str:
    """The system's messages at the top as one prompt; empty where there are none."""
    return SYSTEM_GAP.join(message.text for message in messages)
