"""Finds the gaps between matched messages: originals left out, unknown messages, or both."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from operations.domain.log.entry import CLIENT, EditState, RecordedEdit
from operations.domain.log.log import Log
from operations.domain.log.operation import Fold, Revise, named_keys
from operations.domain.tree.key import original_index
from threads.domain.body import digest
from threads.domain.formats.requests import SYSTEM
from threads.domain.message import Role
from threads.domain.part import ToolResult

from .alignment import GivenMessages, HeldSession, Unit, is_known, recorded_unit


class RequestGap(NamedTuple):
    """Originals that are not sent, and messages in their place; either may be empty.

    An empty range begins where the gap is.
    """

    indexes: range
    places: range
    is_tail: bool = False
    is_prompt: bool = False


class RequestGaps:
    """Finds the gaps between the matched messages of a request."""

    def __init__(self, given: GivenMessages, roles: Sequence[str], log: Log) -> None:
        self._given, self._roles = given, roles
        self._shown = [*_shown(log)]

    def of(self, units: Sequence[Unit]) -> Iterator[RequestGap]:
        """The gaps in order. The tail comes last and may be empty."""
        index = place = 0
        for unit in units:
            gaps = self._split(range(index, unit.first), range(place, unit.start))
            yield from _joined(gap for gap in gaps if gap.indexes or gap.places)
            index, place = unit.last, unit.end
        indexes = range(index, len(self._roles))
        *others, tail = self._split(indexes, range(place, len(self._given.messages)))
        yield from _joined(others)
        yield tail._replace(is_tail=True)

    def _split(self, indexes: range, places: range) -> Iterator[RequestGap]:
        """Split off the system prompt at the top, and cut a gap at what edits showed before."""
        old = new = 0
        while indexes.start == 0 and old < len(indexes) and self._roles[old] in SYSTEM:
            old += 1
        while (
            places.start == 0
            and new < len(places)
            and self._given.messages[new].role in SYSTEM
        ):
            new += 1
        if old or new:
            yield RequestGap(indexes[:old], places[:new], is_prompt=True)
        indexes, places = indexes[old:], places[new:]
        for targets, shown in self._known(indexes, places):
            before = RequestGap(
                range(indexes.start, targets.start), range(places.start, shown.start)
            )
            if before.indexes or before.places:
                yield before
            yield RequestGap(targets, shown)
            indexes = range(targets.stop, indexes.stop)
            places = range(shown.stop, places.stop)
        yield RequestGap(indexes, places)

    def _known(self, indexes: range, places: range) -> list[tuple[range, range]]:
        """The originals and messages here that an earlier client edit paired, in order."""
        found: list[tuple[range, range]] = []
        if not indexes or not places:
            return found
        sent = [self._given.digest(place) for place in places]
        for targets, shown in self._shown:
            if targets.start < indexes.start or targets.stop > indexes.stop:
                continue
            for at in range(len(sent) - len(shown) + 1):
                stands = range(places[at], places[at] + len(shown))
                if sent[at : at + len(shown)] == shown and _fits(
                    targets, stands, found
                ):
                    found.append((targets, stands))
                    break
        return sorted(found, key=lambda one: one[0].start)


def with_questions_anew(
    units: Sequence[Unit], given: GivenMessages, held: HeldSession, log: Log
) -> list[Unit]:
    """The units, without questions that an operation folds with an answer in the gap behind them.

    Whoever starts a run again, or goes back to a question, asks it anew: in place of the question
    the model would read only what the fold tells of its answer. If it was asked anew before, that
    original is meant.
    """
    folds = cache(lambda: [*_folded(log)])
    kept, end = list[Unit](), len(held.digests)
    for unit in reversed(units):
        found, is_before_gap = unit, unit.last < end and _is_question(given, unit)
        if is_before_gap and _is_parted(unit.last - 1, end, folds()):
            same = [
                index
                for index in range(unit.last, end)
                if is_known(given.digest(unit.start), held.digests[index])
                and not _is_parted(index, end, folds())
            ]
            if same:
                found = recorded_unit(given, unit.start, same[-1])
            elif not kept:
                continue
        kept.append(found)
        end = found.first
    return kept[::-1]


def _folded(log: Log) -> Iterator[set[int]]:
    """The originals in each fold that is on, except for the client's own."""
    for one in log.edits.values():
        is_on = one.state is EditState.ON and one.entry.actor != CLIENT
        if is_on and isinstance(one.edit, Fold):
            indexes = map(original_index, one.edit.targets)
            yield {index for index in indexes if index is not None}


def _is_parted(index: int, end: int, folds: Iterable[set[int]]) -> bool:
    """Whether a fold holds this original and one behind it, before `end`."""
    behind = range(index + 1, end)
    return any(index in fold and not fold.isdisjoint(behind) for fold in folds)


def _is_question(given: GivenMessages, unit: Unit) -> bool:
    """Whether a unit is one message of a user, without results."""
    message = given.messages[unit.start]
    is_said = message.role is Role.USER and ToolResult not in map(type, message.parts)
    return is_said and unit.first < unit.last and unit.end == unit.start + 1


def _joined(gaps: Iterable[RequestGap]) -> list[RequestGap]:
    """Join neighbouring gaps that have no originals, so that one insert covers them.

    A prompt that a session never had is inserted together with what follows it.
    """
    found: list[RequestGap] = []
    for gap in gaps:
        if found and not found[-1].indexes and not gap.indexes:
            places = range(found.pop().places.start, gap.places.stop)
            gap = RequestGap(gap.indexes, places)
        found.append(gap)
    return found


def _shown(log: Log) -> Iterator[tuple[range, list[bytes]]]:
    """Runs of originals and what client edits show for them, edits in force and long ones first."""

    def rank(recorded: RecordedEdit) -> tuple[bool, int, int]:
        edit = recorded.edit
        return (
            recorded.state is not EditState.ON,
            -len(named_keys(edit)),
            -recorded.entry.number,
        )

    for recorded in sorted(log.client_edits, key=rank):
        edit = recorded.edit
        if isinstance(edit, Revise):
            indexes = [original_index(key) or 0 for key in edit.targets]
            shown = [digest(Role(new.role), new.parts) for new in edit.messages]
            yield range(indexes[0], indexes[-1] + 1), shown


def _fits(targets: range, places: range, others: Iterable[tuple[range, range]]) -> bool:
    """Whether a run is before or after each of the others, on both sides alike."""
    return all(
        (targets.stop <= one.start and places.stop <= other.start)
        or (one.stop <= targets.start and other.stop <= places.start)
        for one, other in others
    )
