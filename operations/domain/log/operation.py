"""The union of everything that a log entry can hold."""

from operations.domain.tree.key import Key
from operations.domain.tree.made import New
from operations.domain.tree.span import MASK, Span

from .condition import ALWAYS, Condition, Match
from .control import (
    Accept,
    ActivateTags,
    Amend,
    Control,
    Purge,
    Redo,
    Reject,
    Revert,
    Switch,
    Toggle,
    Undo,
)
from .edit import (
    Condense,
    Digest,
    Edit,
    Fold,
    Insert,
    Redact,
    Replace,
    Resequence,
    Revise,
    Snip,
    Tag,
)

Operation = Edit | Control

EDITS: dict[str, type[Edit]] = {
    edit.kind: edit
    for edit in (
        Tag,
        Digest,
        Revise,
        Snip,
        Condense,
        Insert,
        Resequence,
        Replace,
        Redact,
    )
}
CONTROLS: dict[str, type[Control]] = {
    control.kind: control
    for control in (
        Toggle,
        Revert,
        Accept,
        Reject,
        Amend,
        ActivateTags,
        Purge,
        Undo,
        Redo,
    )
}

__all__ = [
    "ALWAYS",
    "CONTROLS",
    "EDITS",
    "MASK",
    "Accept",
    "ActivateTags",
    "Amend",
    "Condense",
    "Condition",
    "Control",
    "Digest",
    "Edit",
    "Fold",
    "Insert",
    "Key",
    "Match",
    "New",
    "Operation",
    "Purge",
    "Redact",
    "Redo",
    "Reject",
    "Replace",
    "Resequence",
    "Revert",
    "Revise",
    "Snip",
    "Span",
    "Switch",
    "Tag",
    "Toggle",
    "Undo",
]
