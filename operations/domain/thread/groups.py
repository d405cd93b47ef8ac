"""The groups of a session: each user message with everything up to the next, and its status."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from operations.domain.tree.key import original_key

from .thread import Thread


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageGroup:
    """The originals `first` to `last` (inclusive), which form one group.

    `tokens` counts the originals. `status` is `active` if the model sees at least one of them;
    otherwise `purged` (their contents were destroyed), `dropped` (they are left out) or `folded`
    (something else is shown in their place).
    """

    id: int
    first: int
    last: int
    tokens: int
    status: str


def groups_of(thread: Thread) -> list[MessageGroup]:
    """Every group that has an original, in order."""
    kinds = {
        report.key: report.kind
        for report in thread.reports
        if report.kind in ("digest", "revise", "snip", "condense")
    }
    found: list[MessageGroup] = []
    first = 0
    for number, leaves in groupby(thread.leaves, attrgetter("group")):
        tokens = [leaf.tokens for leaf in leaves]
        indexes = range(first, first + len(tokens))
        found.append(
            MessageGroup(
                id=number,
                first=first,
                last=indexes[-1],
                tokens=sum(tokens),
                status=_status(thread, kinds, indexes),
            )
        )
        first = indexes.stop
    return found


def last_shown_group(groups: Sequence[MessageGroup]) -> MessageGroup | None:
    """The last group of which the model sees anything."""
    return next((group for group in reversed(groups) if group.status == "active"), None)


def _status(thread: Thread, kinds: dict[str, str], indexes: range) -> str:
    keys = [original_key(index) for index in indexes]
    if thread.log.purged.issuperset(keys):
        return "purged"
    around = [{kinds.get(fold) for fold in thread.path(key)} for key in keys]
    if not all(around):
        return "active"
    return "dropped" if all("snip" in folds for folds in around) else "folded"
