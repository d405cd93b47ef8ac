"""Links tool results to their calls, and gives ids to calls that have none."""

from abc import ABC, abstractmethod
from dataclasses import replace

from threads.domain.message import Message, Role
from threads.domain.part import Part, ToolCall, ToolResult

UNKNOWN = "call_0"
"""The call id of a result that answers no call."""


class OpenCalls:
    """The calls of one conversation that wait for their results, in order."""

    def __init__(self, prefix: str = "call_") -> None:
        self._prefix = prefix
        self._count = 0
        self._open: list[tuple[str, str]] = []

    def begin(self, id_: str, name: str) -> str:
        """Register a call and return its id: its own, or one made from its position."""
        self._count += 1
        id_ = id_ or f"{self._prefix}{self._count}"
        self._open.append((id_, name))
        return id_

    def answer(self, id_: str, name: str | None) -> str:
        """The id of the call that a result answers: the given id, or the first call of this name.

        Without a name, the first waiting call; empty if none waits.
        """
        for place, (waiting, called) in enumerate(self._open):
            if waiting == id_ or (not id_ and name in (None, called)):
                del self._open[place]
                return waiting
        return id_


class _CallTracker(OpenCalls, ABC):
    def given(self, message: Message) -> Message:
        """The next message, with ids; the same object if it has them all."""
        parts = tuple(map(self._part, message.parts))
        return message if parts == message.parts else replace(message, parts=parts)

    @abstractmethod
    def _part(self, part: Part) -> Part:
        """A part with its id."""


class CallLinks(_CallTracker):
    """Links results to calls in logs without ids: by name, else in order."""

    def _part(self, part: Part) -> Part:
        if isinstance(part, ToolCall):
            return replace(part, id=self.begin(part.id, part.name))
        if isinstance(part, ToolResult):
            found = self.answer(part.call_id, part.name) or self.answer("", None)
            return replace(part, call_id=found or UNKNOWN)
        return part


class CallIds(_CallTracker):
    """Gives ids to calls that have none (OpenAI's older functions) and to their results."""

    def copy(self) -> "CallIds":
        """A copy of the state, to continue from here separately."""
        other = CallIds()
        other._count, other._open = self._count, list(self._open)
        return other

    def given(self, message: Message) -> Message:
        """The next message, with ids; system messages are unchanged: only their text is sent."""
        is_system = message.role in (Role.SYSTEM, Role.DEVELOPER)
        return message if is_system else super().given(message)

    def _part(self, part: Part) -> Part:
        if isinstance(part, ToolCall) and not part.id:
            return replace(part, id=self.begin("", part.name))
        if isinstance(part, ToolResult) and not part.call_id:
            return replace(part, call_id=self.answer("", part.name) or UNKNOWN)
        return part
