"""The messages of a request as a page lists them: all of them, or where two requests differ.

See `templates/operations/context/sent_messages.html`.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

from operations.domain.ledger.ledger import Side, runs
from operations.messages.names import Named

from .request_page import PagePiece

AT_ONCE = 100
"""Messages on one page."""


@dataclass(frozen=True, slots=True)
class ComparedMessage:
    """One message of the request, or a run of them that both requests have."""

    place: int
    role: str = ""
    pieces: Sequence[PagePiece] = ()
    origins: Sequence[Named] = ()
    side: Side = Side.BOTH
    alike: int = 0
    """How many messages this stands for that both have; 0: it is one message, shown."""


Show = Callable[[Side, range], Iterable[ComparedMessage]]
"""The messages at these places: of the request before for `Side.BEFORE`, else of the one after."""


def listed(count: int, start: int, show: Show) -> list[ComparedMessage]:
    """The messages of one request from a place on."""
    return [*show(Side.BOTH, range(start, min(start + AT_ONCE, count)))]


def differing(
    before: Sequence[Hashable], after: Sequence[Hashable], start: int, show: Show
) -> tuple[int, list[ComparedMessage]]:
    """How many lines two requests make, and those from one on: what both have is folded."""
    total, shown = 0, list[ComparedMessage]()
    for run in runs(before, after):
        size = 1 if run.side is Side.BOTH else run.end - run.start
        first, last = max(start - total, 0), min(start + AT_ONCE - total, size)
        if first < last and run.side is Side.BOTH:
            shown.append(ComparedMessage(run.start, alike=run.end - run.start))
        elif first < last:
            shown += show(run.side, range(run.start + first, run.start + last))
        total += size
    return total, shown
