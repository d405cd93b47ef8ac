"""Tracks what the model is given in a conversation, for compactions that count messages."""

from dataclasses import dataclass, field

from threads.domain.message import Message, Role
from threads.domain.part import ToolCall

from .items import Item

_SYSTEM = (Role.SYSTEM, Role.DEVELOPER)


@dataclass(slots=True)
class ModelContext:
    """The messages in the model's context, without system messages, by their ordinals.

    A message of the context is one of the conversation, or a summary that stands for several.
    """

    count: int = 0
    """How many messages were given so far, including system messages."""
    _shown: list[tuple[int, ...]] = field(default_factory=list)
    _calling: set[int] = field(default_factory=set)
    """The ordinals of messages with calls."""
    _answering: set[int] = field(default_factory=set)
    """The ordinals of messages with results."""

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
        """`size`, reduced as far as needed to part no call from its results."""
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
        """Replace the oldest messages with one summary; returns the ordinals it stands for."""
        hidden = {ordinal for shown in self._shown[:size] for ordinal in shown}
        if hidden:
            self._shown[:size] = [tuple(sorted(hidden))]
        return hidden

    def cut(self, first: int) -> set[int]:
        """Remove the messages from the ordinal `first` on; returns the removed ordinals."""
        kept = [shown for shown in self._shown if min(shown) < first]
        gone = {one for shown in self._shown if min(shown) >= first for one in shown}
        self._shown = kept
        return gone
