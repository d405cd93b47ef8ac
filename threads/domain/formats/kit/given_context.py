"""What the model is given at a place of a conversation, for compactions that count messages."""

from dataclasses import dataclass, field

from threads.domain.message import Message, Role
from threads.domain.part import ToolCall

from .items import Item

_SYSTEM = (Role.SYSTEM, Role.DEVELOPER)


@dataclass(slots=True)
class GivenContext:
    """The messages that the model has before it, without the system's, by their ordinals.

    A message of the context is one of the conversation, or a summary that stands for several.
    """

    count: int = 0
    """How many messages were given so far, the system's among them."""
    _shown: list[tuple[int, ...]] = field(default_factory=list)
    _calling: set[int] = field(default_factory=set)
    """The answers with calls, by their ordinals."""
    _answering: set[int] = field(default_factory=set)
    """The messages that are results."""

    def __len__(self) -> int:
        return len(self._shown)

    def note(self, item: Item) -> None:
        """Count an item, if it is a message."""
        if isinstance(item, Message):
            if item.role not in _SYSTEM:
                self._shown.append((self.count,))
            if item.role is Role.TOOL:
                self._answering.add(self.count)
            elif any(isinstance(part, ToolCall) for part in item.parts):
                self._calling.add(self.count)
            self.count += 1

    def whole(self, size: int) -> int:
        """So many of the oldest messages, or fewer, that no call is parted from its results."""
        rest = self._shown[size : size + 1]
        if not rest or rest[0][0] not in self._answering:
            return size
        for place in range(size - 1, -1, -1):
            ordinal = self._shown[place][0]
            if ordinal in self._calling:
                return place
            if ordinal not in self._answering:
                break
        return size

    def hide(self, size: int) -> set[int]:
        """Put one summary in the place of the oldest messages; the ordinals that it stands for."""
        hidden = {ordinal for shown in self._shown[:size] for ordinal in shown}
        if hidden:
            self._shown[:size] = [tuple(sorted(hidden))]
        return hidden

    def cut(self, first: int) -> set[int]:
        """Take out what was given from this ordinal on; the ordinals that are gone."""
        kept = [shown for shown in self._shown if min(shown) < first]
        gone = {one for shown in self._shown if min(shown) >= first for one in shown}
        self._shown = kept
        return gone
