"""The shape of the whole thread: what each row is and how much it says, without any text.

The minimap is drawn from it, 1000 units high and 14 wide; the template
`operations/editor/frame/minimap.html` documents the contract. A long thread is drawn in as many
strokes as the minimap has room for; a stroke shows the heaviest of its rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import attrgetter
from typing import NamedTuple

from operations.domain.thread.node import FoldNode
from operations.domain.tree.leaf import Leaf
from operations.log.cache import Cache
from operations.requests import View

from .look import Look, derived
from .operation import FOLDS

HEIGHT, WIDTH = 1000, 14
MAX_STROKES = 400
MAX_STROKE_LENGTH = 12
HEAVY = 2000
"""Tokens at which a stroke reaches its full length."""
THINNEST_FOLD = 3.0


class Shape(NamedTuple):
    """One row: a role, or the kind of a fold, and the tokens that it shows.

    A user message that holds only tool results has the kind `tool` and `is_sent` set.
    """

    kind: str
    tokens: int
    is_fold: bool = False
    is_sent: bool = False


class Skeleton(NamedTuple):
    """The shapes of the originals, and the indexes where groups start. Both only grow."""

    shapes: list[Shape]
    groups: list[int]


_skeletons: Cache[Skeleton] = Cache(lambda skeleton: 160 * len(skeleton.shapes))


def shapes(look: Look) -> list[Shape]:
    return derived(look.thread, ("shapes", look.view), lambda: _shapes(look))


def group_starts(look: Look) -> list[int]:
    count = look.thread.message_count
    starts = _skeleton(look).groups
    return (
        starts if not starts or starts[-1] < count else [i for i in starts if i < count]
    )


def results_of_users(look: Look) -> int:
    """The tokens that the model sees in user messages that hold only tool results."""
    return derived(look.thread, "results", lambda: _results_of_users(look))


def _shapes(look: Look) -> list[Shape]:
    thread = look.thread
    originals = _skeleton(look).shapes
    if look.view is View.ORIGINAL:
        return originals[: thread.message_count]
    inserted = thread.inserted_sizes
    found: list[Shape] = []
    for key in thread.keys:
        if key[0] == "m":
            found += (originals[int(key[1:])],)
        elif key in inserted:
            role, tokens = inserted[key]
            found += (_shape_of(role, tokens),)
        else:
            found += _fold(look, key)
    return found


_shape_of = lru_cache(1 << 12)(Shape)
"""Cached, as many inserted messages have the same shape."""


def _fold(look: Look, key: str) -> list[Shape]:
    node = look.thread.node(key)
    assert isinstance(node, FoldNode)  # noqa: S101 - a node that isn't a message is a fold
    if look.view is View.ANNOTATED or not node.messages:
        return [Shape(node.kind, node.tokens_after, is_fold=True)]
    return [
        Shape(message.role, message.tokens, is_fold=True) for message in node.messages
    ]


def _results_of_users(look: Look) -> int:
    originals = _skeleton(look).shapes
    if not any(shape.is_sent for shape in originals):
        return 0
    found = (originals[int(key[1:])] for key in look.thread.keys if key[0] == "m")
    return sum(shape.tokens for shape in found if shape.is_sent)


def _skeleton(look: Look) -> Skeleton:
    """The skeleton of at least the originals of a thread."""
    leaves = look.thread.leaves
    known = _skeletons.get(look.session.pk) or Skeleton([], [])
    if len(known.shapes) < len(leaves):
        rest = range(len(known.shapes), len(leaves))
        known = Skeleton(
            known.shapes + [_shape(leaves, index) for index in rest],
            known.groups + [index for index in rest if _begins_group(leaves, index)],
        )
        _skeletons.keep(look.session.pk, known)
    return known


def _shape(leaves: Sequence[Leaf], index: int) -> Shape:
    """An original's shape, without reading it: a user message with text starts a group."""
    role, tokens, _ = leaves[index]
    if role == "user" and not _begins_group(leaves, index):
        return Shape("tool", tokens, is_sent=True)
    return Shape(role, tokens)


def _begins_group(leaves: Sequence[Leaf], index: int) -> bool:
    return index == 0 or leaves[index].group != leaves[index - 1].group


@dataclass(frozen=True, slots=True)
class MinimapFold:
    """The outline of a fold."""

    word: str
    d: str
    proposed: bool = False


@dataclass(slots=True)
class Minimap:
    """See `minimap.html`: path data by voice, and the folds."""

    label: str
    user: str = ""
    assistant: str = ""
    tool: str = ""
    folds: list[MinimapFold] = field(default_factory=list)


def minimap_of(look: Look) -> Minimap:
    return derived(look.thread, ("minimap", look.view), lambda: _minimap(shapes(look)))


def _minimap(known: Sequence[Shape]) -> Minimap:
    folds = sum(1 for shape in known if shape.is_fold)
    minimap = Minimap(
        f"{len(known):,} row{'' if len(known) == 1 else 's'}, {folds:,} of them folded"
    )
    if not known:
        return minimap
    paths: dict[str, list[str]] = {"user": [], "assistant": [], "tool": []}
    step = max(1, -(-len(known) // MAX_STROKES))
    for first in range(0, len(known), step):
        rows = known[first : first + step]
        top = HEIGHT * first / len(known)
        fold = next((row for row in rows if row.is_fold), None)
        if fold is not None:
            height = max(HEIGHT * len(rows) / len(known), THINNEST_FOLD)
            word = fold.kind if fold.kind in FOLDS else "revise"
            minimap.folds.append(MinimapFold(word, _outline(top, height)))
            continue
        said = [row for row in rows if row.kind == "user"]
        heaviest = max(said or rows, key=attrgetter("tokens"))
        length = 2 + (MAX_STROKE_LENGTH - 2) * min(heaviest.tokens, HEAVY) / HEAVY
        voice = heaviest.kind if heaviest.kind in paths else "tool"
        paths[voice].append(f"M1 {top + 0.5:.1f}h{length:.1f}")
    minimap.user, minimap.assistant, minimap.tool = (
        "".join(path) for path in paths.values()
    )
    return minimap


def _outline(top: float, height: float) -> str:
    """The path of a folded sheet, whose edges are drawn in at the middle."""
    middle, bottom = top + height / 2, top + height
    return (
        f"M0 {top:.1f}H{WIDTH}L{WIDTH - 3} {middle:.1f}L{WIDTH} {bottom:.1f}"
        f"H0L3 {middle:.1f}Z"
    )
