"""Which group each node at the top of a thread goes with."""

from collections.abc import Mapping

from operations.domain.log.entry import CLIENT
from operations.domain.providers.request import Outgoing, single_group
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, entry_number, original_index

from .markers import Place


def joined_groups(thread: Thread) -> Mapping[int, int]:
    """Groups whose question its client went back behind, and the group that goes on instead.

    A client that repeats an earlier question gets an answer that is recorded behind everything it
    took back, as part of the last group there. What the model sees of it answers the question
    before the fold.
    """
    joined: dict[int, int] = {}
    for fold in thread.top_folds if thread.log.client_edits else ():
        made = thread.log.edits[entry_number(fold) or 0]
        if made.entry.actor != CLIENT or made.edit.kind != "snip":
            continue
        position = thread.position(fold)
        held, before = thread.held_at(position), _group_before(thread, position)
        # Where no question stands before it, its client cut off the start of the conversation.
        if held and (on := joined.get(before, before)):
            joined |= {group: on for group in held.groups if group > on}
    return joined


def _group_before(thread: Thread, position: int) -> int:
    """The group of the last original before a position; 0 if there is none."""
    for place in range(position - 1, -1, -1):
        index = original_index(thread.keys[place])
        if index is None and (held := thread.held_at(place)):
            index = held.last
        if index is not None:
            return thread.leaves[index].group
    return 0


class NodePlaces:
    """Iterates over the nodes at the top of the thread and works out the groups of each."""

    def __init__(self, thread: Thread) -> None:
        self._leaves, self._joined = thread.leaves, joined_groups(thread)
        self._held = thread.held_at
        group = thread.leaves[0].group if thread.leaves else 0
        self.last: Place | Outgoing = Place("", group, single_group(group))

    def next(self, node: Key, position: int) -> Place:
        """The place of the next node. An insert takes the groups of the node before it."""
        index = original_index(node)
        group, groups = self.last.group, self.last.groups
        if index is not None:
            group = self._leaves[index].group
            group = self._joined.get(group, group)
            groups = single_group(group)
        elif (held := self._held(position)) and held.first is not None:
            group, groups = self._leaves[held.first].group, held.groups
        self.last = Place(node, group, groups)
        return self.last
