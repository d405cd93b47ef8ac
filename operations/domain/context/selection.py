"""A slice of the conversation that an agent asked for, for the next context alone."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from contextstudio.accounts.domain.errors import Invalid
from operations.domain.providers.outgoing import Outgoing
from operations.domain.tree.key import Key, entry_number

from .step import Omission, Step, leaving_out

NAME = "slice"
Holds = Callable[[Key], Collection[int]]
"""Gives the indexes of the originals in a fold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """What the next context is to hold.

    `start` and `end` are indexes of originals, half-open; both None: of all. `matches` are
    the indexes that the last search found.
    """

    start: int | None = None
    end: int | None = None
    include_search_results: bool = False
    max_context_messages: int | None = None
    matches: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Raise Invalid where it names no range, or less than one message."""
        if (self.start is None) != (self.end is None):
            raise Invalid("A range has a start and an end.", at=["start_message_index"])
        if (
            self.start is not None
            and self.end is not None
            and not (0 <= self.start < self.end)
        ):
            raise Invalid(
                f"There is no range from {self.start} up to {self.end}.",
                at=["start_message_index"],
            )
        most = self.max_context_messages
        if most is not None and most < 1:
            raise Invalid(
                "A context of less than one message is none.",
                at=["max_context_messages"],
            )


def select(
    messages: Sequence[Outgoing], preference: Preference, holds: Holds
) -> tuple[list[Outgoing], Step]:
    """The nodes with a leaf in the range, the newest of them, and what was found.

    An insert goes with the node before it. The system's prompt is not among `messages`.
    """
    places = _places(messages, holds)
    wanted = _wanted(places, preference)
    found = set(preference.matches if preference.include_search_results else ())
    matching = {
        place for place, indexes in enumerate(places) if not found.isdisjoint(indexes)
    }
    kept = wanted | matching
    left_out = [
        Omission(message.key, message.tokens, _why(places[place], preference))
        for place, message in enumerate(messages)
        if place not in kept
    ]
    chosen = [message for place, message in enumerate(messages) if place in kept]
    return chosen, leaving_out(NAME, messages, left_out)


def _places(messages: Sequence[Outgoing], holds: Holds) -> list[Collection[int]]:
    """For each message the indexes of the node that it goes with."""
    places: list[Collection[int]] = []
    before: Collection[int] = ()
    for message in messages:
        if message.index is not None:
            before = (message.index,)
        elif entry_number(message.node) is not None:
            before = holds(message.node) or before
        places.append(before)
    return places


def _wanted(places: Sequence[Collection[int]], preference: Preference) -> set[int]:
    """The newest messages of the range."""
    inside = [
        place for place, indexes in enumerate(places) if _in_range(indexes, preference)
    ]
    if preference.max_context_messages is not None:
        inside = inside[-preference.max_context_messages :]
    return set(inside)


def _in_range(indexes: Collection[int], preference: Preference) -> bool:
    if preference.start is None or preference.end is None:
        return True
    return any(preference.start <= index < preference.end for index in indexes)


def _why(indexes: Collection[int], preference: Preference) -> str:
    if not _in_range(indexes, preference):
        return f"It is not in the slice {preference.start} to {preference.end}."
    return f"It is not among the newest {preference.max_context_messages:,}."
