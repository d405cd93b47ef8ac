"""The steps of programs that call models and tools, as recorded in traces.

A step holds only hashes of its messages, by which steps are compared.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from threads.domain.formats.io.source import ByteSpan
from threads.domain.message import Message, Role, Usage
from threads.domain.part import Text, Thinking, ToolCall, ToolResult

GENERATION, TOOL, OTHER = "generation", "tool", "other"


class StepMessages(NamedTuple):
    """The input and output of a step."""

    inputs: list[Message]
    outputs: list[Message]

    @property
    def all(self) -> list[Message]:
        """The conversation that a step shows; messages in both its input and output count once."""
        known, given = (
            list(map(message_hash, self.inputs)),
            list(map(message_hash, self.outputs)),
        )
        if given[: len(known)] == known:
            return self.outputs
        if known[-len(given) :] == given:
            return self.inputs
        return self.inputs + self.outputs


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceStep:
    """One observation or span, with hashes in place of its messages."""

    span: ByteSpan
    """Its place in the file."""
    kind: str
    name: str = ""
    id: str = ""
    parent: str = ""
    group: str = ""
    """The conversation or the trace that it belongs to."""
    model: str = ""
    usage: Usage | None = None
    start: datetime | None = None
    end: datetime | None = None
    marks: tuple[int, ...] = ()
    given: int = 0
    """How many of the marks are of its input."""
    calls: tuple[str, ...] = ()
    """The names of the tools that its last message calls."""


def message_hash(message: Message) -> int:
    """A hash that identifies a message, whatever dialect it was logged in.

    Ids and names are left out, because the same call may have them in one log and not in another.
    """
    role = Role.SYSTEM if message.role is Role.DEVELOPER else message.role
    words: list[str] = [role]
    for part in message.parts:
        match part:
            case Text(text):
                words.append(text.strip())
            case ToolCall(_, name, arguments):
                words += ["call", name, repr(arguments)]
            case ToolResult(_, content):
                words += ["result", *(c.text for c in content if isinstance(c, Text))]
            case Thinking():
                continue
            case other:
                words.append(repr(other))
    return hash("\0".join(words))


def step(said: StepMessages, **members: Any) -> TraceStep:
    """A step with the marks of its messages; the messages themselves are not kept."""
    messages = said.all
    given = 0 if messages is said.outputs else len(said.inputs)
    given -= len(said.outputs) if messages is said.inputs else 0
    last = messages[-1].parts if messages else ()
    return TraceStep(
        marks=tuple(map(message_hash, messages)),
        given=given,
        calls=tuple(part.name for part in last if isinstance(part, ToolCall)),
        **members,
    )
