"""The input of a compiler (messages and the layers before them), and its output."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

from operations.domain.tree.key import Key
from threads.domain.formats.format import Heading
from threads.domain.message import Role
from threads.domain.part import Part, Thinking, ToolCall, ToolResult

from .signed_places import NONE_SIGNED, SignedPlaces
from .turns import Turn, TurnPart


@lru_cache(maxsize=1 << 14)
def single_group(group: int) -> frozenset[int]:
    """A set of just this group, shared by all messages that count as one group."""
    return frozenset((group,))


def answered_call_ids(parts: Iterable[Part]) -> tuple[str, ...]:
    """The ids of the calls that a message answers."""
    return tuple([part.call_id for part in parts if isinstance(part, ToolResult)])


class Outgoing(NamedTuple):
    """A message that the model is about to see, with what it says in the thread.

    `node` is the node at the top of the thread that shows it: the message itself, or its fold.
    `group` is the group of the first original of that node (for an insert, of the node before
    it). `groups` are all groups that it counts as: more than one only for a fold.
    """

    key: Key
    node: Key
    role: Role
    parts: tuple[Part, ...]
    tokens: int
    group: int
    groups: frozenset[int]
    strategy: str
    """The `parsing_strategy` of the original; the session's for messages that operations made."""
    index: int | None = None  # type: ignore[assignment]  # nobody looks for a value in it
    """The index of the original; None for messages that operations made."""
    kind: str | None = None
    """The kind of the edit that made it (digest, revise, insert, condense); `marker` for a fold's
    marker, which has the fold's key; None for an original."""
    changed: bool = False
    """Whether it reads differently from how it was recorded."""
    name: str | None = None

    @property
    def call_ids(self) -> tuple[str, ...]:
        """The ids of its calls."""
        return tuple([part.id for part in self.parts if isinstance(part, ToolCall)])

    @property
    def result_ids(self) -> tuple[str, ...]:
        """The ids of the calls that its results answer."""
        return answered_call_ids(self.parts)

    @property
    def has_reasoning(self) -> bool:
        """Whether the message has any reasoning."""
        return any(isinstance(part, Thinking) for part in self.parts)


PROMPT = "system"
"""The layer that holds the thread's own system prompt."""


class Injected(NamedTuple):
    """A piece of a layer that was chosen for this request, and why."""

    id: str
    text: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """Text that stands before the history: system, guidelines, state, scratchpad or memos.

    `keys` are the originals that make up the system prompt; empty for other layers. `injected`
    are the memos in the text; they don't count when layers are compared, because layers with the
    same text are sent alike, whatever its memos were chosen for.
    """

    name: str
    text: str
    tokens: int
    keys: tuple[Key, ...] = field(default=())
    injected: tuple[Injected, ...] = field(default=(), compare=False)


class Severity(StrEnum):
    """The severity of a violated rule."""

    NOTE = "note"
    """The request is accepted as it is, but there is something worth knowing about it."""
    REPAIRED = "repaired"
    REFUSED = "refused"


class LeftOutResult(NamedTuple):
    """A result that the thread has but that is not among the messages."""

    key: Key
    """The message that holds it."""
    by: str
    """What left it out: the key of an operation (`o7`), or the name of a step (`window`)."""
    tokens: int
    """The tokens of that message."""


class Issue(NamedTuple):
    """A violated rule of a provider (docs/providers.md), and what was done about it."""

    rule: str
    """`R1` to `R19`."""
    severity: Severity
    keys: tuple[Key, ...]
    detail: str
    """One sentence that says what was found."""
    repair: str = ""
    """One sentence that says what was done; empty if nothing was."""
    is_own: bool = False
    """Whether the messages themselves break the rule, whatever surrounds them. No operation caused
    it, and a client that sends such a message knows that it may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A context before it is compiled: its layers, then its messages.

    The system messages at the top form the layer `system` and are not in `messages`.
    """

    layers: Sequence[Layer]
    messages: Sequence[Outgoing]
    model: str
    heading: Heading
    """Reads the bytes of images and files."""
    signed: SignedPlaces = NONE_SIGNED
    """The places in `messages` at which signatures of reasoning hold."""
    tools: Sequence[dict[str, Any]] = ()
    """Definitions of tools in OpenAI Chat's form."""
    left_out: Mapping[str, LeftOutResult] = field(default_factory=dict)
    """Results that the thread has and `messages` lacks, by the id of the call."""
    follows: bool = False
    """Whether other messages precede these, so that their start needs no repair."""
    is_followed: bool = False
    """Whether other messages follow these, so that their end needs no repair."""
    can_recall: bool = True
    """Whether the model has a tool that recalls what is left out."""
    answer_tokens: int = 4096
    """`max_tokens`, for providers that require it."""


class Written(NamedTuple):
    """A request in its provider's form. The fields are as in `Compiled`."""

    request: dict[str, Any]
    messages: list[dict[str, Any]]
    system: Any
    sources: Sequence[Sequence[TurnPart]]


class Compiled(NamedTuple):
    """A request as it would be sent."""

    request: dict[str, Any]
    """The body."""
    messages: list[dict[str, Any]]
    """The list in the body that holds the messages."""
    system: Any
    """The member of the body that holds the system prompt; None if there is none."""
    origins: tuple[tuple[Key, ...], ...]
    """For each of `messages`, the keys of its sources; empty for a bridge or a layer."""
    sources: Sequence[Sequence[TurnPart]]
    """For each of `messages`, what it is made from; empty for the layers."""
    issues: tuple[Issue, ...]
    """In the order of the messages. If one of them is `refused`, the request must not be sent."""
    turns: tuple[Turn, ...]
    """The parts that `messages` contain as written; what is sent is counted on these."""
    prompt: str
    """The text of all layers as written; empty if there are none."""
