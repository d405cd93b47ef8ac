"""What one line of Claude Code's says as a message, or as a block of one."""

from typing import Any

from threads.domain.formats import blocks
from threads.domain.formats.anthropic import messages as anthropic
from threads.domain.formats.io import fields
from threads.domain.message import Usage
from threads.domain.part import Part

CONTENT = ("message", "content")
MessageLine = tuple[tuple[Part, ...], bool, str | None, str | None, Usage | None]
"""The parts, whether they are the model's, their id, the model's name and its tokens."""


def read(record: dict[str, Any]) -> MessageLine:
    """What a message's line says. Raises Invalid at what is malformed."""
    message = record["message"]
    parts = blocks.read_content(message.get("content"), CONTENT)
    id_ = fields.as_word(message.get("id")) or fields.as_word(record.get("uuid"))
    if record["type"] != "assistant":
        return parts, False, id_ or None, None, None
    usage = anthropic.read_usage(message.get("usage"))
    if usage and not (usage.input_tokens or usage.output_tokens):
        usage = None
    return parts, True, id_ or None, fields.as_word(message.get("model")) or None, usage


def joined(lines: list[MessageLine]) -> MessageLine:
    """What the lines of one message say: the first who it is, the last the tokens."""
    _, is_answer, id_, model, _ = lines[0]
    parts = tuple([part for line in lines for part in line[0]])
    usages = [line[4] for line in lines if line[4]]
    return parts, is_answer, id_, model, usages[-1] if usages else None
