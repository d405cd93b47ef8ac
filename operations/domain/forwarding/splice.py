"""A request's messages as bytes: the client's as they came in, the others as written.

Most of a long request goes out as it came in. So it is described by runs of the client's messages
with ready bytes between them, and a repeated request is answered without reading its messages at
all.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from threads.domain.formats.requests import Form

Raw = bytes | bytearray | memoryview
"""The bytes of one message."""


class GivenRun(NamedTuple):
    """A half-open range of the client's messages."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Splice:
    """Messages that go out: runs of the client's, and ready ones."""

    pieces: tuple[GivenRun | bytes, ...]

    def of(
        self, run: Callable[[int, int], Raw], *, before: bytes, after: bytes
    ) -> bytes:
        """The messages joined by commas, between `before` and `after`.

        `run` returns the client's bytes from one place to another.
        """
        found: list[Raw] = [
            piece if isinstance(piece, bytes) else run(*piece) for piece in self.pieces
        ]
        if not found:
            return before + after
        # The list includes the commas, so that the join copies each piece only once.
        whole: list[Raw] = [before]
        for one in found:
            whole += (one, b",")
        whole[-1] = after
        return b"".join(whole)

    @property
    def weight(self) -> int:
        """Approximate memory use in bytes."""
        return sum(map(len, self.pieces)) + 150 * len(self.pieces)


def splice(
    messages: Iterable[Form | int], write: Callable[[Form], bytes]
) -> tuple[GivenRun | bytes, ...]:
    """The pieces of what goes out; a number stands for the client's message at that place."""
    return joined(
        GivenRun(one, one + 1) if isinstance(one, int) else write(one)
        for one in messages
    )


def joined(
    pieces: Iterable[GivenRun | bytes], before: Sequence[GivenRun | bytes] = ()
) -> tuple[GivenRun | bytes, ...]:
    """Join adjacent runs among pieces; those in `before` are already joined."""
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
