"""What of a part is counted as tokens, and what is estimated.

A message's count is the sum of its parts' counts. The framing that a provider adds for each
message is no part of it: it belongs to the request.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any

from .part import JSON, File, Image, Opaque, Part, Text, Thinking, ToolCall, ToolResult

IMAGE = 765
"""Tokens of an image: what OpenAI charges for 1024 by 1024 pixels at high detail (85 + 4 x 170).

The true price depends on the size and on the provider (Anthropic: width x height / 750).
"""
FILE = 1_500
"""Tokens of a file: the lower of the 1,500 to 3,000 that Anthropic gives for a PDF's page."""

_json: Callable[[JSON], str] = json.JSONEncoder(ensure_ascii=False).encode

Counted = str | tuple[list[JSON], int]
"""What of a part is counted: its text; or its values, and what is estimated.

A value that is no text is counted as its JSON, which is written when it is counted: of most
messages that come again it never is.
"""
Words = list[Counted]
"""What of a message is counted, part by part."""


def words(parts: Iterable[Part]) -> Words:
    """What is counted of a message's parts.

    Of a call its name and its arguments, as the text in which they are sent; of a result the
    texts it holds. Reasoning that only its provider can read counts nothing: its length says
    nothing of its tokens.
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
"""What is counted of each kind of part; a look-up, for a `match` takes as long as the rest."""
