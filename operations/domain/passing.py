"""What is untouched of a compiled request goes out as its client gave it (DESIGN 4, Hook)."""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple

from .alignment import Unit
from .key import Key, original_index, original_key

Form = dict[str, Any]


class _Run(NamedTuple):
    """Compiled messages from one place to another, and the keys of what they are made of."""

    start: int
    end: int
    keys: frozenset[Key]


def pass_through(
    messages: Sequence[Form],
    origins: Sequence[Collection[Key]],
    units: Sequence[Unit],
    given: Sequence[Form | None],
    touched: Callable[[Key], bool],
) -> Iterator[Form]:
    """The compiled messages, with the client's own where nothing of them is touched.

    `origins` are those of the compiled messages, `units` lay the client's messages (`given`)
    along the originals.
    """
    unit_of = [unit for unit in units for _ in range(unit.first, unit.last)]

    def whole(keys: Collection[Key]) -> frozenset[Key]:
        """The keys of all units that these keys are of; none where they must be compiled."""
        found: set[Key] = set()
        for key in keys:
            index = original_index(key)
            if index is None or index >= len(unit_of) or touched(key):
                return frozenset()
            unit = unit_of[index]
            if not unit.as_given:
                return frozenset()
            found.update(map(original_key, range(unit.first, unit.last)))
        return frozenset() if any(map(touched, found)) else frozenset(found)

    place = 0
    while place < len(messages):
        run = _run(origins, place, whole)
        if run is None:
            yield messages[place]
            place += 1
            continue
        indexes = sorted(original_index(key) or 0 for key in run.keys)
        starts = dict.fromkeys(unit_of[index] for index in indexes)
        for unit in starts:
            for form in given[unit.start : unit.end]:
                if form is not None:
                    yield form
        place = run.end


def _run(
    origins: Sequence[Collection[Key]],
    start: int,
    whole: Callable[[Collection[Key]], frozenset[Key]],
) -> _Run | None:
    """The shortest run from a place on that holds whole units only; None where none does."""
    wanted: frozenset[Key] = frozenset()
    seen: set[Key] = set()
    for place in range(start, len(origins)):
        keys = origins[place]
        if seen and seen == wanted and wanted.isdisjoint(keys):
            return _Run(start, place, wanted)
        more = whole(keys)
        if not more:
            return None
        wanted |= more
        seen.update(keys)
    return _Run(start, len(origins), wanted) if seen and seen == wanted else None
