"""What of a part is counted as tokens, and what is estimated.

A message's count is the sum of its parts' counts. The framing that a provider adds for each
message is no part of it: it belongs to the request.
"""

import json
from collections.abc import Iterable, Iterator

from .part import JSON, File, Image, Opaque, Part, Text, Thinking, ToolCall, ToolResult

IMAGE = 765
"""Tokens of an image: what OpenAI charges for 1024 by 1024 pixels at high detail (85 + 4 x 170).

The true price depends on the size and on the provider (Anthropic: width x height / 750).
"""
FILE = 1_500
"""Tokens of a file: the lower of the 1,500 to 3,000 that Anthropic gives for a PDF's page."""

Words = list[tuple[list[JSON], int]]
"""What of a message is counted: of each part its texts, and what is estimated.

A value that is no text is counted as its JSON, which is written when it is counted: of most
messages that come again it never is.
"""


def words(parts: Iterable[Part]) -> Words:
    """What is counted of a message's parts."""
    return [
        # Most parts are texts, and a call of a function costs more than what it gives.
        ([part.text], 0) if type(part) is Text else (_values(part), estimate(part))
        for part in parts
    ]


def spell(value: JSON) -> str:
    """A value of `Words` as the text that is counted."""
    return value if isinstance(value, str) else _json(value)


def texts(part: Part) -> Iterator[str]:
    """The strings of a part that the tokenizer counts, each on its own.

    Of a call its name and its arguments as JSON; of a result the texts it holds. Reasoning
    that only its provider can read counts nothing: its length says nothing of its tokens.
    """
    return map(spell, _values(part))


def _values(part: Part) -> list[JSON]:
    match part:
        case Text(text) | Thinking(text):
            return [text]
        case ToolCall(_, name, arguments):
            return [name, arguments]
        case ToolResult(_, content):
            return [value for item in content for value in _values(item)]
        case Opaque(_, data):
            return [_json(data)]
    return []


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
