"""What of a part is counted as tokens, and what is estimated.

A message's count is the sum of its parts' counts. The framing that a provider adds for each
message is no part of it: it belongs to the request.
"""

import json
from collections.abc import Iterator

from .part import JSON, File, Image, Opaque, Part, Text, Thinking, ToolCall, ToolResult

IMAGE = 765
"""Tokens of an image: what OpenAI charges for 1024 by 1024 pixels at high detail (85 + 4 x 170).

The true price depends on the size and on the provider (Anthropic: width x height / 750).
"""
FILE = 1_500
"""Tokens of a file: the lower of the 1,500 to 3,000 that Anthropic gives for a PDF's page."""


def texts(part: Part) -> Iterator[str]:
    """The strings of a part that the tokenizer counts, each on its own.

    Of a call its name and its arguments as JSON; of a result the texts it holds. Reasoning
    that only its provider can read counts nothing: its length says nothing of its tokens.
    """
    match part:
        case Text(text) | Thinking(text):
            yield text
        case ToolCall(_, name, arguments):
            yield name
            yield arguments if isinstance(arguments, str) else _json(arguments)
        case ToolResult(_, content):
            for item in content:
                yield from texts(item)
        case Opaque(_, data):
            yield _json(data)


def estimate(part: Part) -> int:
    """Tokens of what is not text in a part: its images and files."""
    match part:
        case Image():
            return IMAGE
        case File():
            return FILE
        case ToolResult(_, content):
            return sum(map(estimate, content))
    return 0


def _json(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False)
