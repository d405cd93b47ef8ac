"""Records the messages that an imported conversation left when it was rewound.

They are messages that a client no longer sends: snips by the actor `client`, which act before
everything else, so that nobody's operation is in their way. A snip that a person switched off
stays off.
"""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import NamedTuple

from operations.domain.log.entry import CLIENT, EditState, RecordedEdit
from operations.domain.log.log import Log
from operations.domain.log.operation import Operation, Snip, named_keys
from operations.domain.tree.key import original_index, original_key

from .alignment import GivenMessages
from .client_entries import ClientEntries, RequestDecision, WantedEdit

TITLE = "Left by a rewind"
_NOTHING = GivenMessages((), lambda _: b"")
"""The client sends nothing in place of what was left."""


class LeftMessages(NamedTuple):
    """The entries that record what a conversation left, and what they change."""

    operations: list[Operation]
    titles: list[str]
    left: list[range]
    """The originals that are folded from now on."""
    shown: list[range]
    """The originals that are no longer folded."""


def left_messages(
    log: Log, left: Iterable[range], own: AbstractSet[int]
) -> LeftMessages:
    """The entries after which the log folds exactly these originals as left.

    `own` are the numbers of the entries that recorded this before; a client's other edits stay.
    """
    known = [one for one in log.client_edits if one.entry.number in own]
    wanted = [run for run in left if not _is_wanted_back(log, known, run)]
    entries = ClientEntries(_NOTHING, log, known)
    for run in wanted:
        edit = Snip(targets=tuple(map(original_key, run)))
        entries.want(WantedEdit(edit, range(0), RequestDecision.REGENERATED))
    entries.finish()
    before, after = _folded(known), {*chain.from_iterable(wanted)}
    titles = [title and TITLE for title in entries.titles]
    return LeftMessages(
        entries.operations, titles, _runs(after - before), _runs(before - after)
    )


def _folded(known: Iterable[RecordedEdit]) -> set[int]:
    return {
        index
        for one in known
        if one.state is EditState.ON
        for key in named_keys(one.edit)
        if (index := original_index(key)) is not None
    }


def _is_wanted_back(
    log: Log, known: Iterable[RecordedEdit], run: Sequence[int]
) -> bool:
    """Whether somebody switched off the snip of exactly this run."""
    targets = tuple(map(original_key, run))
    for one in known:
        if isinstance(one.edit, Snip) and one.edit.targets == targets:
            controls = log.controls(one.entry.number)
            is_on = one.state is EditState.ON
            if controls and not is_on and controls[-1].actor != CLIENT:
                return True
    return False


def _runs(indexes: Iterable[int]) -> list[range]:
    found: list[range] = []
    for index in sorted(indexes):
        if found and found[-1].stop == index:
            found[-1] = range(found[-1].start, index + 1)
        else:
            found.append(range(index, index + 1))
    return found
