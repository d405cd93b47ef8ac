"""The whole thread from afar: what each row is and how much it says, without any words."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from operations.domain.thread.node import FoldNode
from operations.domain.tree.leaf import Leaf
from operations.log.cache import Cache
from operations.requests import View

from .derived import derived
from .look import Look


class Shape(NamedTuple):
    """One row: a role, or the kind of a fold, and the tokens that it shows.

    A user's message of nothing but tool results has the kind `tool` and `is_sent` set.
    """

    kind: str
    tokens: int
    is_fold: bool = False
    is_sent: bool = False


class Skeleton(NamedTuple):
    """What originals look like from afar, and where groups begin. Both only ever grow."""

    shapes: list[Shape]
    groups: list[int]


_skeletons: Cache[Skeleton] = Cache(lambda skeleton: len(skeleton.shapes) + 1)


def shapes(look: Look) -> list[Shape]:
    """The rows of a view, in their order."""
    return derived(look.thread, ("shapes", look.view), lambda: list(_shapes(look)))


def group_starts(look: Look) -> list[int]:
    """The index of the first original of each group."""
    count = look.thread.message_count
    starts = _skeleton(look).groups
    return (
        starts if not starts or starts[-1] < count else [i for i in starts if i < count]
    )


def results_of_users(look: Look) -> int:
    """The tokens that the model sees in users' messages of nothing but tool results."""
    return derived(look.thread, "results", lambda: _results_of_users(look))


def _shapes(look: Look) -> Iterator[Shape]:
    thread = look.thread
    originals = _skeleton(look).shapes
    if look.view is View.ORIGINAL:
        yield from originals[: thread.message_count]
        return
    for key in thread.keys:
        if key[0] == "m":
            yield originals[int(key[1:])]
        else:
            yield from _made(look, key)


def _made(look: Look, key: str) -> Iterator[Shape]:
    """The rows of a fold or of an inserted message."""
    node = look.thread.node(key)
    if not isinstance(node, FoldNode):
        yield Shape(node.role, node.tokens)
    elif look.view is View.ANNOTATED or not node.messages:
        yield Shape(node.kind, node.tokens_after, is_fold=True)
    else:
        for message in node.messages:
            yield Shape(message.role, message.tokens, is_fold=True)


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
    """An original's role, told without reading it: a user who says something begins a group."""
    role, tokens, _ = leaves[index]
    if role == "user" and not _begins_group(leaves, index):
        return Shape("tool", tokens, is_sent=True)
    return Shape(role, tokens)


def _begins_group(leaves: Sequence[Leaf], index: int) -> bool:
    return index == 0 or leaves[index].group != leaves[index - 1].group
