"""Messages as the public API shows them and takes them back: `GET …/messages` and threads.

Their `parts` say what OpenAI's members beside them can't: several results, reasoning, blocks
of others.
"""

import re
from collections.abc import Container, Iterable, Iterator
from dataclasses import replace
from typing import Any

from contextstudio.accounts.domain.errors import Invalid, Place
from threads.domain.formats import contextstudio
from threads.domain.message import Message, Role
from threads.domain.part import JSON, File, Image, Part, ToolResult

from .writing import write_message

ADDRESS = "/api/blobs/{}"
_ADDRESS = re.compile(ADDRESS.format("([0-9a-f]{64})"))
_ADDRESSES = ("url", "file_data")


def read_parts(
    message: dict[str, Any], role: Role, at: Place
) -> tuple[Part, ...] | None:
    """The `parts` of a public message; None for one that is none.

    Nor is it one any more where somebody has changed the members beside its parts: then these
    count. Images and files are named by their addresses.
    """
    given = message.get("parts")
    if not isinstance(given, list) or not isinstance(message.get("tool_results"), list):
        return None
    try:
        parts = tuple(
            contextstudio.read_part(_addressed(part), (*at, "parts", i))
            for i, part in enumerate(given)
        )
    except Invalid:
        return None
    form = write_message(Message(role=role, parts=parts))
    said = {name: message[name] for name in form if name in message}
    return parts if _blank(said) == _blank(form) else None


def hashes_of(messages: Iterable[Message]) -> set[str]:
    """The hashes of the images and files that messages name by the API's addresses."""
    parts = (part for message in messages for part in message.parts)
    return {sha256 for part in parts for sha256 in _hashes_of(part)}


def by_hash(message: Message, known: Container[str]) -> Message:
    """A message in which known images and files are named by their hashes."""
    return replace(
        message, parts=tuple(_by_hash(part, known) for part in message.parts)
    )


def _hashes_of(part: Part) -> Iterator[str]:
    if isinstance(part, ToolResult):
        for item in part.content:
            yield from _hashes_of(item)
    elif isinstance(part, Image | File) and (
        found := _ADDRESS.fullmatch(part.url or "")
    ):
        yield found[1]


def _by_hash(part: Part, known: Container[str]) -> Any:
    if isinstance(part, ToolResult):
        return replace(
            part, content=tuple(_by_hash(item, known) for item in part.content)
        )
    if isinstance(part, Image | File):
        for sha256 in _hashes_of(part):
            return replace(part, sha256=sha256, url=None) if sha256 in known else part
    return part


def _addressed(part: JSON) -> JSON:
    """A part in which what has a hash has its address, as have the parts in it."""
    if not isinstance(part, dict):
        return part
    if isinstance(content := part.get("content"), list):
        return {**part, "content": [_addressed(item) for item in content]}
    if isinstance(sha256 := part.get("sha256"), str):
        return {**part, "url": ADDRESS.format(sha256)}
    return part


def _blank(value: JSON) -> JSON:
    """A value in which images and files may have any address: shown inline, they have none."""
    if isinstance(value, list):
        return [_blank(item) for item in value]
    if isinstance(value, dict):
        return {
            name: "" if name in _ADDRESSES else _blank(item)
            for name, item in value.items()
        }
    return value
