"""The messages of two requests side by side, as a page shows them.

See `templates/operations/context/compared_messages.html`.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from operations.domain.ledger.ledger import DiffSide
from operations.domain.ledger.pairing import Leaves, PairedRuns, pair_up
from threads.rendering import render_sides

from .sent_messages import AT_ONCE, Address, RequestMessage, Show

OPEN = 2
"""Up to this many messages on one side of a row are shown open; of more, each is a line that
opens."""
LINES = 5
"""How many lines of one side are visible at first."""
MARKED = 200_000
"""The most characters of one page whose words are compared, which is the most expensive step."""


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """The messages of one request in a row, as far as they are on this page."""

    messages: Sequence[RequestMessage] = ()
    count: int = 0
    """How many messages it has in this row, on all pages together."""
    is_elsewhere: bool = False
    """Whether it has elsewhere everything that the other side has here."""

    @property
    def are_lines(self) -> bool:
        """Whether each message is a line that opens, because there are too many to show."""
        return self.count > OPEN

    @property
    def first(self) -> Sequence[RequestMessage]:
        """The visible messages; of many lines only the first, unless few would be left."""
        count = len(self.messages)
        return self.messages[: LINES if count > LINES + OPEN else count]

    @property
    def more(self) -> Sequence[RequestMessage]:
        """The messages that are not visible at first."""
        return self.messages[len(self.first) :]


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """A row of messages side by side, or a run of messages that both requests have."""

    before: ComparedSide = ComparedSide()
    after: ComparedSide = ComparedSide()
    alike: range = range(0)
    """The places of a common run in the request after."""
    number: int = 0
    """The number of the change, from 1; 0 if the row is none."""


@dataclass(frozen=True, slots=True)
class ComparedPage:
    """One page of the lines of two requests side by side."""

    rows: Sequence[ComparedRow] = ()
    total: int = 0
    """How many lines there are on all pages together."""
    begin: Sequence[int] = ()
    """The lines on which changes begin, over all pages."""

    def links(self, address: Address) -> dict[str, str]:
        """The addresses of the changes before and after those on this page."""
        shown = [row.number for row in self.rows if row.number]
        first, last = (shown[0], shown[-1]) if shown else (1, 0)

        def link(number: int) -> str:
            line = self.begin[number - 1]
            return f"{address(line - line % AT_ONCE)}#change-{number}"

        return {
            "previous_href": link(first - 1) if first > 1 else "",
            "next_href": link(last + 1) if last < len(self.begin) else "",
        }


def compare_messages(
    before: Sequence[Hashable],
    after: Sequence[Hashable],
    start: int,
    leaves: Leaves,
    show: Show,
) -> ComparedPage:
    """Two requests side by side, from a line on."""
    total, begin, cut = 0, list[int](), list[tuple[PairedRuns, range, range, int]]()
    for pair in pair_up(before, after, leaves):
        if not pair.is_identical:
            begin.append(total)
        size = 1 if pair.is_identical else max(len(pair.before), len(pair.after))
        first, last = max(start - total, 0), min(start + AT_ONCE - total, size)
        if first < last:
            old, new = pair.before[first:last], pair.after[first:last]
            cut.append((pair, old, new, len(begin)))
        total += size
    changed = [one for one in cut if not one[0].is_identical]
    moved = _moved(before, after)
    shown = {}
    for side, known in ((DiffSide.BEFORE, before), (DiffSide.AFTER, after)):
        spans = (
            old if side is DiffSide.BEFORE else new
            for _pair, old, new, _number in changed
        )
        places = [place for span in spans for place in span]
        shown[side] = {
            one.place: replace(one, is_moved=known[one.place] in moved)
            for one in show(side, places)
        }
    rows = [
        ComparedRow(alike=pair.after)
        if pair.is_identical
        else _row(
            pair,
            [shown[DiffSide.BEFORE][place] for place in old],
            [shown[DiffSide.AFTER][place] for place in new],
            number,
        )
        for pair, old, new, number in cut
    ]
    return ComparedPage(_with_words(rows), total, begin)


def _row(
    pair: PairedRuns,
    before: Sequence[RequestMessage],
    after: Sequence[RequestMessage],
    number: int,
) -> ComparedRow:
    moved = all(one.is_moved for one in (*before, *after))
    return ComparedRow(
        ComparedSide(before, len(pair.before), is_elsewhere=moved and not pair.before),
        ComparedSide(after, len(pair.after), is_elsewhere=moved and not pair.after),
        number=number,
    )


def _moved(before: Sequence[Hashable], after: Sequence[Hashable]) -> set[Hashable]:
    """Messages that both requests have equally often: inside a change, these were moved."""
    old, new = Counter(before), Counter(after)
    return {message for message, times in old.items() if new.get(message) == times}


def _with_words(rows: Sequence[ComparedRow]) -> list[ComparedRow]:
    """Mark the changed words in rows with exactly one message on each side."""
    left, marked = MARKED, list[ComparedRow]()
    for row in rows:
        both = [*row.before.messages, *row.after.messages]
        if row.before.count == row.after.count == 1:
            left -= sum(len(piece.text) for one in both for piece in one.pieces)
            if left >= 0:
                old, new = _marked(*both)
                sides = ComparedSide([old], 1), ComparedSide([new], 1)
                row = ComparedRow(*sides, number=row.number)
        marked.append(row)
    return marked


def _marked(
    old: RequestMessage, new: RequestMessage
) -> tuple[RequestMessage, RequestMessage]:
    """Both messages, with changed words marked in pieces of the same kind at the same place."""
    then, now = [*old.pieces], [*new.pieces]
    for place, (one, other) in enumerate(zip(then, now, strict=False)):
        if one.label != other.label or one.text == other.text:
            continue
        if pair := render_sides(one.text, other.text):
            then[place] = replace(one, marked=pair[0])
            now[place] = replace(other, marked=pair[1])
    return replace(old, pieces=then), replace(new, pieces=now)
