"""Bytes of images and files that stand within parts: each gets the name of its hash."""

from collections.abc import Callable
from dataclasses import replace

from .part import File, Image, Part, Text, ToolCall, ToolResult

Name = Callable[[Image | File, bytes], str]
"""Gives the SHA-256 of an image's or a file's bytes, in hex."""


def named(parts: tuple[Part, ...], name: Name) -> tuple[Part, ...]:
    """The parts with a hash in the place of all bytes; the same parts where there are none."""
    for part in parts:
        kind = type(part)  # most parts are known at a glance to hold none
        if kind is not Text and kind is not ToolCall and _holds_bytes(part):
            return tuple(_named_part(part, name) for part in parts)
    return parts


def _holds_bytes(part: Part) -> bool:
    if isinstance(part, ToolResult):
        for item in part.content:  # noqa: SIM110  # a generator takes twice as long
            if type(item) is not Text and _holds_bytes(item):
                return True
        return False
    return isinstance(part, Image | File) and part.data is not None


def _named_part(part: Part, name: Name) -> Part:
    match part:
        case ToolResult():
            content = tuple(_named_part(item, name) for item in part.content)
            return replace(part, content=content)  # type: ignore[arg-type]  # kinds are kept
        case Image(data=bytes() as data) | File(data=bytes() as data):
            return replace(part, sha256=name(part, data), data=None)
    return part
