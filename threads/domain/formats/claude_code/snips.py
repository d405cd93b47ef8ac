"""What a snip takes out of the context: lines, of which messages are made."""

from array import array
from collections.abc import Mapping, Sequence, Set


def left_of(
    removed: Set[int],
    ordinals: "array[int]",
    lines_of: Mapping[int, Sequence[int]],
    gone: Set[int],
) -> dict[int, list[int]]:
    """The messages that a snip took lines of, by their ordinals, each with the lines it left.

    `ordinals` has for each line that of its message, -1 where it has none, and `lines_of` the
    reverse; those of `gone` were taken out before.
    """
    told = {ordinals[line] for line in removed if line >= 0} - {-1} - gone
    return {
        ordinal: [line for line in sorted(lines_of[ordinal]) if line not in removed]
        for ordinal in sorted(told)
    }
