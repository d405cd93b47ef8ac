"""The messages of a request as a page lists them: all of them, or beside those of another.

See `sent_messages.html` and `compared_messages.html` in `templates/operations/context/`.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

from operations.domain.ledger.ledger import Side
from operations.domain.ledger.pairing import Leaves, PairedRuns, pair_up
from operations.domain.log.operation import Fold
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, made_place
from operations.messages.names import Named
from threads.rendering import render_sides

from .request_page import PagePiece

AT_ONCE = 100
"""Messages on one page."""
OPEN = 2
"""Messages that one side of a row shows open; of more each is a line that opens."""
LINES = 5
"""Lines of one side that are in sight at first."""
MARKED = 200_000
"""Characters of one page whose words are compared: it costs the most of all."""
_LONGEST_LINE = 120


@dataclass(frozen=True, slots=True)
class RequestMessage:
    """One message of a request."""

    place: int
    role: str
    pieces: Sequence[PagePiece]
    origins: Sequence[Named]
    is_moved: bool = False
    """Whether the other request has it too, at another place."""

    @property
    def line(self) -> str:
        """What it says, in a line."""
        texts = (piece.text or piece.label for piece in self.pieces)
        words = " ".join(next(texts, "")[: 4 * _LONGEST_LINE].split())
        return words if len(words) <= _LONGEST_LINE else f"{words[:_LONGEST_LINE]}…"


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """What one request has in a row, as much of it as is on the page."""

    messages: Sequence[RequestMessage] = ()
    count: int = 0
    """How many messages it has here, on all pages together."""
    is_elsewhere: bool = False
    """Whether it has at other places all that stands beside this."""

    @property
    def are_lines(self) -> bool:
        """Whether each message is a line that opens: there are too many to show them."""
        return self.count > OPEN

    @property
    def first(self) -> Sequence[RequestMessage]:
        """Those in sight; of many lines only some, unless few would be left."""
        count = len(self.messages)
        return self.messages[: LINES if count > LINES + OPEN else count]

    @property
    def more(self) -> Sequence[RequestMessage]:
        """The others."""
        return self.messages[len(self.first) :]


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """What stands beside what, or so many messages that both requests have."""

    before: ComparedSide = ComparedSide()
    after: ComparedSide = ComparedSide()
    alike: range = range(0)
    """Where the request after has them."""


Show = Callable[[Side, Sequence[int]], Iterable[RequestMessage]]
"""The messages at these places: of the request before for `Side.BEFORE`, else of the one after."""


def listed(count: int, start: int, show: Show) -> list[RequestMessage]:
    """The messages of one request from a place on."""
    return [*show(Side.AFTER, range(start, min(start + AT_ONCE, count)))]


@dataclass(frozen=True, slots=True)
class AlikeMessages:
    """Some of the messages that two requests have in common, and the places of those behind."""

    messages: Sequence[RequestMessage]
    more: range


def alike_messages(count: int, places: range, show: Show) -> AlikeMessages:
    """The first messages of a run in a request of so many."""
    places = places[: max(count - places.start, 0)]
    return AlikeMessages([*show(Side.AFTER, places[:AT_ONCE])], places[AT_ONCE:])


def leaves_of(thread: Thread, keys: Iterable[Key], role: str) -> list[Key]:
    """The leaves that a message comes of; one of no keys, as a system prompt, is of its role."""
    leaves = [leaf for key in keys for leaf in _leaves(thread, key)]
    return leaves or [role]


def _leaves(thread: Thread, key: Key) -> Sequence[Key]:
    """What a fold holds, or held when it was recorded where it is in the thread no more."""
    if thread.holds(key):
        return thread.leaf_keys(key)
    number, _place = made_place(key) or (0, None)
    recorded = thread.log.edits.get(number)
    edit = recorded.edit if recorded else None
    return edit.targets if isinstance(edit, Fold) else [key]


def compared(
    before: Sequence[Hashable],
    after: Sequence[Hashable],
    start: int,
    leaves: Leaves,
    show: Show,
) -> tuple[int, list[ComparedRow]]:
    """How many lines two requests make beside one another, and the rows from a line on."""
    total, cut = 0, list[tuple[PairedRuns, range, range]]()
    for pair in pair_up(before, after, leaves):
        size = 1 if pair.is_alike else max(len(pair.before), len(pair.after))
        first, last = max(start - total, 0), min(start + AT_ONCE - total, size)
        if first < last:
            cut.append((pair, pair.before[first:last], pair.after[first:last]))
        total += size
    changed = [one for one in cut if not one[0].is_alike]
    moved = _moved(before, after)
    shown = {}
    for side, known in ((Side.BEFORE, before), (Side.AFTER, after)):
        spans = (old if side is Side.BEFORE else new for _pair, old, new in changed)
        places = [place for span in spans for place in span]
        shown[side] = {
            one.place: replace(one, is_moved=known[one.place] in moved)
            for one in show(side, places)
        }
    rows = [
        ComparedRow(alike=pair.after)
        if pair.is_alike
        else _row(
            pair,
            [shown[Side.BEFORE][place] for place in old],
            [shown[Side.AFTER][place] for place in new],
        )
        for pair, old, new in cut
    ]
    return total, _with_words(rows)


def _row(
    pair: PairedRuns, before: Sequence[RequestMessage], after: Sequence[RequestMessage]
) -> ComparedRow:
    moved = all(one.is_moved for one in (*before, *after))
    return ComparedRow(
        ComparedSide(before, len(pair.before), is_elsewhere=moved and not pair.before),
        ComparedSide(after, len(pair.after), is_elsewhere=moved and not pair.after),
    )


def _moved(before: Sequence[Hashable], after: Sequence[Hashable]) -> set[Hashable]:
    """What both requests have equally often: where it stands in a change, it moved."""
    old, new = Counter(before), Counter(after)
    return {message for message, times in old.items() if new.get(message) == times}


def _with_words(rows: Sequence[ComparedRow]) -> list[ComparedRow]:
    """Rows in which the changed words of one message beside one are marked."""
    left, marked = MARKED, list[ComparedRow]()
    for row in rows:
        both = [*row.before.messages, *row.after.messages]
        if row.before.count == row.after.count == 1:
            left -= sum(len(piece.text) for one in both for piece in one.pieces)
            if left >= 0:
                old, new = _marked(*both)
                row = ComparedRow(ComparedSide([old], 1), ComparedSide([new], 1))
        marked.append(row)
    return marked


def _marked(
    old: RequestMessage, new: RequestMessage
) -> tuple[RequestMessage, RequestMessage]:
    """Both, the words marked in pieces that are of one kind and stand at one place."""
    then, now = [*old.pieces], [*new.pieces]
    for place, (one, other) in enumerate(zip(then, now, strict=False)):
        if one.label != other.label or one.text == other.text:
            continue
        if pair := render_sides(one.text, other.text):
            then[place] = replace(one, marked=pair[0])
            now[place] = replace(other, marked=pair[1])
    return replace(old, pieces=then), replace(new, pieces=now)
