"""What a compiler is given (messages and the layers before them), and what it answers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

from operations.domain.tree.key import Key
from threads.domain.formats.format import Heading
from threads.domain.message import Role
from threads.domain.part import Part, Thinking, ToolCall, ToolResult

from .turns import Turn


@lru_cache(maxsize=1 << 14)
def alone(group: int) -> frozenset[int]:
    """The groups of a message that counts as one: held once, for all messages of that group."""
    return frozenset((group,))


def answered_by(parts: Iterable[Part]) -> tuple[str, ...]:
    """The ids of the calls that a message answers."""
    return tuple([part.call_id for part in parts if isinstance(part, ToolResult)])


class Outgoing(NamedTuple):
    """A message that the model is about to see, in the words that it reads in the thread.

    `node` is the node at the top of the thread that shows it: itself, or its fold. `group` is
    the group of the first original of that node (of the node before it for an insert), and
    `groups` are all that it counts as: more than one only for a fold.
    """

    key: Key
    node: Key
    role: Role
    parts: tuple[Part, ...]
    tokens: int
    group: int
    groups: frozenset[int]
    strategy: str
    """The `parsing_strategy` of the original; the session's for what an operation made."""
    index: int | None = None  # type: ignore[assignment]  # nobody looks for a value in it
    """Of the original; None for what an operation made."""
    kind: str | None = None
    """The kind of the edit that made it (digest, revise, insert, condense), `marker` for the
    marker of a fold, which has the fold's key; None: an original."""
    changed: bool = False
    """Whether it reads otherwise than it was recorded."""
    name: str | None = None

    @property
    def call_ids(self) -> tuple[str, ...]:
        """The ids of its calls."""
        return tuple([part.id for part in self.parts if isinstance(part, ToolCall)])

    @property
    def result_ids(self) -> tuple[str, ...]:
        """The ids of the calls that it answers."""
        return answered_by(self.parts)

    @property
    def signs(self) -> bool:
        """Whether there is any reasoning in it."""
        return any(isinstance(part, Thinking) for part in self.parts)


PROMPT = "system"
"""The layer that is the system prompt of the thread itself."""


class Injected(NamedTuple):
    """A piece of a layer that was chosen for this request, and why."""

    id: str
    text: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """Words that stand before the history: system, guidelines, state, scratchpad, memos.

    `keys` are the messages that the words are of: the system prompt's originals; none else.
    `injected` are the memos that they are of; layers of the same words are sent alike, whatever
    they were chosen for.
    """

    name: str
    text: str
    tokens: int
    keys: tuple[Key, ...] = field(default=())
    injected: tuple[Injected, ...] = field(default=(), compare=False)


class Severity(StrEnum):
    """How grave it is that a rule was not kept."""

    NOTE = "note"
    """The request is accepted as it is; something of it is worth knowing."""
    REPAIRED = "repaired"
    REFUSED = "refused"


class LeftOutResult(NamedTuple):
    """A result that is not among the messages, though the thread has it."""

    key: Key
    """The message that holds it."""
    by: str
    """What left it out: the key of an operation (`o7`), or the name of a step (`window`)."""
    tokens: int
    """Of that message."""


class Issue(NamedTuple):
    """A rule of a provider (docs/providers.md) that the thread doesn't keep, and what was done."""

    rule: str
    """`R1` to `R19`."""
    severity: Severity
    keys: tuple[Key, ...]
    detail: str
    """One sentence that names what was found."""
    repair: str = ""
    """One sentence that says what was done; empty where nothing was."""
    is_own: bool = False
    """Whether it was found in the messages themselves, whatever stands around them: no
    operation brought it about, and a client that sends such a message knows that it may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A context before it is compiled: its layers, then its messages.

    The system's messages at the top are the layer `system`, and not among `messages`.
    """

    layers: Sequence[Layer]
    messages: Sequence[Outgoing]
    model: str
    heading: Heading
    """Gives the bytes of images and files."""
    intact: int = 0
    """How many of `messages`, from the first, stand exactly as they were recorded: signatures of
    reasoning hold in these alone, and in none where the system prompt changed."""
    tools: Sequence[dict[str, Any]] = ()
    """Definitions of tools as OpenAI Chat takes them."""
    left_out: Mapping[str, LeftOutResult] = field(default_factory=dict)
    """By the id of its call: results that the thread has and `messages` hasn't."""
    follows: bool = False
    """Whether other messages stand before these, so that nothing is done about how they begin."""
    goes_on: bool = False
    """Whether other messages follow, so that nothing is done about how these end."""
    can_recall: bool = True
    """Whether the model has a tool that recalls what is left out."""
    answer_tokens: int = 4096
    """`max_tokens`, where the provider wants it said."""


class Written(NamedTuple):
    """A request in its provider's form; its members are those of `Compiled`."""

    request: dict[str, Any]
    messages: list[dict[str, Any]]
    system: Any
    origins: Sequence[tuple[Key, ...]]


class Compiled(NamedTuple):
    """A request as it would be sent."""

    request: dict[str, Any]
    """The body."""
    messages: list[dict[str, Any]]
    """The list of the body that holds the messages."""
    system: Any
    """The member of the body that holds the system prompt; None where it has none."""
    origins: tuple[tuple[Key, ...], ...]
    """For each of `messages` the keys of what it is made of; empty for a bridge or a layer."""
    issues: tuple[Issue, ...]
    """In the order of the messages; where one of them is `refused`, it must not be sent."""
    turns: tuple[Turn, ...]
    """What `messages` say, part by part, as it is written there: what is sent is counted on it."""
    prompt: str
    """The words of all layers as they are written; empty where there are none."""
