"""The steps of programs that call models and tools, as traces hold them.

Only hashes of a step's messages are held, by which steps are compared.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from threads.domain.formats.io.source import ByteSpan
from threads.domain.message import Message, Role, Usage
from threads.domain.part import Text, Thinking, ToolCall, ToolResult

GENERATION, TOOL, OTHER = "generation", "tool", "other"


class StepMessages(NamedTuple):
    """What a step was given, and what it gave."""

    inputs: list[Message]
    outputs: list[Message]

    @property
    def all(self) -> list[Message]:
        """The conversation that a step shows; an output that repeats the input counts once."""
        known, given = list(map(mark, self.inputs)), list(map(mark, self.outputs))
        if given[: len(known)] == known:
            return self.outputs
        if known[-len(given) :] == given:
            return self.inputs
        return self.inputs + self.outputs


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceStep:
    """One observation or span, with hashes in place of its messages."""

    span: ByteSpan
    """Where it stands in the file."""
    kind: str
    name: str = ""
    id: str = ""
    parent: str = ""
    group: str = ""
    """The conversation or the trace that it says it belongs to."""
    model: str = ""
    usage: Usage | None = None
    start: datetime | None = None
    end: datetime | None = None
    marks: tuple[int, ...] = ()
    given: int = 0
    """How many of the marks are its input."""
    calls: tuple[str, ...] = ()
    """The tools that its last message calls."""


def mark(message: Message) -> int:
    """What tells a message from another, whatever the dialect it was logged in.

    Ids and names are left out: the same call has them in one log and not in the other.
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
    """A step by its messages, of which only the marks are held."""
    messages = said.all
    given = 0 if messages is said.outputs else len(said.inputs)
    given -= len(said.outputs) if messages is said.inputs else 0
    last = messages[-1].parts if messages else ()
    return TraceStep(
        marks=tuple(map(mark, messages)),
        given=given,
        calls=tuple(part.name for part in last if isinstance(part, ToolCall)),
        **members,
    )
