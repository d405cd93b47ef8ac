"""What a message says in a provider's form, apart from how it is cut into messages.

One message with two results is two messages to OpenAI, two messages with one result each are
one to Anthropic, and each form leaves out what it has no place for. Written in one form and
read again, they are the same atoms.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from threads.domain.formats.format import Heading
from threads.domain.message import Message, Role, encode_parts
from threads.domain.part import File, Image, Part, ToolResult

from .form import RequestForm


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
            Atom(read.role, isinstance(part, ToolResult), encode_parts([_hashed(part)]))
            for part in read.parts
        ] or [Atom(read.role, False, b"")]
    return found


def say_the_same(some: Iterable[Atom], others: Iterable[Atom]) -> bool:
    """Whether these are the same atoms in one order, in which results stand first."""
    return sorted(some, key=_behind_results) == sorted(others, key=_behind_results)


def _behind_results(atom: Atom) -> bool:
    return not atom.is_result


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
