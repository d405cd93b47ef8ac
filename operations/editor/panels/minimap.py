"""The minimap: the whole thread at a glance, 1000 units high and 14 wide.

The contract stands in `templates/operations/editor/frame/minimap.html`. A long thread is drawn in
as many strokes as the minimap has room for; of the rows behind a stroke the heaviest is seen.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from operations.editor.rows.derived import derived
from operations.editor.rows.look import Look
from operations.editor.rows.minimap_bands import Shape, shapes
from operations.editor.rows.operation import FOLDS

HEIGHT, WIDTH = 1000, 14
MOST_STROKES = 400
LONGEST = 12
HEAVY = 2000
"""Tokens from which a stroke is as long as it gets."""
THINNEST_FOLD = 3.0
_tokens = attrgetter("tokens")
_VOICES = {"user": "user", "assistant": "assistant"}


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
    """The minimap of a view."""
    return derived(look.thread, ("minimap", look.view), lambda: _minimap(shapes(look)))


def _minimap(known: Sequence[Shape]) -> Minimap:
    folds = sum(1 for shape in known if shape.is_fold)
    minimap = Minimap(f"{len(known):,} rows, {folds:,} of them folded")
    if not known:
        return minimap
    paths: dict[str, list[str]] = {"user": [], "assistant": [], "tool": []}
    step = max(1, -(-len(known) // MOST_STROKES))
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
        heaviest = max(said or rows, key=_tokens)
        length = 2 + (LONGEST - 2) * min(heaviest.tokens, HEAVY) / HEAVY
        voice = _VOICES.get(heaviest.kind, "tool")
        paths[voice].append(f"M1 {top + 0.5:.1f}h{length:.1f}")
    minimap.user, minimap.assistant, minimap.tool = (
        "".join(path) for path in paths.values()
    )
    return minimap


def _outline(top: float, height: float) -> str:
    """A sheet drawn in: the edges come in at the middle."""
    middle, bottom = top + height / 2, top + height
    return (
        f"M0 {top:.1f}H{WIDTH}L{WIDTH - 3} {middle:.1f}L{WIDTH} {bottom:.1f}"
        f"H0L3 {middle:.1f}Z"
    )
