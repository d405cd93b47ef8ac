"""Finds which lines changed between two texts, and which words in them.

The standard library's `difflib` aligns texts best for readers, but its cost grows with the square
of what differs. So its input is limited: after equal beginnings and ends are set aside, more than
`MAX_CHANGED` items on either side count as one replacement.
"""

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from threads.rendering.safe import escape, visible

MAX_CHANGED = 2_000
LIKENESS = 0.3
"""Share of unchanged characters below which two texts are shown one after the other."""

_WORDS = re.compile(r"\w+|[^\S\n]+|\n|[^\w\s]")


class Block(NamedTuple):
    """A run of an alignment, `same` or replaced: half-open ranges of both sequences."""

    same: bool
    old: tuple[int, int]
    new: tuple[int, int]


def align(old: Sequence[str], new: Sequence[str]) -> list[Block]:
    """The blocks that turn `old` into `new`, in order; neighbours are never of the same kind."""
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    left, right = old[start : len(old) - end], new[start : len(new) - end]
    # The remaining items begin and end with a difference.
    codes: Sequence[tuple[str, int, int, int, int]]
    codes = [("replace", 0, len(left), 0, len(right))]
    if max(len(left), len(right)) <= MAX_CHANGED:
        codes = SequenceMatcher(None, left, right).get_opcodes()
    blocks = [Block(True, (0, start), (0, start))] if start else []
    for tag, i, i_end, j, j_end in codes:
        was, now = (start + i, start + i_end), (start + j, start + j_end)
        blocks.append(Block(tag == "equal", was, now))
    if end:
        last, behind = len(old) - end, len(new) - end
        blocks.append(Block(True, (last, len(old)), (behind, len(new))))
    return blocks


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    """The length of the common prefix."""
    pairs = zip(old, new, strict=False)
    return next(
        (place for place, (left, right) in enumerate(pairs) if left != right),
        min(len(old), len(new)),
    )


def merged(old: str, new: str) -> str | None:
    """One text with `<del>` and `<ins>` around changed words, or None if too little is alike."""
    words = _changed_words(old, new)
    return None if words is None else _tagged(words, "del", "ins")


def sides(old: str, new: str) -> tuple[str, str] | None:
    """`old` with `<del>` and `new` with `<ins>` around changed words, or None as in `merged`."""
    words = _changed_words(old, new)
    return None if words is None else (_tagged(words, "del"), _tagged(words, "ins"))


def _tagged(runs: Iterable[tuple[bool, str, str]], *tags: str) -> str:
    """Runs as HTML; changed ones only with the sides that `tags` name."""
    html = []
    for same, then, now in runs:
        if same:
            html.append(escape(then))
            continue
        for tag, text in (("del", then), ("ins", now)):
            if text and tag in tags:
                html.append(f"<{tag}>{escape(text)}</{tag}>")
    return "".join(html)


def _changed_words(old: str, new: str) -> list[tuple[bool, str, str]] | None:
    """Runs (same?, old text, new text); whitespace between two changes counts as changed."""
    left, right = _WORDS.findall(visible(old)), _WORDS.findall(visible(new))
    runs: list[tuple[bool, str, str]] = []
    blocks = align(left, right)
    for place, block in enumerate(blocks):
        then, now = "".join(left[slice(*block.old)]), "".join(right[slice(*block.new)])
        same = block.same and not (then.isspace() and 0 < place < len(blocks) - 1)
        if runs and not same and not runs[-1][0]:
            _, earlier_then, earlier_now = runs.pop()
            then, now = earlier_then + then, earlier_now + now
        runs.append((same, then, now))
    alike = sum(len(then.strip()) for same, then, _ in runs if same)
    return runs if alike >= LIKENESS * min(len(old.strip()), len(new.strip())) else None
