"""The operations that edit: one frozen dataclass a kind.

Each says in `apply` what it does to a draft of the thread. Targets are keys of leaves: an
index range or the key of a fold is resolved before an edit is recorded. `apply` never
raises; what it finds nothing to act on is void, what would cut through a fold a conflict.
"""

from dataclasses import dataclass
from typing import ClassVar

from operations.domain.tree.draft import ThreadDraft
from operations.domain.tree.key import Key
from operations.domain.tree.made import New
from operations.domain.tree.span import Span
from operations.domain.tree.status import EditOutcome

from .condition import ALWAYS, Condition


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """Give leaves tags."""

    kind: ClassVar[str] = "tag"
    targets: tuple[Key, ...]
    tags: tuple[str, ...]
    condition: Condition = ALWAYS

    def apply(self, draft: ThreadDraft, number: int) -> EditOutcome:
        """Add the tags to those of the targets that are in the tree."""
        return draft.tag(self.targets, self.tags)


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """Fold leaves and show one message, their summary: role system, stored role-neutral."""

    kind: ClassVar[str] = "digest"
    targets: tuple[Key, ...]
    messages: tuple[New, ...]
    condition: Condition = ALWAYS

    def apply(self, draft: ThreadDraft, number: int) -> EditOutcome:
        """Fold the targets."""
        return draft.fold(number, self.targets, self.messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Revise:
    """Fold leaves and show other messages."""

    kind: ClassVar[str] = "revise"
    targets: tuple[Key, ...]
    messages: tuple[New, ...]
    condition: Condition = ALWAYS

    def apply(self, draft: ThreadDraft, number: int) -> EditOutcome:
        """Fold the targets."""
        return draft.fold(number, self.targets, self.messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snip:
    """Fold leaves and show nothing."""

    kind: ClassVar[str] = "snip"
    targets: tuple[Key, ...]
    condition: Condition = ALWAYS

    @property
    def messages(self) -> tuple[New, ...]:
        """What the fold shows: nothing."""
        return ()

    def apply(self, draft: ThreadDraft, number: int) -> EditOutcome:
        """Fold the targets."""
        return draft.fold(number, self.targets, ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Condense:
    """Fold one message and show a shorter one that keeps its role and tool id."""

    kind: ClassVar[str] = "condense"
    targets: tuple[Key, ...]
    messages: tuple[New, ...]
    condition: Condition = ALWAYS

    def apply(self, draft: ThreadDraft, number: int) -> EditOutcome:
        """Fold the target."""
        return draft.fold(number, self.targets, self.messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Insert:
    """Put messages behind an anchor: a leaf or a fold; None is the top of the thread."""

    kind: ClassVar[str] = "insert"
    after: Key | None
    messages: tuple[New, ...]
    condition: Condition = ALWAYS

    def apply(self, draft: ThreadDraft, number: int) -> EditOutcome:
        """Insert the messages, behind what was inserted at the anchor before."""
        return draft.insert(number, self.after, self.messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resequence:
    """Let leaves take, in the order listed, the places that they hold."""

    kind: ClassVar[str] = "resequence"
    order: tuple[Key, ...]
    condition: Condition = ALWAYS

    def apply(self, draft: ThreadDraft, number: int) -> EditOutcome:
        """Permute the nodes that hold the leaves, in the lowest container that holds all."""
        return draft.resequence(number, self.order)


@dataclass(frozen=True, slots=True, kw_only=True)
class Replace:
    """Let messages read otherwise in places, wherever they stand."""

    kind: ClassVar[str] = "replace"
    spans: tuple[Span, ...]
    condition: Condition = ALWAYS

    def apply(self, draft: ThreadDraft, number: int) -> EditOutcome:
        """Change the spans whose text still is what they were recorded for."""
        return draft.change(number, self.spans, redacted=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Redact:
    """Mask text in messages, at every door."""

    kind: ClassVar[str] = "redact"
    spans: tuple[Span, ...]
    condition: Condition = ALWAYS

    def apply(self, draft: ThreadDraft, number: int) -> EditOutcome:
        """Mask the spans whose text still is what they were recorded for."""
        return draft.change(number, self.spans, redacted=True)


Fold = Digest | Revise | Snip | Condense
TextEdit = Replace | Redact
Edit = Tag | Digest | Revise | Snip | Condense | Insert | Resequence | Replace | Redact


def messages_of(edit: Edit) -> tuple[New, ...]:
    """The messages that an edit makes: shows as a fold, or inserts."""
    return getattr(edit, "messages", ())


def spans_of(edit: Edit) -> tuple[Span, ...]:
    """The spans that an edit changes."""
    return edit.spans if isinstance(edit, Replace | Redact) else ()


def named_keys(edit: Edit) -> tuple[Key, ...]:
    """The keys that an edit names: its targets in its order, or the anchor of an insert."""
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
    """Whether another edit is of another kind, or acts on other places."""
    return (
        edit.kind != other.kind
        or named_keys(edit) != named_keys(other)
        or list(map(_place, spans_of(edit))) != list(map(_place, spans_of(other)))
    )


def _place(span: Span) -> tuple[Key, int, int, int, str]:
    return span.key, span.part, span.start, span.end, span.sha256
