"""Threads assembled for sending, for tests of the steps."""

from operations.domain.context.assembly import (
    Assembly,
    Plan,
    assemble,
    outgoing_messages,
)
from operations.domain.context.policy import REPLAY, Policy
from operations.domain.log.entry import Entry
from operations.domain.log.operation import Operation
from operations.domain.thread.replay import replay
from operations.domain.thread.thread import Thread
from operations.domain.tree.leaf import Leaf
from tests.operations.domain.providers.outgoings import count
from tests.operations.support.builders import log
from tests.operations.support.reading import Read
from threads.domain.part import Part, Text, ToolResult

SYSTEM = Leaf("system", 4, 0)


def leaves(groups: int, each: int = 2) -> list[Leaf]:
    """A system prompt, and groups of messages of ten tokens."""
    found = [SYSTEM]
    for group in range(1, groups + 1):
        found += [
            Leaf("user" if place == 0 else "assistant", 10, group)
            for place in range(each)
        ]
    return found


def spoken(thread: Thread) -> dict[str, Read]:
    """The content of messages: as many characters as tokens, as a result for tool messages."""
    found = {}
    for shown in thread.effective():
        words: tuple[Part, ...] = (Text("x" * shown.tokens),)
        if shown.role == "tool":
            words = (ToolResult("c", words),)  # type: ignore[arg-type]  # a text
        found[shown.key] = Read(
            shown.message.parts if shown.message else words, "openai"
        )
    return found


def assembled(thread: Thread, policy: Policy = REPLAY, **plan: object) -> Assembly:
    fields = {"strategy": "openai", **plan}
    given_plan = Plan(count=count, policy=policy, **fields)  # type: ignore[arg-type]
    messages = outgoing_messages(thread, spoken(thread), count)
    return assemble(thread, messages, given_plan)


def thread_of(groups: int, *operations: Operation | Entry, each: int = 2) -> Thread:
    return replay(leaves(groups, each), log(*operations))
