"""Sessions of Claude Code, read by tests, and what they look for in them."""

import io
from typing import Any

from tests.threads.support.transcripts import lines
from threads.domain import formats
from threads.domain.message import Message
from threads.domain.part import Text, Thinking, ToolCall, ToolResult
from threads.domain.transcript import Transcript

WHOLE = [
    "user: Please look.",
    "assistant: c1, c2",
    "user: result c1",
    "user: result c2",
    "assistant: All is well.",
]
"""The shape of `claude_lines`."""


def read_all(*records: Any, name: str = "", raw: bytes = b"") -> list[Transcript]:
    return formats.read(io.BytesIO(raw or lines(*records)), "claude_code", name)


def read(*records: Any, name: str = "", raw: bytes = b"") -> Transcript:
    [found] = read_all(*records, name=name, raw=raw)
    return found


def shape(transcript: Transcript) -> list[str]:
    """A short form of each message."""
    return [_brief(item) for item in transcript.items if isinstance(item, Message)]


def _brief(message: Message) -> str:
    kinds = {Text: "text", Thinking: "thinking", ToolCall: "call", ToolResult: "result"}
    said = [
        part.text
        if isinstance(part, Text)
        else part.id
        if isinstance(part, ToolCall)
        else f"{kinds.get(type(part), part.kind)} {getattr(part, 'call_id', '')}".strip()
        for part in message.parts
    ]
    return f"{message.role}: {', '.join(said)}"
