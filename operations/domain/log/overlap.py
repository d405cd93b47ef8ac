"""No text is changed by two operations: spans that are not taken back may not overlap."""

from collections.abc import Iterable, Iterator

from contextstudio.accounts.domain.errors import Conflict
from operations.domain.tree.key import Key, entry_key
from operations.domain.tree.span import Span

from .edit import spans_of
from .log import Log


def overlapping(spans: Iterable[tuple[int, Span]]) -> Iterator[tuple[int, int]]:
    """Pairs of numbers whose spans overlap, of spans given with a number each."""
    ordered = sorted(
        ((span.key, span.part), span.start, span.end, number) for number, span in spans
    )
    last_end: tuple[tuple[Key, int], int, int] | None = None
    for place, start, end, number in ordered:
        if last_end and last_end[0] == place and start < last_end[1]:
            yield last_end[2], number
            if end <= last_end[1]:
                continue
        last_end = place, end, number


def refuse_overlap(before: Log, after: Log) -> None:
    """Raise Conflict where what is new or restored changes text that others change."""
    fresh = {
        number
        for number, recorded in after.edits.items()
        if not recorded.withdrawn and spans_of(recorded.edit)
        if number not in before.edits or before.edits[number].withdrawn
    }
    if not fresh:
        return
    standing = [
        (number, span)
        for number, recorded in after.edits.items()
        if not recorded.withdrawn
        for span in spans_of(recorded.edit)
    ]
    clashes = {
        number
        for pair in overlapping(standing)
        if not fresh.isdisjoint(pair)
        for number in pair
    }
    others = [entry_key(number) for number in sorted(clashes - fresh)]
    if clashes:
        raise Conflict(
            "Text that this changes is changed by others already, or twice by itself.",
            code="overlap",
            facts={"operations": others},
        )
