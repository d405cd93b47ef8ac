"""How providers' requests hold messages: the one rule that exports and `apply` share.

A message becomes pieces, a piece one message of a request by itself; then pieces are joined,
where the provider wants what stands behind one another in one message. Whatever the form, what
a message says is its atoms: one message with two results is two messages to OpenAI, two messages
with one result each are one to Anthropic, and each form leaves out what it has no place for.
Written in one form and read again, they are the same atoms.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

from threads.domain.message import Message, Role, canonical_parts
from threads.domain.part import JSON, File, Image, Part, ToolResult

from .format import Heading

Form = dict[str, Any]
"""A message as it stands in the JSON of a request."""
SYSTEM = (Role.SYSTEM, Role.DEVELOPER)
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


def split_system(
    messages: Iterable[Message], count: int | None
) -> tuple[list[Message], Iterator[Message]]:
    """The system's messages at the top, at most so many, and the others."""
    rest = iter(messages)
    system: list[Message] = []
    while count is None or len(system) < count:
        message = next(rest, None)
        if message is None:
            break
        if message.role not in SYSTEM:
            return system, chain([message], rest)
        system.append(message)
    return system, rest


def system_words(messages: Iterable[Message]) -> str:
    """The system's messages at the top as one prompt; empty where there are none."""
    return SYSTEM_GAP.join(message.text for message in messages)


class Atom(NamedTuple):
    """One part as it is sent: canonical JSON, in which images and files are their hashes."""

    role: Role
    is_result: bool
    content: bytes


def atoms_of(message: Message, form: RequestForm, heading: Heading) -> list[Atom]:
    """What is sent of a message; one empty atom for a message that is sent without content.

    `heading` gives the bytes of images and files.
    """
    found: list[Atom] = []
    for piece in form.write(message, heading):
        read = form.read(piece.form)
        found += [
            Atom(
                read.role,
                isinstance(part, ToolResult),
                canonical_parts([_hashed(part)]),
            )
            for part in read.parts
        ] or [Atom(read.role, False, b"")]
    return found


def say_the_same(some: Iterable[Atom], others: Iterable[Atom]) -> bool:
    """Whether these are the same atoms in one order, in which results stand first."""

    def is_behind(atom: Atom) -> bool:
        return not atom.is_result

    return sorted(some, key=is_behind) == sorted(others, key=is_behind)


def _hashed(part: Part) -> Part:
    """A part whose images and files are their bytes alone, not how these are declared."""
    match part:
        case ToolResult():
            content = tuple(map(_hashed, part.content))
            return replace(part, content=content)  # type: ignore[arg-type]  # kinds are kept
        case Image(data=bytes() as data) | File(data=bytes() as data):
            sha256 = hashlib.sha256(data).hexdigest()
            return replace(part, media_type="", sha256=sha256, data=None)
        case Image() | File():
            return replace(part, media_type="")
    return part
