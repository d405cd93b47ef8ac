"""What the model is given at a place of a conversation, for compactions that count messages."""

from dataclasses import dataclass, field

from threads.domain.message import Message, Role

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

    def __len__(self) -> int:
        return len(self._shown)

    def note(self, item: Item) -> None:
        """Count an item, if it is a message."""
        if isinstance(item, Message):
            if item.role not in _SYSTEM:
                self._shown.append((self.count,))
            self.count += 1

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
