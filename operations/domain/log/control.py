"""The entries that act on the log itself: one frozen dataclass a kind."""

from dataclasses import dataclass
from typing import ClassVar

from operations.domain.tree.key import Key

from .edit import Edit


@dataclass(frozen=True, slots=True, kw_only=True)
class Toggle:
    """Switch edits on or off; switching a reverted one on restores it."""

    kind: ClassVar[str] = "toggle"
    operations: tuple[Key, ...]
    active: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Revert:
    """Take edits back."""

    kind: ClassVar[str] = "revert"
    operations: tuple[Key, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Accept:
    """Let proposed edits apply."""

    kind: ClassVar[str] = "accept"
    operations: tuple[Key, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reject:
    """Decline proposed edits."""

    kind: ClassVar[str] = "reject"
    operations: tuple[Key, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Amend:
    """Give an edit new words or a new condition: `edit` has its kind and its targets."""

    kind: ClassVar[str] = "amend"
    operation: Key
    edit: Edit


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivateTags:
    """Set the session's active tags."""

    kind: ClassVar[str] = "activate_tags"
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Purge:
    """Record that the bodies of messages were destroyed: permanent, never undone."""

    kind: ClassVar[str] = "purge"
    targets: tuple[Key, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo:
    """Take back entries, by their numbers: edits are reverted, controls as if not there."""

    kind: ClassVar[str] = "undo"
    entries: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Redo:
    """Bring back entries that were undone, by their numbers."""

    kind: ClassVar[str] = "redo"
    entries: tuple[int, ...]


Switch = Toggle | Revert | Accept | Reject
"""Controls that act on the state of edits."""
Control = Toggle | Revert | Accept | Reject | Amend | ActivateTags | Purge | Undo | Redo
