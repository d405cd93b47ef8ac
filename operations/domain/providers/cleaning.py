"""What a provider's JSON can hold: no lone surrogates, which UTF-8 has not, no infinities."""

import math
import re
from dataclasses import replace

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

_LONE = re.compile("[\ud800-\udfff]")


def clean(value: JSON) -> JSON:
    """JSON with U+FFFD in the place of each lone surrogate, and numbers that it has as text."""
    if isinstance(value, str):
        return value if value.isascii() else _LONE.sub("�", value)
    if isinstance(value, dict):
        return {clean(name): clean(item) for name, item in value.items()}
    if isinstance(value, list):
        return [clean(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def clean_part(part: Part) -> Part:
    """A part as `clean` makes its texts; equal to it where nothing was replaced."""
    match part:
        case Text(text):
            return part if text.isascii() else Text(clean(text))
        case Thinking(text, signature, data):
            return Thinking(clean(text), clean(signature), clean(data))
        case ToolCall(id_, name, arguments):
            return ToolCall(clean(id_), clean(name), clean(arguments))
        case ToolResult():
            content = tuple(clean_part(item) for item in part.content)
            # What a result holds stays what it is.
            return replace(
                part,
                call_id=clean(part.call_id),
                content=content,  # type: ignore[arg-type]
                name=clean(part.name),
            )
        case Image():
            return replace(part, media_type=clean(part.media_type), url=clean(part.url))
        case File():
            return replace(
                part,
                media_type=clean(part.media_type),
                name=clean(part.name),
                url=clean(part.url),
            )
        case Opaque(type_, data):
            return Opaque(clean(type_), clean(data))
