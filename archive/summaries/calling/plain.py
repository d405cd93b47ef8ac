"""Reads an answer that came whole although a stream was requested; some servers can't stream."""

import json
from typing import Any, NamedTuple

MAX_BYTES = 4 << 20


class PlainAnswer(NamedTuple):
    """The text of such an answer, and the tokens it used, as far as it reports them."""

    text: str
    used: dict[str, int | None]
    ended: str
    """Its `finish_reason`."""


def read(body: bytes) -> PlainAnswer | None:
    """Parse a complete chat completion in OpenAI's format; None for anything else."""
    try:
        whole = json.loads(body)
        choice = whole["choices"][0]
        text, ended = _words(choice["message"]["content"]), choice.get("finish_reason")
        usage = whole.get("usage")
    except (ValueError, LookupError, TypeError, AttributeError):
        return None
    counted = usage if isinstance(usage, dict) else {}
    names = {"input": "prompt_tokens", "output": "completion_tokens"}
    used = {one: _count(counted.get(name)) for one, name in names.items()}
    return PlainAnswer(text, used, str(ended))


def _words(content: Any) -> str:
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    blocks = (block for block in content if isinstance(block, dict))
    return "".join(text for b in blocks if isinstance(text := b.get("text"), str))


def _count(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None
