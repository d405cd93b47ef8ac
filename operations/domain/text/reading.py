"""Maps the text of a part as the thread shows it to where it was recorded.

Spans refer to the text as recorded, but people and agents read it as replaced and masked. A
reading holds the shown text and maps it back to the recorded text. A stretch that an operation
changed maps to no place, so that nothing else can be changed through it.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from operations.domain.log.log import Log
from operations.domain.log.operation import spans_of
from operations.domain.thread.node import FoldNode
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, entry_number, made_key
from operations.domain.tree.span import SpanChange
from threads.domain.part import Part
from threads.domain.text import PIECE_SEPARATOR, pieces_of, text_of


class HeldText(NamedTuple):
    """Recorded text that an operation holds, whether or not it currently changes it."""

    start: int
    end: int
    operation: int


class _Tile(NamedTuple):
    """A stretch of recorded text, and where it is shown; operation 0 means unchanged."""

    shown: int
    start: int
    operation: int


class PartReading:
    """What one part of a message reads; `text` is what is shown."""

    __slots__ = ("_held", "_tiles", "key", "part", "text")

    def __init__(
        self,
        key: Key,
        part: int,
        recorded: Part,
        changes: Iterable[SpanChange] = (),
        held: Iterable[HeldText] = (),
    ) -> None:
        """Part `part` of a message, with changes to it that don't overlap."""
        self.key = key
        self.part = part
        self._held = sorted(held)
        own = sorted([change for change in changes if change.part == part])
        if not own:  # the usual case
            self._tiles = [_Tile(0, 0, 0)]
            self.text = text_of(recorded)
            return
        tiles, texts, shown = [], [], 0
        for start, operation, text in _tiles(pieces_of(recorded), own):
            tiles.append(_Tile(shown, start, operation))
            texts.append(text)
            shown += len(text)
        self._tiles = tiles
        self.text = "".join(texts)

    def recorded(self, start: int, end: int) -> tuple[int, int] | None:
        """Where the text shown from `start` to `end` was recorded; None if any of it is changed."""
        first = self._tile_at(start)
        if any(tile.operation for tile in self._tiles_in(start, end)):
            return None
        origin = self._tiles[first].start + start - self._tiles[first].shown
        return origin, origin + end - start

    def shown(self, start: int, end: int) -> tuple[int, int] | None:
        """Where recorded text is shown; None if any of it is changed."""
        first = bisect_right(self._tiles, start, key=lambda tile: tile.start) - 1
        for tile in self._tiles[first:]:
            if tile.start >= end:
                break
            if tile.operation:
                return None
        place = self._tiles[first].shown + start - self._tiles[first].start
        return place, place + end - start

    def holders(self, start: int, end: int) -> tuple[int, ...]:
        """The operations that hold any of the text shown from `start` to `end`."""
        found = {
            tile.operation for tile in self._tiles_in(start, end) if tile.operation
        }
        place = self.recorded(start, end)
        if place is not None and self._held:
            low = bisect_left(self._held, (place[0],))
            for held in self._held[max(0, low - 1) :]:
                if held.start >= place[1]:
                    break
                if held.end > place[0]:
                    found.add(held.operation)
        return tuple(sorted(found))

    def _tile_at(self, place: int) -> int:
        return bisect_right(self._tiles, place, key=lambda tile: tile.shown) - 1

    def _tiles_in(self, start: int, end: int) -> Iterator[_Tile]:
        """The tiles of a stretch; a tile that shows nothing counts only strictly inside it."""
        for place in range(self._tile_at(start), len(self._tiles)):
            if self._tiles[place].shown >= end:
                return
            yield self._tiles[place]


def keys_to_read(thread: Thread, *, include_folded: bool = False) -> list[Key]:
    """The keys of the messages that the thread shows, in order; optionally also those in folds."""
    if not include_folded:
        return [shown.key for shown in thread.effective()]
    folds = frozenset(thread.folds)
    found: list[Key] = []
    waiting = thread.keys[::-1]
    while waiting:
        key = waiting.pop()
        if key not in folds:
            found.append(key)
            continue
        node = thread.node(key)
        messages = node.messages if isinstance(node, FoldNode) else ()
        number = entry_number(key) or 0
        found += [made_key(number, place) for place in range(len(messages))]
        waiting += thread.child_keys(key)[::-1]
    return found


def held_text(log: Log) -> dict[tuple[Key, int], list[HeldText]]:
    """The text held by replaces and redactions that are not withdrawn, by message and part."""
    held: dict[tuple[Key, int], list[HeldText]] = {}
    for number, recorded in log.edits.items():
        for span in () if recorded.is_withdrawn else spans_of(recorded.edit):
            place = HeldText(span.start, span.end, number)
            held.setdefault((span.key, span.part), []).append(place)
    return held


def _tiles(
    pieces: Sequence[str], changes: Sequence[SpanChange]
) -> Iterator[tuple[int, int, str]]:
    """Start, operation and shown text of consecutive stretches that cover a part.

    As in `apply_span_changes`, a change shows its text in the first piece that it touches, and the
    separators between pieces stay.
    """
    offset, nearest = 0, 0
    told = -1
    for number, piece in enumerate(pieces):
        if number:
            yield offset - 1, _over(changes, nearest, offset - 1), PIECE_SEPARATOR
        end = offset + len(piece)
        while nearest < len(changes) and changes[nearest].end <= offset:
            nearest += 1
        at, place = offset, nearest
        while place < len(changes) and changes[place].start < end:
            change = changes[place]
            if change.start > at:
                yield at, 0, piece[at - offset : change.start - offset]
            start = max(change.start, offset)
            yield start, change.operation, change.text if place != told else ""
            told, at = place, min(change.end, end)
            place += 1
        if at < end:
            yield at, 0, piece[at - offset :]
        offset = end + len(PIECE_SEPARATOR)


def _over(changes: Sequence[SpanChange], nearest: int, place: int) -> int:
    """The operation whose change covers a place; 0 if none does."""
    for change in changes[nearest:]:
        if change.start > place:
            break
        if change.end > place:
            return change.operation
    return 0
