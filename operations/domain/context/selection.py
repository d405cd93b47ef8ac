"""Selects the messages to send: a slice that an agent asked for, or one strategy's calls."""

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
"""Maps strategies that read one another's calls to their family."""
Holds = Callable[[Key], Collection[int]]
"""Returns the indexes of the originals in a fold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """What the next context, and only that one, is to hold besides the open turn.

    `start` and `end` are indexes of originals, half-open. If both are None, the range is all
    originals, or none if only matches are wanted. `matches` are the indexes that the last search
    found; a limit on messages counts them too.
    """

    start: int | None = None
    end: int | None = None
    include_search_results: bool = False
    max_context_messages: int | None = None
    matches: tuple[int, ...] = ()

    @property
    def is_matches_only(self) -> bool:
        """Whether only what the last search found is wanted."""
        is_unlimited = self.start is None and self.max_context_messages is None
        return is_unlimited and self.include_search_results

    @property
    def names_messages(self) -> bool:
        """Whether it says which messages are wanted, not only how many at most."""
        return self.start is not None or self.is_matches_only

    def __post_init__(self) -> None:
        """Raise Invalid if the range is incomplete or empty, or the limit is below one message."""
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
                f"The range is half-open: {self.end} must be greater than {self.start}.",
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
    """The slice, plus the open turn: the last user message and everything after it.

    The slice consists of the nodes with a leaf in the range and those that the search found,
    limited to the newest. An insert goes with the node before it. A call brings its result along,
    and a result its call. The system prompt is not among `messages`.
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
    """The place of the last user message that is more than results; 0 if there is none."""
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if starts_group(message.role, message.parts):
            return place
    return 0


def _with_partners(messages: Sequence[Outgoing], chosen: set[int]) -> set[int]:
    """The chosen places, plus those of the calls and results that belong to them."""
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
    """For each message, the indexes of the node that it goes with."""
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
        return not preference.is_matches_only
    return any(preference.start <= index < preference.end for index in indexes)


def _why(indexes: Collection[int], preference: Preference) -> str:
    if not _in_range(indexes, preference):
        if preference.is_matches_only:
            return "The last search did not find it."
        return f"It is not in the slice {preference.start} to {preference.end}."
    return f"It is not among the newest {preference.max_context_messages:,}."


def isolate(
    messages: Sequence[Outgoing], strategy: str, count: Count
) -> tuple[list[Outgoing], Step]:
    """Remove the calls and results of other strategies than the given one.

    Text is kept. Calls are translated between strategies when compiling, so isolation is optional
    and off by default.
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
    """The parts without calls and results; empty if only reasoning would be left."""
    rest = tuple(part for part in parts if not isinstance(part, ToolCall | ToolResult))
    if len(rest) < len(parts) and all(isinstance(part, Thinking) for part in rest):
        return ()
    return rest
