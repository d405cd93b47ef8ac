"""What a snip takes out of the context: lines, of which messages are made."""

from array import array
from collections.abc import Set


def left_of(
    removed: Set[int], ordinals: "array[int]", gone: Set[int]
) -> dict[int, list[int]]:
    """The messages that a snip took lines of, by their ordinals, each with the lines it left.

    `ordinals` has for each line that of its message, -1 where it has none; those of `gone` were
    taken out before.
    """
    told = (ordinals[line] for line in removed if line >= 0)
    left: dict[int, list[int]] = {one: [] for one in sorted({*told} - {-1} - gone)}
    for line, ordinal in enumerate(ordinals if left else ()):
        if ordinal in left and line not in removed:
            left[ordinal].append(line)
    return left
