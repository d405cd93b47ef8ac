"""What an entry of the log can hold: an operation that edits, or a control.

`apply` carries out an edit on a draft of the thread. Targets are keys of leaves: an index range
or the key of a fold is resolved before the edit is recorded. `apply` never raises: an edit with
nothing to act on is void, and one that would cut through a fold is a conflict. The order of a
class's fields is that of its payload in the log.
"""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from operations.domain.tree.draft import ThreadDraft
from operations.domain.tree.key import Key
from operations.domain.tree.leaf import MadeMessage
from operations.domain.tree.span import Span
from operations.domain.tree.status import EditOutcome

Match = Literal["all", "any", "none"]


def objective_tag(objective: str) -> str:
    """The active tag that stands for an objective."""
    return f"objective:{objective}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """Tags and objectives of which all, any or none must be active for an operation to apply.

    A condition without tags and objectives always holds, whatever `match` says.
    """

    tags: tuple[str, ...] = ()
    objectives: tuple[str, ...] = ()
    match: Match = "all"

    def holds(self, active_tags: AbstractSet[str]) -> bool:
        """Whether an operation under this condition applies while these tags are active."""
        if not self.tags and not self.objectives:
            return True
        named = {*self.tags, *map(objective_tag, self.objectives)}
        match self.match:
            case "all":
                return named <= active_tags
            case "any":
                return not named.isdisjoint(active_tags)
            case "none":
                return named.isdisjoint(active_tags)

    def unmet(self, active_tags: AbstractSet[str]) -> str:
        """Why the condition doesn't hold under these tags: what is missing, or in the way."""
        named = [(tag, tag) for tag in self.tags]
        named += [(objective_tag(one), f'objective "{one}"') for one in self.objectives]
        active = [words for tag, words in named if tag in active_tags]
        missing = [words for tag, words in named if tag not in active_tags]
        match self.match:
            case "all":
                return f"Not active: {', '.join(missing)}."
            case "any":
                return f"None of these is active: {', '.join(missing)}."
            case "none":
                return (
                    f"It applies only while these are not active: {', '.join(active)}."
                )


ALWAYS = Condition()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """Give leaves tags."""

    kind: ClassVar[str] = "tag"
    targets: tuple[Key, ...]
    tags: tuple[str, ...]
    condition: Condition = ALWAYS

    def apply(self, draft: ThreadDraft, number: int) -> EditOutcome:
        """Add the tags to the targets that are in the tree."""
        return draft.tag(number, self.targets, self.tags)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fold:
    targets: tuple[Key, ...]
    messages: tuple[MadeMessage, ...]
    condition: Condition = ALWAYS

    def apply(self, draft: ThreadDraft, number: int) -> EditOutcome:
        """Fold the targets."""
        return draft.fold(number, self.targets, self.messages)


class Digest(_Fold):
    """Fold leaves and show one message, their summary; its role is system, stored role-neutral."""

    __slots__ = ()
    kind: ClassVar[str] = "digest"


class Revise(_Fold):
    """Fold leaves and show other messages."""

    __slots__ = ()
    kind: ClassVar[str] = "revise"


class Condense(_Fold):
    """Fold one message and show a shorter one that keeps its role and tool id."""

    __slots__ = ()
    kind: ClassVar[str] = "condense"


@dataclass(frozen=True, slots=True, kw_only=True)
class Snip:
    """Fold leaves and show nothing."""

    kind: ClassVar[str] = "snip"
    messages: ClassVar[tuple[MadeMessage, ...]] = ()
    targets: tuple[Key, ...]
    condition: Condition = ALWAYS

    def apply(self, draft: ThreadDraft, number: int) -> EditOutcome:
        """Fold the targets."""
        return draft.fold(number, self.targets, ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Insert:
    """Put messages after an anchor: a leaf, a fold, or None for the top of the thread."""

    kind: ClassVar[str] = "insert"
    after: Key | None
    messages: tuple[MadeMessage, ...]
    condition: Condition = ALWAYS

    def apply(self, draft: ThreadDraft, number: int) -> EditOutcome:
        """Insert the messages after those inserted at the anchor before."""
        return draft.insert(number, self.after, self.messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resequence:
    """Rearrange leaves within the places that they hold, in the order listed."""

    kind: ClassVar[str] = "resequence"
    order: tuple[Key, ...]
    moved: tuple[Key, ...] = ()
    """The keys in `order` that the caller said were moved. The operation is named after them;
    where they end up doesn't depend on it. In a swap, nothing else tells which of the two moved."""
    condition: Condition = ALWAYS

    def apply(self, draft: ThreadDraft, number: int) -> EditOutcome:
        """Permute the nodes that hold the leaves, in the lowest container that holds all."""
        return draft.resequence(number, self.order, self.moved)


@dataclass(frozen=True, slots=True, kw_only=True)
class _TextEdit:
    spans: tuple[Span, ...]
    condition: Condition = ALWAYS

    def apply(self, draft: ThreadDraft, number: int) -> EditOutcome:
        """Change the spans whose text is still what they were recorded for."""
        return draft.change(number, self.spans, redacted=isinstance(self, Redact))


class Replace(_TextEdit):
    """Replace text in messages, wherever they are in the thread."""

    __slots__ = ()
    kind: ClassVar[str] = "replace"


class Redact(_TextEdit):
    """Mask text in messages, at every door."""

    __slots__ = ()
    kind: ClassVar[str] = "redact"


Fold = Digest | Revise | Snip | Condense
TextEdit = Replace | Redact
Edit = Tag | Digest | Revise | Snip | Condense | Insert | Resequence | Replace | Redact


def messages_of(edit: Edit) -> tuple[MadeMessage, ...]:
    """The messages that an edit makes: those its fold shows, or those it inserts."""
    return getattr(edit, "messages", ())


def spans_of(edit: Edit) -> tuple[Span, ...]:
    """The spans that an edit changes."""
    return edit.spans if isinstance(edit, TextEdit) else ()


def named_keys(edit: Edit) -> tuple[Key, ...]:
    """The keys that an edit names: its targets in order, or the anchor of an insert."""
    match edit:
        case Insert():
            return () if edit.after is None else (edit.after,)
        case Resequence():
            return edit.order
        case Replace() | Redact():
            return tuple(dict.fromkeys(span.key for span in edit.spans))
        case _:
            return edit.targets


def retargets(edit: Edit, other: Edit) -> bool:
    """Whether two edits differ in kind or in what they act on."""
    return (
        edit.kind != other.kind
        or named_keys(edit) != named_keys(other)
        or list(map(_place, spans_of(edit))) != list(map(_place, spans_of(other)))
    )


def _place(span: Span) -> tuple[Key, int, int, int, str]:
    return span.key, span.part, span.start, span.end, span.sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class _Switch:
    operations: tuple[Key, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Toggle(_Switch):
    """Switch edits on or off; switching a reverted one on restores it."""

    kind: ClassVar[str] = "toggle"
    active: bool
    actor: str = ""
    """The actor, if all edits of one were meant: used in names, and to switch them back on."""


class Revert(_Switch):
    """Take edits back."""

    __slots__ = ()
    kind: ClassVar[str] = "revert"


class Accept(_Switch):
    """Let proposed edits apply."""

    __slots__ = ()
    kind: ClassVar[str] = "accept"


class Reject(_Switch):
    """Decline proposed edits."""

    __slots__ = ()
    kind: ClassVar[str] = "reject"


@dataclass(frozen=True, slots=True, kw_only=True)
class Amend:
    """Give an edit new words or a new condition; `edit` keeps its kind and targets."""

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
    """Take back entries, given by number: edits are reverted, controls no longer count."""

    kind: ClassVar[str] = "undo"
    entries: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Redo:
    """Bring back undone entries, given by number."""

    kind: ClassVar[str] = "redo"
    entries: tuple[int, ...]


Switch = Toggle | Revert | Accept | Reject
"""Controls that change the state of edits."""
Control = Toggle | Revert | Accept | Reject | Amend | ActivateTags | Purge | Undo | Redo
Operation = Edit | Control

EDITS: dict[str, type[Edit]] = {edit.kind: edit for edit in get_args(Edit)}
CONTROLS: dict[str, type[Control]] = {one.kind: one for one in get_args(Control)}
