"""A request as it was sent, as numbers of pieces that the session stores once each.

A piece is the list of tools, the system prompt or a message, with its bytes and the keys of its
sources. A session numbers its pieces from 0 in the order in which they are first sent. A request
in a loop is the previous one plus what is new, so most of it is one run of numbers.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from operations.domain.tree.key import Key

from .splice import GivenRun, joined


class PieceRun(NamedTuple):
    """A half-open range of pieces that were sent in a row, in the order of their numbers."""

    start: int
    end: int


def joined_runs(runs: Iterable[PieceRun]) -> list[PieceRun]:
    """Join adjacent runs."""
    found: list[PieceRun] = []
    for run in runs:
        if found and found[-1].end == run.start:
            found[-1] = PieceRun(found[-1].start, run.end)
        else:
            found.append(run)
    return found


def runs_of(numbers: Iterable[int]) -> list[PieceRun]:
    """The numbers of pieces as the fewest runs."""
    found: list[PieceRun] = []
    start = end = -1
    for number in numbers:
        if number != end:
            if end > start:
                found.append(PieceRun(start, end))
            start = number
        end = number + 1
    return [*found, PieceRun(start, end)] if end > start else found


def numbers_of(runs: Iterable[Sequence[int]]) -> list[int]:
    """The numbers of the pieces in these runs."""
    return [number for start, end in runs for number in range(start, end)]


class SentMessage(NamedTuple):
    """A message that goes out, and the keys of its sources."""

    piece: GivenRun | bytes
    keys: Sequence[Key]
    tokens: int


class SentBlock:
    """Consecutive messages that go out, and the numbers that they are stored under."""

    def __init__(
        self,
        messages: tuple[SentMessage, ...],
        pieces: tuple[GivenRun | bytes, ...] = (),
    ) -> None:
        self.messages = messages
        self.pieces = pieces or joined(message.piece for message in messages)
        """The runs and bytes that the messages are assembled from."""
        self.tokens = sum(message.tokens for message in messages)
        self.runs: list[PieceRun] | None = None
        """The numbers under which they are stored; None until they are stored."""
        self.known: Sequence[int] = ()
        """Before that, the numbers of the first messages that are already stored."""

    def extended(self, messages: Sequence[SentMessage]) -> "SentBlock":
        """This block, which is stored, with further messages appended."""
        pieces = joined((message.piece for message in messages), self.pieces)
        block = SentBlock((*self.messages, *messages), pieces)
        block.known = numbers_of(self.runs or ())
        return block

    def number(self, find: Callable[[SentMessage], int]) -> None:
        """Number the messages; `find` returns the number of one that has none yet."""
        rest = self.messages[len(self.known) :]
        self.runs, self.known = runs_of([*self.known, *map(find, rest)]), ()

    def numbered(self) -> Iterator[tuple[SentMessage, int]]:
        """The messages with their numbers, once they are stored."""
        return zip(self.messages, numbers_of(self.runs or ()), strict=True)


class PassedMessages:
    """A request that went out as its client gave it and whose messages are stored."""

    def __init__(self, blocks: Sequence[SentBlock]) -> None:
        self._messages = [one for block in blocks for one in block.messages]
        self._numbers = numbers_of(run for block in blocks for run in block.runs or ())

    def block(self, places: Sequence[int], keys: Sequence[Key]) -> SentBlock | None:
        """The messages at these places; None unless each was made from its key's message alone."""
        start, end = places[0], places[-1] + 1
        found = self._messages[start:end]
        if len(found) != len(keys) or [*places] != [*range(start, end)]:
            return None
        if [one.keys for one in found] != [(key,) for key in keys]:
            return None
        block = SentBlock(tuple(found), (GivenRun(start, end),))
        block.runs = runs_of(self._numbers[start:end])
        return block


class KeptBlocks(NamedTuple):
    """Consecutive blocks that are stored, as one."""

    pieces: tuple[GivenRun | bytes, ...] = ()
    runs: Sequence[PieceRun] = ()
    tokens: int = 0

    def extended(self, blocks: Sequence[SentBlock]) -> "KeptBlocks":
        """Append further stored blocks."""
        if not blocks:
            return self
        runs = (run for block in blocks for run in block.runs or ())
        return KeptBlocks(
            joined((piece for block in blocks for piece in block.pieces), self.pieces),
            joined_runs([*self.runs, *runs]),
            self.tokens + sum(block.tokens for block in blocks),
        )


class SentChange(NamedTuple):
    """How a request differs from the one before it. Figures are in tokens.

    `kept` + `again` + `new` add up to the request.
    """

    place: int
    """The place of the first piece that differs; the end of the shorter request if none does."""
    kept: int
    """In pieces before `place`: the provider's cache may hold them."""
    again: int
    """In pieces after `place` that the request before also had: read again because of the
    change."""
    new: int
    """In pieces that the request before did not have."""
    dropped: int
    """In pieces that only the request before had."""
    extends: bool
    """Whether the request before is unchanged at its start."""


def change_between(
    before: Sequence[int], after: Sequence[int], tokens: Mapping[int, int]
) -> SentChange:
    """How a request differs from the one before it, given the tokens of their pieces."""
    place = _common_prefix_length(before, after)
    old, now = set(before), set(after)

    def count(numbers: Iterable[int]) -> int:
        return sum(tokens[number] for number in numbers)

    return SentChange(
        place=place,
        kept=count(after[:place]),
        again=count(one for one in after[place:] if one in old),
        new=count(one for one in after[place:] if one not in old),
        dropped=count(one for one in before if one not in now),
        extends=place == len(before),
    )


def _common_prefix_length(before: Sequence[Hashable], after: Sequence[Hashable]) -> int:
    """The length of the common prefix."""
    pairs: Iterator[tuple[Hashable, Hashable]] = zip(before, after, strict=False)
    shorter = min(len(before), len(after))
    return next(
        (place for place, (old, new) in enumerate(pairs) if old != new), shorter
    )
