"""What the passes of a compiler work on: turns, the same for every provider."""

from dataclasses import dataclass, field
from typing import NamedTuple

from operations.domain.providers.request import Draft
from operations.domain.providers.rules import Rules
from operations.domain.tree.key import Key
from threads.domain.message import Role
from threads.domain.part import Part

from .findings import Finding, Findings

MADE = -1
"""The place of what a compiler puts in: in no message of the draft."""


class Piece(NamedTuple):
    """A part, and the message it is of: its place among the draft's messages and its key."""

    part: Part
    place: int = MADE
    key: Key | None = None


@dataclass(slots=True)
class Turn:
    """What one speaks without a break.

    Of an assistant's alone come reasoning and calls; a turn of the role `tool` holds results
    and nothing else, and no other turn holds any.
    """

    role: Role
    pieces: list[Piece] = field(default_factory=list)
    name: str | None = None

    @property
    def parts(self) -> tuple[Part, ...]:
        """Its parts alone."""
        return tuple(piece.part for piece in self.pieces)

    @property
    def keys(self) -> tuple[Key, ...]:
        """The keys of the messages it is made of, each once."""
        return keys_of(self.pieces)


def keys_of(pieces: list[Piece]) -> tuple[Key, ...]:
    """The keys of the messages that pieces are of, each once."""
    if len(pieces) == 1:
        key = pieces[0].key
        return () if key is None else (key,)
    return tuple(dict.fromkeys(piece.key for piece in pieces if piece.key is not None))


class Work:
    """The draft, the provider's rules, what was found, and how far seals hold."""

    def __init__(self, draft: Draft, rules: Rules) -> None:
        self.draft = draft
        self.rules = rules
        self.findings = Findings()
        self.watermark = draft.sealed
        """The place from which on something is sent otherwise than it was recorded."""

    def found(self, finding: Finding, piece: Piece | None = None) -> None:
        """Report what was found, in the message of a piece or in none."""
        if piece is None:
            self.findings.add(finding)
        else:
            self.findings.add(finding, piece.place, piece.key)

    def repaired(self, finding: Finding, piece: Piece) -> None:
        """Report what was changed in a piece, and that seals no longer hold from it on."""
        self.found(finding, piece)
        self.breaks(piece.place)

    def breaks(self, place: int) -> None:
        """From the message at this place on, seals no longer hold."""
        if place != MADE:
            self.watermark = min(self.watermark, place)
