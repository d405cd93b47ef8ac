"""Checks that compiled requests are accepted, by validators and by reasoning signatures."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from operations.domain.providers import PROVIDERS, compile_request
from operations.domain.providers.request import Compiled, Severity
from operations.domain.tree.key import original_key
from tests.validators import VALIDATORS
from threads.domain.part import Text, Thinking

from .prepared import MODELS, Context

ROOT = Path(__file__).resolve().parents[3]
LONE = re.compile("[\ud800-\udfff]")
MAX_REFUSED = 0.01
PAGE = (ROOT / "docs" / "providers.md").read_text("utf-8")
REFUSABLE = frozenset(
    re.findall(r"\bR\d+\b", PAGE.partition("## Refusals")[2].partition("\n## ")[0])
)
"""The rules in the list of refusals on the providers page."""


@dataclass(slots=True)
class Tally:
    """How many contexts were compiled, and how many were refused by which provider."""

    examples: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    """By provider."""

    @property
    def rate(self) -> float:
        """The share of refusals for the provider that refused most."""
        return max(self.refused.values(), default=0) / max(1, self.examples)

    @property
    def sentence(self) -> str:
        """The result in one line."""
        each = ", ".join(f"{name} {count}" for name, count in self.refused.items())
        return (
            f"compiled {self.examples:,} contexts for each of {len(PROVIDERS)} providers,"
            f" refused: {each or 'none'} ({self.rate:.2%}, at most {MAX_REFUSED:.0%})"
        )

    def add(self, context: Context) -> None:
        """Compile a context for every provider; fails if one wouldn't accept the request."""
        self.examples += 1
        for provider in PROVIDERS:
            models = MODELS[provider]
            draft = context.for_model(models[self.examples % len(models)])
            compiled = compile_request(provider, draft)
            refused = {
                i.rule for i in compiled.issues if i.severity is Severity.REFUSED
            }
            assert refused <= REFUSABLE, f"{provider} refuses for {refused}"
            self.refused[provider] += bool(refused)
            if not refused:
                problems = [*problems_of(provider, compiled, context)]
                assert not problems, f"{provider} would refuse: {problems}"
        self.refused += Counter()


def problems_of(provider: str, compiled: Compiled, context: Context) -> Iterator[str]:
    """What a provider would refuse in a request, and which messages aren't fully in it."""
    yield from VALIDATORS[provider](compiled.request)
    yield from _broken_signatures(compiled.request, context)
    yield from _lost(compiled.request, context)
    if len(compiled.origins) != len(compiled.messages):
        yield "Not every message says what it is made of."
    known = {message.key for message in context.draft.messages}
    known |= {key for layer in context.draft.layers for key in layer.keys}
    for keys in (*compiled.origins, *(issue.keys for issue in compiled.issues)):
        if not known.issuperset(keys):
            yield f"There are no messages {set(keys) - known}."


def _lost(request: Any, context: Context) -> Iterator[str]:
    """Text that the model sees in a thread but that is missing in the request."""
    said = "\0\0".join(_strings(request))
    for message in context.draft.messages:
        for part in message.parts:
            words = part.text.strip() if isinstance(part, Text) else ""
            if LONE.sub("\ufffd", words) not in said:
                yield f"The words {words!r} of {message.key} are lost."


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, Sequence) and not isinstance(value, bytes):
        for inner in value:
            yield from _strings(inner)


def _broken_signatures(request: Any, context: Context) -> Iterator[str]:
    """Signatures that aren't with their text, or that follow a message that was changed.

    Signatures in Gemini's form are bound only to their part.
    """
    recorded = _recorded(context)
    intact = _intact(context)
    for words, signature in _signed(request):
        places = [place for place, part in recorded if _is(part, words, signature)]
        if not places:
            yield f"The signature {signature!r} is not the one of {words!r}."
        elif min(places) >= intact:
            yield f"The signature {signature!r} stands behind what was changed."


def _recorded(context: Context) -> list[tuple[int, Thinking]]:
    messages = context.conversation.messages
    return [
        (place, part)
        for place, message in enumerate(messages)
        for part in message.parts
        if isinstance(part, Thinking)
    ]


def _intact(context: Context) -> int:
    """How many originals, from the first, are sent as recorded and without anything between them.

    A step may leave out what an operation moved, so that doesn't affect signatures.
    """
    layers, messages = context.draft.layers, context.draft.messages
    if any(not layer.keys for layer in layers):
        return 0
    parts = {message.key: message.parts for message in messages}
    sent = [*(key for layer in layers for key in layer.keys), *parts]
    for place, key in enumerate(sent):
        if key != original_key(place) or context.thread.spans(key):
            return place
        recorded = context.conversation.messages[place].parts
        if parts.get(key, recorded) != recorded:
            return place
    return len(sent)


def _is(part: Thinking, words: str | None, signature: str) -> bool:
    if words is None:
        return part.data == signature
    return part.text == words and part.signature == signature


def _signed(value: Any) -> Iterator[tuple[str | None, str]]:
    """The text and signature of each signed reasoning block; None for one without text."""
    if isinstance(value, Mapping):
        if value.get("type") == "thinking" and "signature" in value:
            yield value["thinking"], value["signature"]
        elif "reasoningText" in value:
            yield value["reasoningText"]["text"], value["reasoningText"]["signature"]
        elif value.get("type") == "redacted_thinking":
            yield None, value["data"]
        elif "redactedContent" in value:
            yield None, value["redactedContent"]
        elif value.get("type") == "reasoning" and "encrypted_content" in value:
            yield None, value["encrypted_content"]
        else:
            for inner in value.values():
                yield from _signed(inner)
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        for inner in value:
            yield from _signed(inner)
