"""What the passes of a compiler share while one draft is compiled."""

from operations.domain.providers.request import Draft
from operations.domain.providers.rules import Rules
from operations.domain.providers.turns import MADE, Piece

from .findings import Finding, Findings


class Work:
    """The draft, the provider's rules, what was found, and how far signatures hold."""

    def __init__(self, draft: Draft, rules: Rules) -> None:
        self.draft = draft
        self.rules = rules
        self.findings = Findings()
        self.watermark = draft.intact
        """The place from which on something is sent otherwise than it was recorded."""

    def found(self, finding: Finding, piece: Piece | None = None) -> None:
        """Report what was found, in the message of a piece or in none."""
        if piece is None:
            self.findings.add(finding)
        else:
            self.findings.add(finding, piece.place, piece.key)

    def repaired(self, finding: Finding, piece: Piece) -> None:
        """Report what was changed in a piece, and that signatures no longer hold from it on."""
        self.found(finding, piece)
        self.breaks(piece.place)

    def breaks(self, place: int) -> None:
        """From the message at this place on, signatures no longer hold."""
        if place != MADE:
            self.watermark = min(self.watermark, place)
