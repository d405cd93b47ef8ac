"""What the passes of a compiler share while one draft is compiled."""

from collections.abc import Collection

from operations.domain.providers.request import Draft, Issue
from operations.domain.providers.rules import Rules
from operations.domain.providers.turns import MADE, Piece
from operations.domain.tree.key import Key

from .findings import Finding


class Work:
    """The draft, the provider's rules, what was found, and how far signatures hold.

    A finding is reported once for a request, with the keys of all messages in which it was
    found, so that a long thread gives a short list.
    """

    def __init__(self, draft: Draft, rules: Rules) -> None:
        self.draft = draft
        self.rules = rules
        self._found: dict[Finding, dict[int, Key]] = {}
        self.watermark = draft.intact
        """The place from which on something is sent otherwise than it was recorded."""

    def found(self, finding: Finding, piece: Piece | None = None) -> None:
        """Report what was found, in the message of a piece or in none; a repeat counts once."""
        keys = self._found.setdefault(finding, {})
        if piece is not None and piece.key is not None:
            keys[piece.place] = piece.key

    def repaired(self, finding: Finding, piece: Piece) -> None:
        """Report what was changed in a piece, and that signatures no longer hold from it on."""
        self.found(finding, piece)
        self.breaks(piece.place)

    def breaks(self, place: int) -> None:
        """From the message at this place on, signatures no longer hold."""
        if place != MADE:
            self.watermark = min(self.watermark, place)

    def places(self, finding: Finding) -> Collection[int]:
        """The places of the messages in which something was found."""
        return self._found.get(finding, {}).keys()

    def issues(self) -> tuple[Issue, ...]:
        """All findings, by the first message in which each was found."""
        by_first = sorted(
            self._found.items(), key=lambda found: min(found[1], default=MADE)
        )
        return tuple(_issue(finding, keys) for finding, keys in by_first)


def _issue(finding: Finding, keys: dict[int, Key]) -> Issue:
    named = tuple(dict.fromkeys(keys[place] for place in sorted(keys)))
    detail = finding.detail.format(count=f"{len(named):,}")
    if len(named) == 1:
        detail = detail.replace("1 messages", "1 message").replace("1 pairs", "1 pair")
    return Issue(
        finding.rule, finding.severity, named, detail, finding.repair, finding.is_own
    )
