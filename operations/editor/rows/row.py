"""Rows, markers and what hangs on them: what the templates of the thread are given.

The contracts stand in `templates/operations/editor/rows/{row,inserted,fold,node,note}.html`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.utils.safestring import SafeString

from operations.domain.thread.node import Mark, Moved, Node
from operations.domain.tree.key import Key
from operations.domain.tree.status import Status
from operations.messages.names import extent_of, name_of
from operations.requests import View
from threads.domain.message import Role
from threads.domain.part import Part, Text, ToolCall, ToolResult
from threads.rendering import summary
from threads.rendering.cards import family
from threads.rendering.hidden import visible
from threads.rendering.text.output import exit_code

from .look import Look
from .operation import FOLDS, Op

NOTHING = SafeString()
SMALL, LARGE = 5, 50
"""Messages under which a fold draws in a little, and from which it draws in deeply."""
TOOL_LENGTH = 80
LONG_SYSTEM = 200
"""Tokens from which a system message is printed as one line."""
_KINDS = {
    Status.OFF: "off",
    Status.UNMET: "off",
    Status.PROPOSED: "proposed",
    Status.CONFLICT: "conflict",
}
_ON_PAPER = FOLDS | {"insert", "resequence"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """See `note.html`. `below` says on which side of its row it hangs."""

    kind: str
    op: Op
    below: bool = False
    may_decide: bool = False
    may_unstage: bool = False
    to_key: Key = ""
    to_label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bracket:
    """The resequence that moved a row: see `bracket.html`. It reads as its operation does."""

    op: Op
    leads: bool
    from_key: Key
    from_label: str

    def __getattr__(self, name: str) -> object:
        return getattr(self.op, name)


@dataclass(slots=True, kw_only=True)
class Row:
    """A message: see `row.html` and, for one that was inserted, `inserted.html`."""

    kind: str
    key: Key
    name: str
    role: str
    tokens: int
    relevance: float | None = None
    """How near it is to the objective, where that is shown and known."""
    time: datetime | None = None
    model: str = ""
    by: str = ""
    """The agent that it came from, through the proxy."""
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
    """A marker: see `fold.html`. `left_out` says what a digest keeps to itself.

    What it shows is behind its `lead`, the first lines, where it has many.
    """

    kind: str = "fold"
    open: bool = False
    depth: int = 0
    shows_html: SafeString = NOTHING
    lead: str = ""
    lines: int = 0
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
    """What a row's head says of the message's tools, and its one line."""

    voice: str
    """The role as it is drawn: results of tools that a user sends are the tools'."""
    tool: str
    outcome: str
    failed: bool
    line: str
    is_code: bool
    is_brief: bool
    """Whether the row is one line until it is opened."""


def said_by(
    role: Role, parts: tuple[Part, ...], *, tokens: int, names: Mapping[str, str]
) -> RowHead:
    """The head of a message's row. Failed results and words stand open, the rest is brief.

    `names` are the tools of the calls before it, by the ids of the calls.
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
        ):  # what the head says already
            line = line.removeprefix(head).lstrip(" :,·")
    is_code = only_tools and not results and family(tool) in ("command", "program")
    tool = visible(tool[:TOOL_LENGTH])
    return RowHead(
        voice, tool if only_tools else "", outcome, failed, line, is_code, brief
    )


def _outcome(results: Sequence[ToolResult]) -> tuple[str, bool]:
    """What the results came to: the first that failed speaks for all."""
    for result in results:
        texts = [item.text for item in result.content if isinstance(item, Text)]
        code = exit_code("\n".join(texts))
        if code:
            return f"exit {code}", True
        if result.is_error:
            return "error", True
    return "ok", False


def notes_on(look: Look, node: Node, *, first: bool) -> tuple[Note, ...]:
    """What hangs on a node; `first`: it is the first of the thread."""
    if look.view is not View.ANNOTATED:
        return ()
    marks = look.marks.get(node.key, ())
    if node.depth:
        return tuple(filter(None, (_mark(look, mark) for mark in marks)))
    stubs = look.stubs.get(node.key, []) if look.thread.moved else []
    tops = look.stubs.get(None, []) if first and look.thread.moved else []
    if not marks and not stubs and not tops:
        return ()
    found = [_mark(look, mark) for mark in marks]
    found += [_stub(look, moved, below=True) for moved in stubs]
    found += [_stub(look, moved, below=False) for moved in tops]
    return tuple(note for note in found if note is not None)


def bracket_of(look: Look, node: Node, before: Node | None) -> Bracket | None:
    """The resequence that moved a node; it leads where the node `before` wasn't moved by it."""
    if node.moved_by is None or look.view is not View.ANNOTATED:
        return None
    moved = look.moved_from.get(node.key)
    behind = moved.behind if moved else None
    op = look.operations[node.moved_by]
    return Bracket(
        op=_stretch(look, op, moved) if moved else op,
        leads=before is None or before.moved_by != node.moved_by,
        from_key=behind or look.thread.window(0, 1)[0].key,
        from_label=_after(look, behind),
    )


def _mark(look: Look, mark: Mark) -> Note | None:
    op = look.operations[mark.operation]
    if op.word not in _ON_PAPER:
        return None
    return Note(
        kind="staged" if op.staged else _KINDS[Status(op.status)],
        op=op,
        below=mark.behind,
        may_decide=look.may_decide,
        may_unstage=look.may_edit,
    )


def _stub(look: Look, moved: Moved, *, below: bool) -> Note | None:
    place = look.thread.position(moved.keys[0])
    before = look.thread.window(place - 1, 1)[0].key if place else None
    if before is not None and before == moved.behind:
        return None
    return Note(
        kind="stub",
        op=_stretch(look, look.operations[moved.operation], moved),
        below=below,
        to_key=moved.keys[0],
        to_label=_after(look, before),
    )


def _after(look: Look, key: Key | None) -> str:
    return f"after {name_of(look.thread, key)}" if key else "the top"


def _stretch(look: Look, op: Op, moved: Moved) -> Op:
    """The operation with the range of one stretch that it moved."""
    first, last = moved.keys[0], moved.keys[-1]
    return replace(op, first=first, last=last, range=extent_of(look.thread, moved.keys))
