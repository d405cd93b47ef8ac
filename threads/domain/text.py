"""The text of parts: what a person or a model wrote or read in them.

The words of text and thinking, the strings in the arguments of a call (in the order of
canonical JSON), the texts of a result. Where a part has several such pieces, a line break
stands between them, and between parts.
"""

from collections.abc import Iterable, Iterator

from .part import JSON, Opaque, Part, Text, Thinking, ToolCall, ToolResult

BETWEEN = "\n"


def text_of(part: Part) -> str:
    """The text of a part."""
    return BETWEEN.join(pieces_of(part))


def pieces_of(part: Part) -> list[str]:
    """The pieces of which the text of a part is put together."""
    match part:
        case Text(text) | Thinking(text):
            return [text]
        case ToolCall():
            return list(_strings(part.arguments))
        case ToolResult():
            return [piece for item in part.content for piece in pieces_of(item)]
        case Opaque():
            return list(_strings(part.data))
        case _:
            return []


def whole_text(parts: Iterable[Part]) -> str:
    """All that is searched of a message: the texts of its parts, and the names of its tools."""
    return BETWEEN.join(piece for part in parts for piece in _named_pieces(part))


def _named_pieces(part: Part) -> list[str]:
    if isinstance(part, ToolCall):
        return [part.name, *pieces_of(part)]
    return pieces_of(part)


def _strings(value: JSON) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        for name in sorted(value):
            yield from _strings(value[name])
