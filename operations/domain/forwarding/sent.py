"""A request as it was sent: numbers of pieces, of which the session keeps each once.

A piece is the list of tools, the system prompt or a message, as its bytes and the keys of what
it was made of; the session numbers its pieces from 0 as they are first sent. A request of a loop
is the one before it and what is new, so that most of it is one run of numbers.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from operations.domain.tree.key import Key

from .splice import GivenRun, joined


class PieceRun(NamedTuple):
    """Pieces that were sent one behind another in the order of their numbers, half-open."""

    start: int
    end: int


def joined_runs(runs: Iterable[PieceRun]) -> list[PieceRun]:
    """The same pieces as the fewest runs."""
    found: list[PieceRun] = []
    for run in runs:
        if found and found[-1].end == run.start:
            found[-1] = PieceRun(found[-1].start, run.end)
        else:
            found.append(run)
    return found


def runs_of(numbers: Iterable[int]) -> list[PieceRun]:
    """The pieces of a request as the fewest runs."""
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
    """The pieces of a request, by its runs."""
    return [number for start, end in runs for number in range(start, end)]


class SentMessage(NamedTuple):
    """A message that goes out, and what it is made of."""

    piece: GivenRun | bytes
    keys: Sequence[Key]
    tokens: int


class SentBlock:
    """Messages that go out one behind another, and the numbers that they are kept by."""

    def __init__(
        self,
        messages: tuple[SentMessage, ...],
        pieces: tuple[GivenRun | bytes, ...] = (),
    ) -> None:
        self.messages = messages
        self.pieces = pieces or joined(message.piece for message in messages)
        """The runs and bytes that they are put together of."""
        self.tokens = sum(message.tokens for message in messages)
        self.runs: list[PieceRun] | None = None
        """The numbers under which they are stored; None until they are."""
        self.known: Sequence[int] = ()
        """Until then, the numbers of the first messages, as far as these are stored already."""

    def grown(self, messages: Sequence[SentMessage]) -> "SentBlock":
        """This block, which is stored, with further messages at its end."""
        pieces = joined((message.piece for message in messages), self.pieces)
        block = SentBlock((*self.messages, *messages), pieces)
        block.known = numbers_of(self.runs or ())
        return block

    def number(self, find: Callable[[SentMessage], int]) -> None:
        """Let it be kept, given what finds the number of a message that isn't yet."""
        rest = self.messages[len(self.known) :]
        self.runs, self.known = runs_of([*self.known, *map(find, rest)]), ()

    def numbered(self) -> Iterator[tuple[SentMessage, int]]:
        """The messages with the numbers that they are kept by, once they are."""
        return zip(self.messages, numbers_of(self.runs or ()), strict=True)


class PassedMessages:
    """A request that went out as its client gave it, whose messages are kept."""

    def __init__(self, blocks: Sequence[SentBlock]) -> None:
        self._messages = [one for block in blocks for one in block.messages]
        self._numbers = numbers_of(run for block in blocks for run in block.runs or ())

    def block(self, places: Sequence[int], keys: Sequence[Key]) -> SentBlock | None:
        """The messages at these places, if these were each made of the one message of a key."""
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
    """Blocks that go out one behind another and are kept, as one."""

    pieces: tuple[GivenRun | bytes, ...] = ()
    runs: Sequence[PieceRun] = ()
    tokens: int = 0

    def and_(self, blocks: Sequence[SentBlock]) -> "KeptBlocks":
        """With those behind them, which are kept too."""
        if not blocks:
            return self
        runs = (run for block in blocks for run in block.runs or ())
        return KeptBlocks(
            joined((piece for block in blocks for piece in block.pieces), self.pieces),
            joined_runs([*self.runs, *runs]),
            self.tokens + sum(block.tokens for block in blocks),
        )


class SentChange(NamedTuple):
    """What a request differs in from the one before it. Figures are tokens.

    `kept` + `again` + `new` are those of the request.
    """

    place: int
    """Where the first piece stands that differs; where the shorter of the two ends, its end."""
    kept: int
    """Of what stands before it: the provider's cache may hold it."""
    again: int
    """Of pieces behind it that the request before had too: read anew for the change."""
    new: int
    """Of pieces that the request before did not have."""
    dropped: int
    """Of pieces that only the request before had."""
    extends: bool
    """Whether nothing of the request before was changed."""


def change_between(
    before: Sequence[int], after: Sequence[int], tokens: Mapping[int, int]
) -> SentChange:
    """What a request changed of the one before it, given the tokens of their pieces."""
    place = _alike(before, after)
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


def _alike(before: Sequence[Hashable], after: Sequence[Hashable]) -> int:
    """How many pieces stand at the top of both."""
    pairs: Iterator[tuple[Hashable, Hashable]] = zip(before, after, strict=False)
    shorter = min(len(before), len(after))
    return next(
        (place for place, (old, new) in enumerate(pairs) if old != new), shorter
    )
