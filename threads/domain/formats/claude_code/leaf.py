"""Where a session continues when it is resumed, as far as its lines tell.

Claude Code notes the last line of the conversation in lines of the type `last-prompt`. A rewind, or
the choice of another branch, is noted as `explicit` and applies until something is said or done
again; notes before a compaction are forgotten. Other notes apply only if the file continues
elsewhere. Qoder, which writes the same sessions, calls the note `active-leaf`.
"""

from typing import Any

from threads.domain.formats.io import fields
from threads.domain.formats.kit.graph.record_branches import GraphBranches
from threads.domain.formats.kit.graph.record_graph import (
    MESSAGE,
    NOBODY,
    WORDS,
    RecordGraph,
)

from . import record as claude_record

_NOTES = frozenset({"last-prompt", "active-leaf"})
_CHAINED = frozenset({"user", "assistant", "system", "attachment"})
_BRIEFING = "attachment/fork_briefing"
"""An attachment that the tool adds to the abandoned line when it branches."""


class SessionLeaf:
    """The line from which a session says it continues."""

    def __init__(self) -> None:
        self.id = ""
        """The line's id; empty if none is named."""
        self.is_explicit = False
        """Whether it was explicitly chosen, and nothing has followed since."""

    def begins_anew(self, type_: str, record: dict[str, Any]) -> bool:
        """Take note of a line, given its full type; returns whether the conversation restarts."""
        if type_ in _NOTES:
            return self._note(record)
        if not (self.is_explicit or (self.id and type_ == claude_record.BOUNDARY)):
            return False
        is_chained = type_.partition("/")[0] in _CHAINED and type_ != _BRIEFING
        if is_chained and record.get("uuid") and not record.get("isSidechain"):
            self.is_explicit = False
            if type_ == claude_record.BOUNDARY:
                self.id = ""
        return False

    def _note(self, record: dict[str, Any]) -> bool:
        id_, is_chosen = fields.text(record, "leafUuid"), record.get("explicit") is True
        if id_:
            self.is_explicit = is_chosen or (self.is_explicit and id_ == self.id)
            self.id = id_
            return False
        if not is_chosen or record.get("leafUuid", "") is not None:
            return False
        self.id, self.is_explicit = "", False
        return True

    def branches(self, graph: RecordGraph) -> GraphBranches:
        """The conversations; the thread is the one that a resumed session continues."""
        leaf = graph.find(self.id) if self.id else NOBODY
        if leaf == NOBODY or graph.groups[leaf]:
            return GraphBranches(graph)
        root = graph.root_of(leaf)
        if root != NOBODY and graph.flags[root] & WORDS and _is_spoken(graph, root):
            graph.begin_at(root)
        found = GraphBranches(graph)
        end = found.message_at(leaf)
        if end == NOBODY or not (self.is_explicit or end not in found.of(0)[0].order):
            return found
        return GraphBranches(graph, end)


def _is_spoken(graph: RecordGraph, number: int) -> bool:
    """Whether the thread has a message before a line."""
    before = zip(graph.flags[:number], graph.groups, strict=False)
    return any(flags & MESSAGE and not group for flags, group in before)
