"""Replaces what UTF-8 JSON can't hold: lone surrogates and infinities."""

import math
import operator
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
    """Replace lone surrogates by U+FFFD, and numbers that JSON can't hold by text.

    Returns the same object if there is nothing to replace, which is nearly always the case.
    """
    return value if is_clean(value) else _cleaned(value)


def clean_part(part: Part) -> Part:
    """Apply `clean` to the texts of a part; the same object if nothing was replaced."""
    match part:
        case Text(text):
            return part if is_clean(text) else Text(clean(text))
        case ToolCall(id_, name, arguments, _, namespace):
            if is_clean(arguments) and is_clean(id_) and is_clean(name):
                return part
            said = clean(name), clean(arguments)
            return ToolCall(clean(id_), *said, namespace=clean(namespace))
        case ToolResult():
            return _cleaned_result(part)
    cleaned = _cleaned_part(part)
    is_same = not isinstance(part, File) or is_clean(part.members)
    return part if is_same and cleaned == part else cleaned


def is_clean(value: JSON) -> bool:
    """Whether `clean` has nothing to replace in a value."""
    if isinstance(value, str):
        return value.isascii() or _is_utf_8(value)
    if isinstance(value, dict):
        for name, item in value.items():  # noqa: SIM110  # a generator takes twice as long
            if not (is_clean(name) and is_clean(item)):
                return False
        return True
    if isinstance(value, list):
        return all(map(is_clean, value))
    return not isinstance(value, float) or math.isfinite(value)


def _is_utf_8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _cleaned(value: JSON) -> JSON:
    if isinstance(value, str):
        return _LONE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {clean(name): clean(item) for name, item in value.items()}
    if isinstance(value, list):
        return [clean(item) for item in value]
    return str(value)


def _cleaned_result(part: ToolResult) -> ToolResult:
    content = tuple(map(clean_part, part.content))
    is_same = all(map(operator.is_, content, part.content))
    if is_same and is_clean(part.call_id) and is_clean(part.name):
        return part
    # The items of a result keep their types.
    return replace(
        part,
        call_id=clean(part.call_id),
        content=content,  # type: ignore[arg-type]
        name=clean(part.name),
    )


def _cleaned_part(part: Thinking | Image | File | Opaque) -> Part:
    match part:
        case Thinking(text, signature, data):
            return Thinking(clean(text), clean(signature), clean(data), part.signer)
        case Image():
            return replace(part, media_type=clean(part.media_type), url=clean(part.url))
        case File():
            return replace(
                part,
                media_type=clean(part.media_type),
                name=clean(part.name),
                url=clean(part.url),
                members=clean(part.members),
            )
        case Opaque(type_, data):
            return Opaque(clean(type_), clean(data))
