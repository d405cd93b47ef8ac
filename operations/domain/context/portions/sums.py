"""Totals over portions, so that those of the last request needn't be added up again."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, takewhile
from operator import is_
from types import MappingProxyType

from operations.domain.forwarding.sent import KeptBlocks
from operations.domain.providers.passes.work import Findings, combine_findings
from operations.domain.tree.key import Key

from .portion import Portion


@dataclass(frozen=True, slots=True, kw_only=True)
class PortionTotals:
    """The totals of the first portions of a request."""

    portions: Sequence[Portion] = ()
    length: int = 0
    """The number of messages in these portions."""
    findings: Findings = field(default_factory=lambda: MappingProxyType({}))
    lost: Sequence[tuple[Key, int]] = ()
    """As `TokenComparison.lost`, without messages that go out as the client sent them."""

    def is_prefix_of(self, portions: Sequence[Portion]) -> bool:
        """Whether a request begins with these very portions (the same objects)."""
        return len(self.portions) <= len(portions) and all(
            map(is_, self.portions, portions)
        )

    def extended(self, portions: Sequence[Portion]) -> "PortionTotals":
        """The totals after these portions are appended."""
        if not portions:
            return self
        lengths = (portion.length for portion in portions)
        *starts, length = accumulate(lengths, initial=self.length)
        found = (portion.findings for portion in portions)
        lost = [(portion, *one) for portion in portions for one in portion.lost]
        return PortionTotals(
            portions=(*self.portions, *portions),
            length=length,
            findings=combine_findings(zip(starts, found, strict=True), self.findings),
            lost=(
                *self.lost,
                *((key, less) for one, key, less in lost if key not in one.given),
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptPortions:
    """The first portions of a request, up to the first one whose pieces aren't all stored."""

    sums: PortionTotals = field(default_factory=PortionTotals)
    blocks: KeptBlocks = field(default_factory=KeptBlocks)

    def of(self, portions: Sequence[Portion]) -> "KeptPortions":
        """The stored first portions of another request, which may begin with these."""
        known = self if self.sums.is_prefix_of(portions) else KeptPortions()
        behind = portions[len(known.sums.portions) :]
        more = [*takewhile(_is_kept, behind)]
        return KeptPortions(
            sums=known.sums.extended(more),
            blocks=known.blocks.extended([portion.block for portion in more]),
        )


def _is_kept(portion: Portion) -> bool:
    return portion.block.runs is not None
