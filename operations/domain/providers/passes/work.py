"""What the passes of a compiler share while one draft is compiled."""

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

from operations.domain.providers.request import Draft, Issue
from operations.domain.providers.rules import Rules
from operations.domain.providers.turns import MADE, TurnPart
from operations.domain.tree.key import Key

from .findings import Finding

Findings = Mapping[Finding, Mapping[int, Key]]


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

    def found(self, finding: Finding, piece: TurnPart | None = None) -> None:
        """Report what was found, in the message of a piece or in none; a repeat counts once."""
        keys = self._found.setdefault(finding, {})
        if piece is not None and piece.key is not None:
            keys[piece.place] = piece.key

    def repaired(self, finding: Finding, piece: TurnPart) -> None:
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

    @property
    def findings(self) -> Findings:
        """What was found, by the places and keys of the messages in which it was."""
        return self._found


def issues_of(found: Findings) -> tuple[Issue, ...]:
    """All findings, by the first message in which each was found."""

    def rank(finding: Finding) -> tuple[int, str, str]:
        return min(found[finding], default=MADE), finding.rule, finding.detail

    ordered = sorted(found, key=rank)
    return tuple(_issue(finding, found[finding]) for finding in ordered)


def together(
    portions: Iterable[tuple[int, Findings]], before: Findings = MappingProxyType({})
) -> Findings:
    """What was found in portions of one request, each with the place at which it begins.

    `before` is what was found in those before them, by the places in the request.
    """
    found = {finding: dict(keys) for finding, keys in before.items()}
    for start, findings in portions:
        for finding, keys in findings.items():
            moved = found.setdefault(finding, {})
            moved.update((start + place, key) for place, key in keys.items())
    return found


def _issue(finding: Finding, keys: Mapping[int, Key]) -> Issue:
    named = tuple(dict.fromkeys(keys[place] for place in sorted(keys)))
    detail = finding.detail.format(count=f"{len(named):,}")
    if len(named) == 1:
        detail = detail.replace("1 messages", "1 message").replace("1 pairs", "1 pair")
    return Issue(
        finding.rule, finding.severity, named, detail, finding.repair, finding.is_own
    )
