"""How providers' requests hold messages: the one rule that exports and `apply` share.

A message becomes pieces, and each piece is one message of a request. Then pieces are joined where
the provider wants consecutive ones in one message. Whatever the form, what a message says is its
atoms: one message with two results is two messages to OpenAI, two messages with one result each
are one to Anthropic, and each form leaves out what it has no place for. Written in one form and
read again, they give the same atoms.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

from threads.domain.body import canonical_parts
from threads.domain.message import Message, Role
from threads.domain.part import (
    JSON,
    File,
    Image,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

from . import blocks
from .format import Heading

Form = dict[str, Any]
"""A message in the JSON of a request."""
SYSTEM = (Role.SYSTEM, Role.DEVELOPER)
SYSTEM_GAP = "\n\n"
"""The separator between system messages that become one prompt."""


class RequestPiece(NamedTuple):
    """One message of a request. A piece that `joins` is merged into one of its role before it."""

    form: Form
    joins: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestForm:
    """The form of one provider's requests."""

    read: Callable[[JSON], Message]
    """Reads one message of a request, except one in a member of its own (the system prompt)."""
    write: Callable[[Message, Heading], Iterable[RequestPiece]]
    join: Callable[[Iterable[RequestPiece]], Iterator[Form]]
    has_system: bool
    """Whether the system messages at the top go into a member of their own."""
    has_ids: bool
    """Whether every call must have an id: see `CallIds`."""


def read_system(system: JSON) -> Iterator[Message]:
    """The message of a system prompt given as text or blocks; nothing if it is empty."""
    if parts := blocks.read_content(system, ("system",)):
        yield Message(role=Role.SYSTEM, parts=parts)


def no_bound_call(form: Form) -> str:
    """For forms in which a call and its result may always be written apart."""
    return ""


@dataclass(frozen=True, slots=True)
class RequestReader:
    """Reads the messages of one provider's requests."""

    read_messages: Callable[[JSON], list[Message]]
    """Reads a list of messages. Raises Invalid at the place that is malformed."""
    read_system: Callable[[JSON], Iterator[Message]] = read_system
    """Reads the system prompt in a member of its own, if there is one."""
    from_any_place: bool = True
    """Whether a message can be read without the messages before it."""
    bound_call: Callable[[Form], str] = no_bound_call
    """The id of the call in a message, if its result must go out as it came whenever the call does,
    and the other way round; else empty."""

    def read(self, messages: Sequence[JSON], some: slice) -> list[Message]:
        """A slice of the messages of a request."""
        if self.from_any_place:
            return self.read_messages(messages[some])
        return self.read_messages(messages)[some]


def split_system(
    messages: Iterable[Message], count: int | None
) -> tuple[list[Message], Iterator[Message]]:
    """The system messages at the top, at most `count` (None: all), and the rest."""
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
    """The system messages at the top as one prompt; empty if there are none."""
    return SYSTEM_GAP.join(message.text for message in messages)


_NOTES = re.compile(r"^x-anthropic-billing-header:.*(?:\n+|\Z)", re.MULTILINE)
"""Lines that Claude Code adds to its prompt for its provider; they differ in each release."""


def plain_prompt(text: str) -> str:
    """A system prompt without the notes that a client adds for its provider."""
    return _NOTES.sub("", text).strip()


class Atom(NamedTuple):
    """One part as it is sent: canonical JSON, with hashes in place of images and files."""

    role: Role
    is_result: bool
    content: bytes


def atoms_of(message: Message, form: RequestForm, heading: Heading) -> list[Atom]:
    """The atoms of a message as sent; one empty atom if it is sent without content.

    `heading` supplies the bytes of images and files.
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


_STANDARD = str.maketrans("-_", "+/")
"""The alphabet of base64 for one that is safe in addresses: Google's client sends this instead."""


class MessageFingerprint(NamedTuple):
    """What a message says, however a client sends it, and what tells it from its like."""

    atoms: tuple[bytes, ...]
    """Hashes of the atoms, those of results first; empty if nothing is said."""
    ids: tuple[str, ...]
    """Its ids for calls."""
    signatures: tuple[str, ...]
    """The signatures of its reasoning, and the reasoning that only its provider can read."""


def fingerprint_of(
    message: Message, form: RequestForm, heading: Heading
) -> MessageFingerprint:
    """What a message says, without what may differ between two requests that send it.

    Its atoms leave out reasoning (which clients drop later on), white space around a text, the ids
    of calls, null members of a block, and a client's notes in its system prompt.
    """
    atoms: list[tuple[bool, bytes]] = []
    ids: list[str] = []
    signatures: list[str] = []
    for piece in form.write(message, heading):
        read = form.read(piece.form)
        is_system = message.role in SYSTEM
        for part in read.parts:
            match part:
                case Thinking():
                    if signed := part.signature or part.data:
                        signatures.append(signed.translate(_STANDARD).rstrip("="))
                    continue
                case Text(text):
                    words = plain_prompt(text) if is_system else text.strip()
                    if not words:
                        continue
                    plain: Part = Text(words)
                case ToolCall():
                    ids.append(part.id)
                    plain = replace(part, id="", text=None)
                case ToolResult():
                    ids.append(part.call_id)
                    plain = replace(part, call_id="")
                case _:
                    plain = part
            role = Role.SYSTEM if is_system else read.role
            said = canonical_parts([_hashed(plain)])
            found = hashlib.sha256(b"%b %b" % (role.encode(), said)).digest()
            atoms.append((not isinstance(part, ToolResult), found))
    atoms.sort(key=itemgetter(0))
    said_in_order = tuple(found for _, found in atoms)
    return MessageFingerprint(said_in_order, tuple(ids), tuple(signatures))


def have_same_atoms(some: Iterable[Atom], others: Iterable[Atom]) -> bool:
    """Whether both have the same atoms in the same order, once results are moved to the front."""

    def is_behind(atom: Atom) -> bool:
        return not atom.is_result

    return sorted(some, key=is_behind) == sorted(others, key=is_behind)


def _hashed(part: Part) -> Part:
    """A part in which bytes are replaced by hashes and images and files have no media type."""
    match part:
        case ToolResult():
            content = tuple(map(_hashed, part.content))
            return replace(part, content=content)  # type: ignore[arg-type]  # kinds are kept
        case Image(data=bytes() as data) | File(data=bytes() as data):
            sha256 = hashlib.sha256(data).hexdigest()
            return replace(part, media_type="", sha256=sha256, data=None)
        case Image() | File():
            return replace(part, media_type="")
        case Opaque():
            return replace(part, data=_without_null(part.data))
    return part


def _without_null(value: JSON) -> JSON:
    """A block's JSON without null members, which programs leave out when they send it."""
    match value:
        case dict():
            members = value.items()
            return {
                name: _without_null(one) for name, one in members if one is not None
            }
        case list():
            return [*map(_without_null, value)]
    return value
