"""What is untouched of a compiled request goes out as its client gave it (DESIGN 4, Hook)."""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple

from operations.domain.tree.key import Key, original_index, original_key

from .alignment import Unit

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
    laid, place = _Laid(units, touched), 0
    while place < len(messages):
        if (unit := laid.alone(origins, place)) is not None:
            starts, end = [unit], place + 1
        elif (run := _run(origins, place, laid.whole)) is not None:
            starts, end = laid.of(run.keys), run.end
        else:
            yield messages[place]
            place += 1
            continue
        for unit in starts:
            for form in given[unit.start : unit.end]:
                if form is not None:
                    yield form
        place = end


class _Laid:
    """The units of the originals, and which of these must be compiled."""

    def __init__(self, units: Sequence[Unit], touched: Callable[[Key], bool]) -> None:
        self._units = [unit for unit in units for _ in range(unit.first, unit.last)]
        self._touched = touched

    def alone(self, origins: Sequence[Collection[Key]], place: int) -> Unit | None:
        """The unit of an original that is one compiled message, as most are; else None."""
        if len(origins[place]) != 1:
            return None
        (key,) = origins[place]
        unit = self._unit(key)
        if unit is None or unit.last - unit.first != 1:
            return None
        behind = origins[place + 1] if place + 1 < len(origins) else ()
        return None if key in behind else unit

    def whole(self, keys: Collection[Key]) -> frozenset[Key]:
        """The keys of all units that these keys are of; none where they must be compiled."""
        found: set[Key] = set()
        for key in keys:
            unit = self._unit(key)
            if unit is None:
                return frozenset()
            found.update(map(original_key, range(unit.first, unit.last)))
        return frozenset() if any(map(self._touched, found)) else frozenset(found)

    def of(self, keys: Collection[Key]) -> list[Unit]:
        """The units of originals that may all go out as given, in their order."""
        indexes = sorted(original_index(key) or 0 for key in keys)
        return list(dict.fromkeys(self._units[index] for index in indexes))

    def _unit(self, key: Key) -> Unit | None:
        """The unit of an original that may go out as it was given; None for all others."""
        index = original_index(key)
        if index is None or index >= len(self._units) or self._touched(key):
            return None
        unit = self._units[index]
        return unit if unit.as_given else None


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
