"""Ids for calls that have none (OpenAI's older functions), where a provider asks for them."""

from dataclasses import replace

from threads.domain.message import Message, Role
from threads.domain.part import Part, ToolCall, ToolResult


class CallIds:
    """Gives ids to the calls of a conversation in their order, and to what answers them."""

    def __init__(self) -> None:
        self._count = 0
        self._open: list[tuple[str, str]] = []

    def copy(self) -> "CallIds":
        """The same state, to go on from here in another way."""
        other = CallIds()
        other._count, other._open = self._count, list(self._open)
        return other

    def given(self, message: Message) -> Message:
        """The next message, with ids; the very same where it has them all."""
        if message.role in (Role.SYSTEM, Role.DEVELOPER):
            return message  # of which the words alone are sent
        if not any(_lacks_id(part) for part in message.parts):
            return message
        return replace(message, parts=tuple(map(self._part, message.parts)))

    def _part(self, part: Part) -> Part:
        if isinstance(part, ToolCall) and not part.id:
            self._count += 1
            self._open.append((part.name, f"call_{self._count}"))
            return replace(part, id=self._open[-1][1])
        if isinstance(part, ToolResult) and not part.call_id:
            return replace(part, call_id=self._answered(part))
        return part

    def _answered(self, result: ToolResult) -> str:
        """The id of the call that a result answers: the first open one of its name."""
        for place, (name, id_) in enumerate(self._open):
            if result.name in (None, name):
                del self._open[place]
                return id_
        return "call_0"


def _lacks_id(part: Part) -> bool:
    match part:
        case ToolCall():
            return not part.id
        case ToolResult():
            return not part.call_id
    return False
