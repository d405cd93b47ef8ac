"""Plans the articles of a part of the thread, and what the HTML of each depends on.

Nothing is loaded or rendered here. An article's `mark` holds all that its HTML depends on, so that
a row that was drawn before costs one dictionary lookup, and two heads of a log can be compared row
by row. Originals never change, so their key stands for their content.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from contextstudio.templatetags.look import ago, node_id
from operations.domain.thread.node import FoldNode, MessageNode, Node
from operations.domain.tree.key import Key, made_key
from operations.domain.tree.span import SpanChange
from operations.messages.names import range_of
from operations.requests import View

from .look import Look
from .notes import Bracket, Note, bracket_of, notes_on

SHOWN_CHILDREN, SHOWN_END = 40, 4
"""How many nodes of an opened fold are drawn at its start and end, with a gap between."""


@dataclass(slots=True)
class Article:
    """One row or marker, not drawn yet.

    `node` is the node it shows. `shows` is the key of the message that it prints: the node's own,
    or in the effective view the key of a message that a fold shows; "" for a hairline.
    """

    id: str
    mark: Hashable
    node: Node
    shows: Key
    brief: bool | None = None
    notes: tuple[Note, ...] = ()
    moved: Bracket | None = None
    children: "Sequence[Article | Gap]" = field(default_factory=tuple)

    @property
    def is_open(self) -> bool:
        """Whether it is the marker of an opened fold, and so holds articles."""
        return bool(self.children)


@dataclass(frozen=True, slots=True)
class Gap:
    """Nodes of an opened fold that are not drawn: see `node.html`."""

    operation: Key
    start: int
    count: int
    range: str
    tokens: int
    kind: str = "gap"


def articles_at(look: Look, start: int, count: int) -> list[Article]:
    """The articles from a place on, at most `count`."""
    count = min(count, look.total - max(start, 0))
    if count <= 0:
        return []
    position, offset = look.places.position(max(start, 0))
    nodes = look.nodes(position, count)
    before = look.nodes(position - 1, 1)[0] if position else None
    found: list[Article] = []
    for node in nodes:
        found += articles_of(look, node, before=before, first=before is None)
        before = node
    return found[offset : offset + count]


def articles_of(
    look: Look,
    node: Node,
    *,
    before: Node | None = None,
    first: bool = False,
    brief: bool | None = None,
) -> list[Article]:
    """The articles of one node: one, or in the effective view one per message it shows."""
    if isinstance(node, MessageNode):
        return [_message(look, node, before=before, first=first, brief=brief)]
    if look.view is View.EFFECTIVE and not node.depth:
        return _shown(look, node)
    return [_fold(look, node, before=before, first=first)]


def gap_articles(look: Look, fold: Key, start: int, count: int) -> list[Article]:
    nodes = look.thread.children(fold, start, count)
    return [article for node in nodes for article in articles_of(look, node)]


def _message(
    look: Look,
    node: MessageNode,
    *,
    before: Node | None,
    first: bool,
    brief: bool | None,
) -> Article:
    key, operation = node.key, node.operation
    annotated = look.view is View.ANNOTATED
    notes = notes_on(look, node, first=first)
    moved = bracket_of(look, node, before) if node.moved_by else None
    changes = changes_on(look, key) if node.changed or look.masks else ()
    mark: tuple[Hashable, ...] = (
        look.source,
        key,
        node.depth,
        brief,
        node.tags if annotated else (),
        changes,
        _dated(look, notes, moved),
    )
    if operation is not None:
        op = look.operations[operation]
        leads = before is None or getattr(before, "operation", None) != operation
        mark += (annotated, op, ago(op.time), leads)
    return Article(node_id(key), mark, node, key, brief, notes, moved)


def _fold(look: Look, node: FoldNode, *, before: Node | None, first: bool) -> Article:
    op = look.operations[node.key]
    notes = notes_on(look, node, first=first)
    moved = bracket_of(look, node, before) if node.moved_by else None
    children = _children(look, node) if node.key in look.open_folds else ()
    shown = [made_key(int(node.key[1:]), place) for place in range(len(node.messages))]
    mark = (
        look.source,
        op,
        ago(op.time),
        node.depth,
        tuple(changes_on(look, key) for key in shown)
        if node.changed or look.masks
        else (),
        _dated(look, notes, moved),
        tuple(child if isinstance(child, Gap) else child.mark for child in children),
    )
    return Article(
        node_id(node.key), mark, node, node.key, None, notes, moved, children
    )


def _shown(look: Look, node: FoldNode) -> list[Article]:
    """What the model sees of a fold: its messages, or a hairline if it shows nothing."""
    op = look.operations[node.key]
    if not node.messages:
        return [Article(node_id(node.key), (look.source, "cut", op), node, "")]
    found = []
    for place in range(len(node.messages)):
        key = made_key(int(node.key[1:]), place)
        mark = (look.source, "made", key, op.amends, changes_on(look, key))
        found.append(Article(node_id(key), mark, node, key))
    return found


def _children(look: Look, fold: FoldNode) -> list[Article | Gap]:
    if fold.children <= SHOWN_CHILDREN + SHOWN_END + 1:
        return list(gap_articles(look, fold.key, 0, fold.children))
    end = fold.children - SHOWN_END
    return [
        *gap_articles(look, fold.key, 0, SHOWN_CHILDREN),
        gap_of(look, fold.key, SHOWN_CHILDREN, end - SHOWN_CHILDREN),
        *gap_articles(look, fold.key, end, SHOWN_END),
    ]


def gap_of(look: Look, fold: Key, start: int, count: int) -> Gap:
    nodes = look.thread.children(fold, start, count)
    indexes = [index for node in nodes for index in _ends(node) if index is not None]
    ends = (f"m{min(indexes)}", f"m{max(indexes)}") if indexes else ("", "")
    words = range_of(look.thread, *ends)
    tokens = sum(
        node.tokens if isinstance(node, MessageNode) else node.tokens_before
        for node in nodes
    )
    return Gap(fold, start, count, words, tokens)


def changes_on(look: Look, key: Key) -> tuple[SpanChange, ...]:
    """The changes to a message's text in this view; the original view has only redactions."""
    changes = look.thread.spans(key)
    if look.view is View.ORIGINAL:
        return tuple(change for change in changes if change.redacted)
    return changes


def _ends(node: Node) -> tuple[int | None, int | None]:
    if isinstance(node, MessageNode):
        return node.index, node.index
    return node.first, node.last


def _dated(
    look: Look, notes: Sequence[Note], moved: Bracket | None
) -> tuple[Hashable, ...]:
    """What hangs on a row, with its age in words, as that changes with time."""
    hung = tuple((one, ago(one.op.time), _changes_in(look, one)) for one in notes)
    return (*hung, (moved, ago(moved.op.time))) if moved else hung


def _changes_in(look: Look, note: Note) -> tuple[Hashable, ...]:
    """The changes to the texts that a note prints or compares."""
    changed = (span.key for span in note.spans)
    keys = (*note.shows, *note.compares, *dict.fromkeys(changed))
    return tuple(look.thread.spans(key) for key in keys)
