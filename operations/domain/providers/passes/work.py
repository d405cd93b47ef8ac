"""The state that a compiler's passes share while one draft is compiled."""

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

from operations.domain.providers.request import Draft, Issue
from operations.domain.providers.rules import Rules
from operations.domain.providers.signed_places import Break
from operations.domain.providers.turns import MADE, TurnPart
from operations.domain.tree.key import Key

from .findings import Finding

Findings = Mapping[Finding, Mapping[int, Key]]


class Work:
    """The draft, the provider's rules, the findings, and how far signatures hold.

    A finding is reported once per request, with the keys of all messages in which it was found,
    so that a long thread gives a short list.
    """

    def __init__(self, draft: Draft, rules: Rules) -> None:
        self.draft = draft
        self.rules = rules
        self._found: dict[Finding, dict[int, Key]] = {}
        self.signed = draft.signed
        """The places at which signatures hold."""
        self.breaks: set[Break] = set()
        """The changes that the provider's rules themselves make to what signatures cover."""

    def report(self, finding: Finding, piece: TurnPart | None = None) -> None:
        """Report a finding, in the message of a piece if one is given; repeats count once."""
        keys = self._found.setdefault(finding, {})
        if piece is not None and piece.key is not None:
            keys[piece.place] = piece.key

    def report_repair(self, finding: Finding, piece: TurnPart) -> None:
        """Report a change to a piece; from it on, signatures no longer hold."""
        self.report(finding, piece)
        self.break_from(piece.place)

    def break_from(self, place: int) -> None:
        """From the message at this place on, signatures no longer hold."""
        self._break(Break(place, place))

    def break_after(self, place: int) -> None:
        """After the message at this place, signatures no longer hold."""
        self._break(Break(place, place + 1))

    def _break(self, change: Break) -> None:
        if change.place != MADE:
            self.breaks.add(change)
            self.signed = self.signed.broken_by([change])

    def is_next(self, before: TurnPart, piece: TurnPart) -> bool:
        """Whether a message was said directly after another, and so sent like this before."""
        messages = self.draft.messages
        last, first = messages[before.place].index, messages[piece.place].index
        return last is not None and first == last + 1

    def places(self, finding: Finding) -> Collection[int]:
        """The places of the messages that a finding was reported for."""
        return self._found.get(finding, {}).keys()

    @property
    def findings(self) -> Findings:
        """The findings, each with the places and keys of its messages."""
        return self._found


def findings_to_issues(found: Findings) -> tuple[Issue, ...]:
    """All findings as issues, ordered by the first message of each."""

    def rank(finding: Finding) -> tuple[int, str, str]:
        return min(found[finding], default=MADE), finding.rule, finding.detail

    ordered = sorted(found, key=rank)
    return tuple(_issue(finding, found[finding]) for finding in ordered)


def combine_findings(
    portions: Iterable[tuple[int, Findings]], before: Findings = MappingProxyType({})
) -> Findings:
    """Combine the findings of portions of a request, each given with the place where it begins.

    `before` holds the findings of earlier portions, by places in the request.
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
