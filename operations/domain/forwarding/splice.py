"""A request's messages as bytes: those of its client as they came in, the others written.

Most of what goes out in place of a long request is what came in. So it is told by places,
runs of the client's messages and ready bytes between them, and a request that says the same
again is answered without reading its messages at all.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from threads.domain.formats.requests import Form

Raw = bytes | bytearray | memoryview
"""The bytes of one message."""


class GivenRun(NamedTuple):
    """The client's messages from one place to another, half-open."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Splice:
    """Messages that go out: some of the client's, and ready ones."""

    pieces: tuple[GivenRun | bytes, ...]

    def of(
        self, run: Callable[[int, int], Raw], *, before: bytes, behind: bytes
    ) -> bytes:
        """The messages with a comma between them, and what is around them.

        `run` gives the client's from one place to another.
        """
        found: list[Raw] = [
            piece if isinstance(piece, bytes) else run(*piece) for piece in self.pieces
        ]
        if not found:
            return before + behind
        # Each is copied but once: commas stand in the list as what they stand between.
        whole: list[Raw] = [before]
        for one in found:
            whole += (one, b",")
        whole[-1] = behind
        return b"".join(whole)

    @property
    def weight(self) -> int:
        """About how many bytes of memory it takes."""
        return sum(map(len, self.pieces)) + 150 * len(self.pieces)


def splice(
    messages: Iterable[Form | int], write: Callable[[Form], bytes]
) -> tuple[GivenRun | bytes, ...]:
    """What goes out, in which a number is the place of one of the client's messages."""
    return joined(
        GivenRun(one, one + 1) if isinstance(one, int) else write(one)
        for one in messages
    )


def joined(
    pieces: Iterable[GivenRun | bytes], before: Sequence[GivenRun | bytes] = ()
) -> tuple[GivenRun | bytes, ...]:
    """Pieces, in which runs that follow one another are one; those `before` are so already."""
    found = list(before)
    for piece in pieces:
        last = found[-1] if found else None
        if (
            isinstance(piece, GivenRun)
            and isinstance(last, GivenRun)
            and last.end == piece.start
        ):
            found[-1] = GivenRun(last.start, piece.end)
        else:
            found.append(piece)
    return tuple(found)
