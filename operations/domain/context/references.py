"""References `[recall:…]` in the text of operations, removed for a model that can't recall.

The log keeps them: another client may be able to recall, people follow them, and a purge
recognises the pruner's lines by them.
"""

import re
from dataclasses import replace

from threads.domain.part import JSON, Part, Text, ToolCall, ToolResult

_REFERENCE = re.compile(r",? ?\[recall:[^\]\n]*\]")


def without_references(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """The parts without references; the same tuple if there are none."""
    bare = tuple(map(_bare, parts))
    return parts if bare == parts else bare


def _bare(part: Part) -> Part:
    match part:
        case Text():
            return Text(_bare_words(part.text))
        case ToolResult():
            content = [
                Text(_bare_words(one.text)) if isinstance(one, Text) else one
                for one in part.content
            ]
            return replace(part, content=tuple(content))
        case ToolCall():
            bare = _bare_value(part.arguments)
            # The arguments as written still contain what was removed.
            text = part.text if bare == part.arguments else None
            return replace(part, arguments=bare, text=text)
        case _:
            return part


def _bare_value(value: JSON) -> JSON:
    if isinstance(value, str):
        return _bare_words(value)
    if isinstance(value, list):
        return [_bare_value(item) for item in value]
    if isinstance(value, dict):
        return {name: _bare_value(item) for name, item in value.items()}
    return value


def _bare_words(text: str) -> str:
    return _REFERENCE.sub("", text)
