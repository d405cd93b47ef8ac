"""Rows and markers, as the templates of the thread receive them.

The templates `operations/editor/rows/{row,inserted,fold,node}.html` document the contract.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.safestring import SafeString

from operations.domain.tree.key import Key
from threads.domain.message import Role
from threads.domain.part import Part, Text, ToolCall, ToolResult
from threads.rendering import summary
from threads.rendering.cards import family
from threads.rendering.hidden import visible
from threads.rendering.text.output import exit_code

from .notes import Bracket, Note, ShownWords
from .operation import Op

NOTHING = SafeString()
SMALL, LARGE = 5, 50
"""A fold of fewer messages than `SMALL` is drawn in a little, one of `LARGE` or more deeply."""
TOOL_LENGTH = 80
LONG_SYSTEM = 200
"""A system message of at least this many tokens is printed as one line."""


@dataclass(slots=True, kw_only=True)
class Row:
    """A message: see `row.html` and, for one that was inserted, `inserted.html`."""

    kind: str
    key: Key
    name: str
    role: str
    tokens: int
    relevance: float | None = None
    """Its similarity to the objective, if shown and known."""
    time: datetime | None = None
    model: str = ""
    by: str = ""
    """The agent that sent it through the proxy."""
    tags: tuple[str, ...] = ()
    body_html: SafeString = NOTHING
    brief: str = ""
    brief_is_code: bool = False
    closable: bool = False
    tool: str = ""
    outcome: str = ""
    failed: bool = False
    depth: int = 0
    made_by: str = ""
    moved: Bracket | None = None
    notes: Sequence[Note] = ()
    notes_below: Sequence[Note] = ()
    operation: Op | None = None
    leads: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold(Op):
    """A marker: see `fold.html`. `left_out` says what a digest leaves out."""

    kind: str = "fold"
    open: bool = False
    depth: int = 0
    words: ShownWords | None = None
    children_html: SafeString = NOTHING
    moved: Bracket | None = None
    notes: Sequence[Note] = ()
    notes_below: Sequence[Note] = ()
    left_out: str = ""

    @property
    def size_class(self) -> str:
        if self.count < SMALL:
            return "is-small"
        return "is-large" if self.count >= LARGE else ""


@dataclass(frozen=True, slots=True)
class RowHead:
    """What a row's head says about the message's tools, and its one-line summary."""

    voice: str
    """The role as it is drawn: tool results in a user message are drawn as the tool's."""
    tool: str
    outcome: str
    failed: bool
    line: str
    is_code: bool
    is_brief: bool
    """Whether the row is one line until it is opened."""


def row_head(
    role: Role, parts: tuple[Part, ...], *, tokens: int, names: Mapping[str, str]
) -> RowHead:
    """The head of a message's row. Text and failed results are shown open, the rest is brief.

    `names` maps the ids of the calls before it to their tools.
    """
    calls = [part for part in parts if isinstance(part, ToolCall)]
    results = [part for part in parts if isinstance(part, ToolResult)]
    words = any(isinstance(part, Text) and part.text.strip() for part in parts)
    named = (part.name or names.get(part.call_id) for part in results)
    tool = next(filter(None, (*(call.name for call in calls), *named)), "")
    outcome, failed = _outcome(results) if results else ("", False)
    only_tools = not words and bool(calls or results)
    brief = only_tools and not failed
    if role in (Role.SYSTEM, Role.DEVELOPER):
        brief = tokens >= LONG_SYSTEM
    voice = Role.TOOL if results and not words else role
    if voice is Role.TOOL:
        brief = not failed
    line = summary(role, parts)
    if only_tools:
        for head in filter(
            None, (tool, outcome, "exit 0")
        ):  # the head says these already
            line = line.removeprefix(head).lstrip(" :,·")
    is_code = only_tools and not results and family(tool) in ("command", "program")
    tool = visible(tool[:TOOL_LENGTH])
    return RowHead(
        voice, tool if only_tools else "", outcome, failed, line, is_code, brief
    )


def has_failed(parts: tuple[Part, ...]) -> bool:
    """Whether a message's row says that a tool result failed."""
    return _outcome([part for part in parts if isinstance(part, ToolResult)])[1]


def _outcome(results: Sequence[ToolResult]) -> tuple[str, bool]:
    """The outcome of the results, and whether it is a failure; the first failure counts."""
    for result in results:
        texts = [item.text for item in result.content if isinstance(item, Text)]
        code = exit_code("\n".join(texts))
        if code:
            return f"exit {code}", True
        if result.is_error:
            return "error", True
    return "ok", False
