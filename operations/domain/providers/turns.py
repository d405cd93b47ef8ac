"""The turns that compilers write, the same for every provider."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from operations.domain.tree.key import Key
from threads.domain.message import Role
from threads.domain.part import Part, Text, Thinking, ToolResult

MADE = -1
"""The place of parts that a compiler adds, which are in no message of the draft."""
GAP = "\n\n"
"""Separates texts that are written as one."""


class TurnPart(NamedTuple):
    """A part with the place of its message among the draft's messages, and the message's key."""

    part: Part
    place: int = MADE
    key: Key | None = None


@dataclass(slots=True)
class Turn:
    """What one speaker says without interruption.

    Reasoning and calls are only in assistant turns. A turn with the role `tool` holds only
    results, and no other turn holds any.
    """

    role: Role
    pieces: list[TurnPart] = field(default_factory=list)
    name: str | None = None
    joined: tuple[type[Text | Thinking], ...] = ()
    """The kinds of parts that are written as one, with a blank line between them."""

    @property
    def parts(self) -> tuple[Part, ...]:
        """Its parts alone."""
        return tuple([piece.part for piece in self.pieces])

    @property
    def written(self) -> tuple[Part, ...]:
        """Its parts as written: joined parts take the place of the first of them."""
        found = self.parts
        for kind in self.joined:
            texts = self.texts(kind)
            if len(texts) > 1:
                first = next(place for place, p in enumerate(found) if type(p) is kind)
                rest = [p for p in found[first:] if type(p) is not kind]
                found = (*found[:first], kind(GAP.join(texts)), *rest)
        return found

    def texts(self, kind: type[Text | Thinking] = Text) -> list[str]:
        """The texts of its parts of one kind."""
        parts = [piece.part for piece in self.pieces]
        return [part.text for part in parts if isinstance(part, kind)]

    @property
    def keys(self) -> tuple[Key, ...]:
        """The keys of the messages it is made of, each once."""
        return keys_of(self.pieces)


def keys_of(pieces: Sequence[TurnPart]) -> tuple[Key, ...]:
    """The keys of the messages that the pieces come from, each once."""
    if len(pieces) == 1:
        key = pieces[0].key
        return () if key is None else (key,)
    keys = dict.fromkeys([piece.key for piece in pieces])
    return tuple([key for key in keys if key is not None])


def with_one_text(piece: TurnPart) -> TurnPart:
    """Join the texts of a result into one, because some providers accept only a string."""
    part = piece.part
    if not isinstance(part, ToolResult) or len(part.content) < 2:
        return piece
    texts = [item.text for item in part.content if isinstance(item, Text)]
    others = [item for item in part.content if not isinstance(item, Text)]
    content = (Text(GAP.join(texts)), *others)
    return piece._replace(part=replace(part, content=content))


def without_blank_texts(piece: TurnPart) -> TurnPart:
    """Remove blank texts from a result, because some providers refuse them."""
    part = piece.part
    if not isinstance(part, ToolResult):
        return piece
    content = tuple(
        item for item in part.content if not isinstance(item, Text) or item.text.strip()
    )
    if len(content) == len(part.content):
        return piece
    return piece._replace(part=replace(part, content=content))
