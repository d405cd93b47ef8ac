"""What of the history is sent: the slice that an agent asked for, and the calls of strategies that
read one another's.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from contextstudio.accounts.domain.errors import Invalid
from operations.domain.providers.request import Outgoing
from operations.domain.tree.key import Key, entry_number
from threads.domain.message import starts_group
from threads.domain.part import Part, Thinking, ToolCall, ToolResult

from .step import Count, Omission, Step, leaving_out

SLICE, ISOLATION = "slice", "isolation"
_FAMILIES = {"gemini_gca": "gemini"}
"""What strategies that read one another's calls have in common."""
Holds = Callable[[Key], Collection[int]]
"""Gives the indexes of the originals in a fold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """What the next context, and it alone, is to hold besides the open turn.

    `start` and `end` are indexes of originals, half-open; both None: of all, or of none where
    matches alone are wanted. `matches` are the indexes that the last search found; a limit of
    messages counts them too.
    """

    start: int | None = None
    end: int | None = None
    include_search_results: bool = False
    max_context_messages: int | None = None
    matches: tuple[int, ...] = ()

    @property
    def has_matches_alone(self) -> bool:
        """Whether nothing is wanted but what the last search found."""
        is_unlimited = self.start is None and self.max_context_messages is None
        return is_unlimited and self.include_search_results

    @property
    def names_messages(self) -> bool:
        """Whether it says which messages are wanted, and not only how many at most."""
        return self.start is not None or self.has_matches_alone

    def __post_init__(self) -> None:
        """Raise Invalid where it names no range, or less than one message."""
        if (self.start is None) != (self.end is None):
            raise Invalid(
                "Give both start and end of the range.", at=["start_message_index"]
            )
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
                "max_context_messages must be at least 1.",
                at=["max_context_messages"],
            )


def select(
    messages: Sequence[Outgoing], preference: Preference, holds: Holds
) -> tuple[list[Outgoing], Step]:
    """The slice, and beside it the open turn: the last user's message and all that follows it.

    The slice is the nodes with a leaf in the range and those that were found, the newest of
    them; an insert goes with the node before it. With a call goes its result, and with a
    result its call. The system's prompt is not among `messages`.
    """
    places = _places(messages, holds)
    found = set(preference.matches if preference.include_search_results else ())
    wanted = [
        place
        for place, indexes in enumerate(places)
        if _in_range(indexes, preference) or not found.isdisjoint(indexes)
    ]
    if preference.max_context_messages is not None:
        wanted = wanted[-preference.max_context_messages :]
    turn = range(_open_turn(messages), len(messages))
    kept = _with_partners(messages, {*wanted, *turn})
    left_out = [
        Omission(message.key, message.tokens, _why(places[place], preference))
        for place, message in enumerate(messages)
        if place not in kept
    ]
    chosen = [message for place, message in enumerate(messages) if place in kept]
    return chosen, leaving_out(SLICE, messages, left_out)


def _open_turn(messages: Sequence[Outgoing]) -> int:
    """The place of the last user's message that is more than results; 0 where there is none."""
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if starts_group(message.role, message.parts):
            return place
    return 0


def _with_partners(messages: Sequence[Outgoing], chosen: set[int]) -> set[int]:
    """The chosen places, and those of calls and results that belong to them."""
    partners: dict[int, set[int]] = defaultdict(set)
    called: dict[str, int] = {}
    for place, message in enumerate(messages):
        for part in message.parts:
            if isinstance(part, ToolCall):
                called[part.id] = place
            elif isinstance(part, ToolResult) and part.call_id in called:
                partners[called[part.call_id]].add(place)
                partners[place].add(called[part.call_id])
    found, new = set(chosen), list(chosen)
    while new:
        more = partners.get(new.pop(), set()) - found
        found |= more
        new += more
    return found


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


def _in_range(indexes: Collection[int], preference: Preference) -> bool:
    if preference.start is None or preference.end is None:
        return not preference.has_matches_alone
    return any(preference.start <= index < preference.end for index in indexes)


def _why(indexes: Collection[int], preference: Preference) -> str:
    if not _in_range(indexes, preference):
        if preference.has_matches_alone:
            return "The last search did not find it."
        return f"It is not in the slice {preference.start} to {preference.end}."
    return f"It is not among the newest {preference.max_context_messages:,}."


def isolate(
    messages: Sequence[Outgoing], strategy: str, count: Count
) -> tuple[list[Outgoing], Step]:
    """The messages without the calls and results of other strategies than this one.

    Text crosses. Compile translates calls between strategies, so that this is a switch, off by
    default.
    """
    family = _FAMILIES.get(strategy, strategy)
    kept: list[Outgoing] = []
    left_out: list[Omission] = []
    for message in messages:
        parts = message.parts
        if _FAMILIES.get(message.strategy, message.strategy) != family:
            parts = _text_of(parts)
        if len(parts) == len(message.parts):
            kept.append(message)
            continue
        tokens = count(parts) if parts else 0
        why = f"Calls and results of {message.strategy} are not sent as {strategy}."
        left_out.append(Omission(message.key, message.tokens - tokens, why))
        if parts:
            kept.append(message._replace(parts=parts, tokens=tokens, changed=True))
    return kept, leaving_out(ISOLATION, messages, left_out)


def _text_of(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """The parts without calls and results; none where nothing but reasoning is left."""
    rest = tuple(part for part in parts if not isinstance(part, ToolCall | ToolResult))
    if len(rest) < len(parts) and all(isinstance(part, Thinking) for part in rest):
        return ()
    return rest
