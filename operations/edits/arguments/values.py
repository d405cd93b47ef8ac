"""What arguments are made of: keys, indexes, tags, words, messages."""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from operations.domain.log import operation as edits
from threads.domain.formats.openai.messages import read_messages


def said(words: str) -> str:
    """Words that say something; of any kind, for a pattern would refuse lone surrogates."""
    if not words.strip():
        raise ValueError("it must not be empty")
    return words


def printable(tag: str) -> str:
    """A tag that can be shown; what can't is refused in words, with the code of a pattern."""
    if any(character < " " for character in tag):
        raise PydanticCustomError(
            "string_pattern_mismatch",
            "A tag is one line of text, without control characters",
        )
    return tag


Key = Annotated[str, Field(max_length=40, description="`m12`, `o7` or `o7.0`.")]
Index = Annotated[int, Field(ge=0, description="0-based index over the originals.")]
Tag = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100,
        json_schema_extra={"pattern": r"^[^\x00-\x1f]+$"},
    ),
    AfterValidator(printable),
]
Words = Annotated[str, AfterValidator(said), Field(description="Not empty.")]
MessageData = Annotated[
    dict[str, Any], Field(description="A message as OpenAI chat or Anthropic sends it.")
]


def made_messages(
    messages: Sequence[dict[str, Any]], field: str
) -> tuple[edits.New, ...]:
    """Messages that an operation makes, from what a client sent. Raises Invalid with the place."""
    given = read_messages(messages, at=(field,))
    return tuple(edits.New(message.role, message.parts) for message in given)
