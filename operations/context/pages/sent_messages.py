"""The messages of a request as a page lists them.

See `templates/operations/context/sent_messages.html`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from operations.domain.ledger.ledger import DiffSide
from operations.domain.log.operation import Fold
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, parse_made_key
from operations.messages.names import Named

from .request_page import PagePiece

AT_ONCE = 100
"""Messages per page."""
_MAX_LINE_LENGTH = 120


@dataclass(frozen=True, slots=True)
class RequestMessage:
    """One message of a request."""

    place: int
    role: str
    pieces: Sequence[PagePiece]
    origins: Sequence[Named]
    is_moved: bool = False
    """Whether the other request has it too, in another place."""

    @property
    def line(self) -> str:
        """The start of its text, on one line."""
        texts = (piece.text or piece.label for piece in self.pieces)
        words = " ".join(next(texts, "")[: 4 * _MAX_LINE_LENGTH].split())
        return (
            words if len(words) <= _MAX_LINE_LENGTH else f"{words[:_MAX_LINE_LENGTH]}…"
        )


Show = Callable[[DiffSide, Sequence[int]], Iterable[RequestMessage]]
"""Returns the messages at these places: of the request before for `Side.BEFORE`, else of the one
after."""


def listed(count: int, start: int, show: Show) -> list[RequestMessage]:
    """The messages of one request from a place on."""
    return [*show(DiffSide.AFTER, range(start, min(start + AT_ONCE, count)))]


Address = Callable[[int], str]
"""Returns the address of the page that starts at a line."""


def links_of(total: int, start: int, address: Address) -> dict[str, str]:
    """The addresses of the next page and of the first one."""
    behind = start + AT_ONCE
    return {
        "more_href": f"{address(behind)}#messages" if behind < total else "",
        "first_href": f"{address(0)}#messages" if start else "",
    }


@dataclass(frozen=True, slots=True)
class AlikeMessages:
    """Some of the messages that two requests have in common, and the places of the rest."""

    messages: Sequence[RequestMessage]
    more: range


def alike_messages(count: int, places: range, show: Show) -> AlikeMessages:
    """The first messages of a run, in a request with `count` messages."""
    places = places[: max(count - places.start, 0)]
    return AlikeMessages([*show(DiffSide.AFTER, places[:AT_ONCE])], places[AT_ONCE:])


def leaves_of(thread: Thread, keys: Iterable[Key], role: str) -> list[Key]:
    """The leaves that a message comes from; just `role` for one without keys, such as a prompt."""
    leaves = [leaf for key in keys for leaf in _leaves(thread, key)]
    return leaves or [role]


def _leaves(thread: Thread, key: Key) -> Sequence[Key]:
    """The leaves of a fold, or its targets as recorded if it is no longer in the thread."""
    if thread.holds(key):
        return thread.leaf_keys(key)
    number, _place = parse_made_key(key) or (0, None)
    recorded = thread.log.edits.get(number)
    edit = recorded.edit if recorded else None
    return edit.targets if isinstance(edit, Fold) else [key]
