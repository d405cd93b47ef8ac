"""What is counted as tokens in a part, and what is estimated.

A message's count is the sum of its parts' counts. It does not include the framing that a provider
adds for each message, which belongs to the request.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any

from .part import JSON, File, Image, Opaque, Part, Text, Thinking, ToolCall, ToolResult

IMAGE = 765
"""Tokens of an image: OpenAI's price for 1024 by 1024 pixels at high detail (85 + 4 x 170).

The true price depends on the size and on the provider (Anthropic: width x height / 750).
"""
FILE = 1_500
"""Tokens of a file: the lower end of Anthropic's 1,500 to 3,000 for a page of a PDF."""

_json: Callable[[JSON], str] = json.JSONEncoder(ensure_ascii=False).encode

Counted = str | tuple[list[JSON], int]
"""What is counted in a part: its text, or its values and an estimated number of tokens.

A value that is not text is counted as its JSON. The JSON is written only when it is counted,
which for most messages that come again never happens.
"""
Words = list[Counted]
"""What is counted in a message, part by part."""


def words(parts: Iterable[Part]) -> Words:
    """What is counted in a message's parts.

    For a call, this is its name and its arguments as sent; for a result, the texts it holds.
    Reasoning that only its provider can read counts as nothing, because its length says nothing
    about its tokens.
    """
    return [_WORDS[type(part)](part) for part in parts]


def total(counted: Counted, count: Callable[[str], int]) -> int:
    """The tokens of a part; each of its texts is counted on its own."""
    if isinstance(counted, str):
        return count(counted)
    values, estimated = counted
    return estimated + sum(
        count(value if isinstance(value, str) else _json(value)) for value in values
    )


def _of_result(part: ToolResult) -> Counted:
    found = words(part.content)
    if len(found) == 1:
        return found[0]
    texts: list[JSON] = [one for one in found if isinstance(one, str)]
    others = [one for one in found if not isinstance(one, str)]
    texts += [value for values, _ in others for value in values]
    return texts, sum(estimated for _, estimated in others)


_WORDS: dict[type, Callable[[Any], Counted]] = {
    Text: lambda part: part.text,
    Thinking: lambda part: part.text,
    ToolCall: lambda part: (
        [part.name, part.arguments if part.text is None else part.text],
        0,
    ),
    ToolResult: _of_result,
    Image: lambda _: ([], IMAGE),
    File: lambda _: ([], FILE),
    Opaque: lambda part: _json(part.data),
}
"""Map of part type to what is counted; a `match` would take as long as all the rest."""
