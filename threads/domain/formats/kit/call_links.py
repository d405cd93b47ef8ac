"""Calls and results that are linked where a log has no ids for them."""

from dataclasses import replace

from threads.domain.message import Message
from threads.domain.part import Part, ToolCall, ToolResult


class CallLinks:
    """The open calls of a conversation, to which results without an id are linked."""

    def __init__(self) -> None:
        self._count = 0
        self._open: list[tuple[str, str]] = []

    def given(self, message: Message) -> Message:
        """The next message, each call with an id and each result with that of its call."""
        parts = tuple(map(self._part, message.parts))
        return message if parts == message.parts else replace(message, parts=parts)

    def _part(self, part: Part) -> Part:
        if isinstance(part, ToolCall):
            self._count += 1
            id_ = part.id or f"call_{self._count}"
            self._open.append((id_, part.name))
            return part if part.id else replace(part, id=id_)
        if isinstance(part, ToolResult):
            return self._result(part)
        return part

    def _result(self, result: ToolResult) -> ToolResult:
        exact = (call for call in self._open if call[0] == result.call_id)
        named = (call for call in self._open if result.name in (None, call[1]))
        call = next(exact, None)
        if call is None and not result.call_id:
            call = next(named, None) or next(iter(self._open), None)
        if call is None:
            return result if result.call_id else replace(result, call_id="call_0")
        self._open.remove(call)
        return result if result.call_id else replace(result, call_id=call[0])
