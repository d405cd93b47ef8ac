"""Results that don't say which call they answer, behind an answer whose calls have ids.

Some programs log what a tool gave without `tool_call_id`. Such results answer the calls of the
message that they follow directly: in their order if there are as many as calls that wait, and their
names, if they have some, are those of the calls; else a tool's one result answers the tool's one
call. Others are left as they are.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from threads.domain.formats.kit.calls import CallLinks
from threads.domain.formats.kit.items import Conversation, Item
from threads.domain.message import Message, Role
from threads.domain.part import ToolCall, ToolResult


@dataclass(frozen=True, slots=True)
class Linked(Conversation):
    """The items of a conversation, in which such results name their calls."""

    said: Conversation

    def items(self) -> Iterator[Item]:
        """A message or an event; what could not be read is in the warnings of both."""
        waiting: dict[str, ToolCall] = {}
        held: list[Item] = []
        """From the first such result on: how many there are is known behind the last."""
        for item in self.said:
            if not (waiting or held):  # as mostly: it takes a third of what is below
                if isinstance(item, Message) and item.parts:
                    is_call = type(item.parts[-1]) is ToolCall
                    waiting = _calls(item) if is_call else {}
                yield item
                continue
            result = _result(item)
            if isinstance(item, Message) and result is None:
                yield from _linked(held, waiting)
                held, waiting = [], _calls(item)
            elif result and result.call_id:
                waiting.pop(result.call_id, None)
            if held or (waiting and result and not result.call_id):
                held.append(item)
            else:
                yield item
        yield from _linked(held, waiting)


def _result(item: Item) -> ToolResult | None:
    """The one result that a tool's message is."""
    if isinstance(item, Message) and item.role is Role.TOOL and len(item.parts) == 1:
        return item.parts[0] if isinstance(item.parts[0], ToolResult) else None
    return None


def _calls(message: Message) -> dict[str, ToolCall]:
    """The calls of a message by their ids, if all of them have one."""
    calls = {part.id: part for part in message.parts if isinstance(part, ToolCall)}
    return calls if all(calls) else {}


def _linked(held: list[Item], waiting: dict[str, ToolCall]) -> Iterator[Item]:
    """Those held, with what can be told of the calls that they answer."""
    unnamed = [one for one in map(_result, held) if one and not one.call_id]
    called: Counter[str | None] = Counter(call.name for call in waiting.values())
    given = Counter(one.name for one in unnamed)
    are_all = given == called or given == {None: len(waiting)}
    links = CallLinks()
    for call in waiting.values():
        links.begin(call.id, call.name)
    for item in held:
        found = _result(item)
        is_told = are_all or (found and called[found.name] == given[found.name] == 1)
        if isinstance(item, Message) and found and not found.call_id and is_told:
            yield links.given(item)
        else:
            yield item
