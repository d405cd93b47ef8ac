"""What hangs on rows and markers: operations that wait or are off, and where messages moved from.

The templates `operations/editor/rows/{note,bracket}.html` document the contract.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.utils.safestring import SafeString

from operations.domain.log.operation import messages_of, named_keys, spans_of
from operations.domain.thread.node import Mark, MovedNodes, Node
from operations.domain.tree.key import Key, made_key
from operations.domain.tree.span import Span
from operations.domain.tree.status import Status
from operations.messages.names import extent_of, name_of
from operations.requests import View
from threads.rendering.hidden import visible

from .changes import ShownChange
from .look import Look
from .operation import Op, condition_words
from .together import ON_PAPER, PartOfBundle, part_of

_KINDS = {
    Status.OFF: "off",
    Status.UNMET: "off",
    Status.PROPOSED: "proposed",
    Status.CONFLICT: "conflict",
}
MAX_COMPARED = 20
"""Most messages of a revise for which its text is compared with the originals'."""
MAX_CHANGES = 4
"""Most changes of a replacement or redaction that its note prints."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownWords:
    """The text that an operation shows, or would show; `lead` is its first lines if it is long."""

    html: SafeString
    lead: str
    lines: int
    roles: str = ""
    """The roles of the messages, for a waiting insert or revise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """See `note.html`. `below` says whether it hangs below or above its row."""

    kind: str
    op: Op
    below: bool = False
    may_decide: bool = False
    may_unstage: bool = False
    to_key: Key = ""
    to_label: str = ""
    part: PartOfBundle | None = None
    """Its place among the proposals that are decided on together with it."""
    shows: tuple[Key, ...] = ()
    """The messages that it prints as they would read; `compares` are those they replace."""
    compares: tuple[Key, ...] = ()
    spans: tuple[Span, ...] = ()
    """The first spans that it would change; `more` is the number of others."""
    more: int = 0
    why: str = ""
    """The purpose its author gave; for a bundle that is its name instead."""
    under: str = ""
    """When it would apply, if it has a condition: `while brief is active`."""
    words: ShownWords | None = None
    changes: Sequence[ShownChange] = ()
    """Filled in when its row is drawn, like `words`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bracket:
    """The resequence that moved a row: see `bracket.html`. Other attributes are the operation's."""

    op: Op
    leads: bool
    from_key: Key
    from_label: str

    def __getattr__(self, name: str) -> object:
        return getattr(self.op, name)


def notes_on(look: Look, node: Node, *, first: bool) -> tuple[Note, ...]:
    """What hangs on a node; `first` says that it is the first of the thread."""
    if look.view is not View.ANNOTATED:
        return ()
    marks = look.marks.get(node.key, ())
    if node.depth:
        return tuple(filter(None, (_mark(look, mark) for mark in marks)))
    stubs = look.stubs.get(node.key, []) if look.thread.moves else []
    tops = look.stubs.get(None, []) if first and look.thread.moves else []
    if not marks and not stubs and not tops:
        return ()
    found = [_mark(look, mark) for mark in marks]
    found += [_stub(look, moved, below=True) for moved in stubs]
    found += [_stub(look, moved, below=False) for moved in tops]
    return tuple(note for note in found if note is not None)


def bracket_of(look: Look, node: Node, before: Node | None) -> Bracket | None:
    """The resequence that moved a node; it leads if it didn't move the node `before` too."""
    if node.moved_by is None or look.view is not View.ANNOTATED:
        return None
    moved = look.moved_from.get(node.key)
    behind = moved.after if moved else None
    op = look.operations[node.moved_by]
    return Bracket(
        op=_stretch(look, op, moved) if moved else op,
        leads=before is None or before.moved_by != node.moved_by,
        from_key=behind or look.thread.window(0, 1)[0].key,
        from_label=_after(look, behind),
    )


def _mark(look: Look, mark: Mark) -> Note | None:
    op = look.operations[mark.operation]
    recorded = look.thread.log.edit(mark.operation)
    waits, is_unmet = op.status == Status.PROPOSED, op.status == Status.UNMET
    if recorded is None or not (waits or op.word in ON_PAPER):
        return None
    number = recorded.entry.number
    edit = look.thread.log.masks.mask_edit(number, recorded.edit)
    spans = spans_of(edit) if waits else ()
    shown = range(len(messages_of(edit)) if waits else 0)
    is_compared = waits and edit.kind == "revise" and op.count <= MAX_COMPARED
    part = part_of(look, op.key) if waits else None
    return Note(
        kind="staged" if op.staged else _KINDS[Status(op.status)],
        op=op,
        below=mark.is_after,
        may_decide=look.may_decide,
        may_unstage=recorded.entry.actor == look.actor,
        part=part,
        why=visible(op.title) if waits and part is None else "",
        shows=tuple(made_key(number, place) for place in shown),
        compares=named_keys(edit) if is_compared else (),
        spans=tuple(spans[:MAX_CHANGES]),
        more=len(spans[MAX_CHANGES:]),
        under=condition_words(edit.condition) if waits or is_unmet else "",
    )


def _stub(look: Look, moved: MovedNodes, *, below: bool) -> Note | None:
    place = look.thread.position(moved.keys[0])
    before = look.thread.window(place - 1, 1)[0].key if place else None
    if before is not None and before == moved.after:
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


def _stretch(look: Look, op: Op, moved: MovedNodes) -> Op:
    """The operation with the range of one run of messages that it moved."""
    first, last = moved.keys[0], moved.keys[-1]
    return replace(op, first=first, last=last, range=extent_of(look.thread, moved.keys))
