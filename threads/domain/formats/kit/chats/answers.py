"""Links tool results without a call id to the calls of the answer before them.

Some programs log the result of a tool without `tool_call_id`. Such results answer the calls of the
message that they directly follow: in order, if there are as many as waiting calls and their names,
if any, are those of the calls; else the only result of a tool answers its only call. Other results
are left as they are.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from threads.domain.formats.kit.calls import CallLinks
from threads.domain.formats.kit.items import Conversation, Item
from threads.domain.message import Message, Role
from threads.domain.part import ToolCall, ToolResult


@dataclass(frozen=True, slots=True)
class LinkedConversation(Conversation):
    """A conversation in which results without a call id are linked to their calls."""

    said: Conversation

    def items(self) -> Iterator[Item]:
        """The messages and events of `said`, whose warnings are shared."""
        waiting: dict[str, ToolCall] = {}
        held: list[Item] = []
        """The items since the first such result, held until it is known how many there are."""
        for item in self.said:
            if not (waiting or held):  # the usual case: a third of the time below
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
    """The only result in a tool message; None for any other item."""
    if isinstance(item, Message) and item.role is Role.TOOL and len(item.parts) == 1:
        return item.parts[0] if isinstance(item.parts[0], ToolResult) else None
    return None


def _calls(message: Message) -> dict[str, ToolCall]:
    """Map of id to the calls of a message; empty unless all of them have an id."""
    calls = {part.id: part for part in message.parts if isinstance(part, ToolCall)}
    return calls if all(calls) else {}


def _linked(held: list[Item], waiting: dict[str, ToolCall]) -> Iterator[Item]:
    """The held items, with results linked to calls where that is clear."""
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
