"""A request's messages as bytes: those of its client as they came in, the others written.

Most of what goes out in place of a long request is what came in. So it is told by places,
runs of the client's messages and ready bytes between them, and a request that says the same
again is answered without reading its messages at all.
"""

from collections.abc import Callable, Iterator, Sequence
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

    def of(self, given: Sequence[Raw], *, before: bytes, behind: bytes) -> bytes:
        """The messages with a comma between them, given the client's, and what is around them."""
        found: list[Raw] = []
        for piece in self.pieces:
            if isinstance(piece, bytes):
                found.append(piece)
            else:
                found += given[piece.start : piece.end]
        if not found:
            return before + behind
        # Put together with its neighbours first, so that the whole is copied but once.
        found[0] = b"".join((before, found[0]))
        found[-1] = b"".join((found[-1], behind))
        return b",".join(found)

    @property
    def weight(self) -> int:
        """About how many bytes of memory it takes."""
        sizes = (len(one) if isinstance(one, bytes) else 100 for one in self.pieces)
        return sum(sizes) + 50 * len(self.pieces)


def splice(
    messages: Sequence[Form],
    given: Sequence[Form | None],
    write: Callable[[Form], bytes],
) -> Splice:
    """What goes out, in which the client's own messages are the very objects of `given`."""
    places = {id(form): place for place, form in enumerate(given) if form is not None}
    return Splice(tuple(_pieces(messages, places, write)))


def _pieces(
    messages: Sequence[Form], places: dict[int, int], write: Callable[[Form], bytes]
) -> Iterator[GivenRun | bytes]:
    start = end = 0
    for form in messages:
        place = places.get(id(form))
        if place is not None and place == end:
            end += 1
            continue
        if start < end:
            yield GivenRun(start, end)
        if place is None:
            start = end = 0
            yield write(form)
        else:
            start, end = place, place + 1
    if start < end:
        yield GivenRun(start, end)
