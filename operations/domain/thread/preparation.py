"""Prepares an edit for recording: well formed, with every target resolved to leaves."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from contextstudio.accounts.domain.errors import Invalid, Place
from operations.domain.log import operation as op
from operations.domain.tree.key import (
    Key,
    entry_key,
    made_key,
    original_index,
    parse_made_key,
)
from operations.domain.tree.leaf import MadeMessage
from operations.domain.tree.span import Span, overlapping_pairs, span_matches
from threads.domain.part import Text

from .thread import Thread


def prepare(
    thread: Thread, edits: Sequence[op.Edit], *, bundle: bool = False
) -> list[op.Edit]:
    """Edits with leaf keys only, as they would be recorded at the head of a thread.

    Later edits may name what earlier ones make. Raises Invalid, with one error for each malformed
    edit; the first gives the message.
    """
    recorded: dict[int, op.Edit] = {}
    prepared: list[op.Edit] = []
    errors: list[Invalid] = []
    for place, edit in enumerate(edits):
        at: Place = ("operations", place) if bundle else ()
        try:
            ready = _Preparation(thread, recorded, at).prepare(edit)
        except Invalid as error:
            errors.append(error)
            continue
        prepared.append(ready)
        recorded[thread.head + 1 + place] = ready
    if errors:
        first = errors[0]
        raise Invalid(first.message, at=first.at, code=first.code, errors=errors)
    return prepared


class _Preparation:
    """Prepares one edit. `recorded` are those before it in the bundle; `at` is its place there."""

    def __init__(
        self, thread: Thread, recorded: Mapping[int, op.Edit], at: Place
    ) -> None:
        self._thread = thread
        self._recorded = recorded
        self._at = at

    def _edit(self, number: int) -> op.Edit | None:
        if number in self._recorded:
            return self._recorded[number]
        recorded = self._thread.log.edits.get(number)
        return recorded.edit if recorded else None

    def prepare(self, edit: op.Edit) -> op.Edit:
        match edit:
            case op.Insert(after=after):
                self._messages(edit.messages)
                return replace(
                    edit, after=after if after is None else self._anchor(after)
                )
            case op.Resequence(order=order, moved=moved):
                listed = self._leaves(order, "order", distinct=True)
                named = self._leaves(moved, "moved") if moved else ()
                return replace(edit, order=listed, moved=named)
            case op.Replace(spans=spans) | op.Redact(spans=spans):
                self._spans(spans, redacted=isinstance(edit, op.Redact))
                return edit
            case op.Tag(tags=tags):
                if not tags or not all(tag.strip() for tag in tags):
                    raise self._invalid(
                        "A tag must not be empty.", "tags", code="empty"
                    )
            case op.Digest() | op.Revise() | op.Condense():
                self._messages(edit.messages)
        targets = self._leaves(edit.targets, "targets")
        if isinstance(edit, op.Digest):
            self._digest(edit)
        elif isinstance(edit, op.Condense):
            self._condense(edit, targets)
        return replace(edit, targets=targets)

    def _leaves(
        self, keys: Sequence[Key], field: str, *, distinct: bool = False
    ) -> tuple[Key, ...]:
        if not keys:
            raise self._invalid("No messages are given.", field, code="empty")
        found: dict[Key, None] = {}
        for place, key in enumerate(keys):
            leaves = self._expand(key)
            if leaves is None:
                raise self._unknown(key, field, place)
            if distinct and not found.keys().isdisjoint(leaves):
                raise self._invalid(
                    f"{key} is listed twice.", field, place, code="duplicate"
                )
            found.update(dict.fromkeys(leaves))
        return tuple(found)

    def _expand(self, key: Key) -> Sequence[Key] | None:
        """The leaves that a target means: itself, or all leaves of a fold or an insert."""
        index = original_index(key)
        if index is not None:
            return [key] if index < self._thread.message_count else None
        number, place = parse_made_key(key) or (0, None)
        edit = self._edit(number)
        count = len(op.messages_of(edit)) if edit else 0
        if edit is None or (place is not None and place >= count):
            return None
        if isinstance(edit, op.Insert):
            places = range(count) if place is None else [place]
            return [made_key(number, each) for each in places]
        if not isinstance(edit, op.Fold):
            return None
        fold = entry_key(number)
        if self._thread.holds(fold):
            return self._thread.leaf_keys(fold)
        return self._recorded_leaves(edit.targets)

    def _recorded_leaves(self, targets: Sequence[Key]) -> Sequence[Key]:
        """The leaves of a fold that is not in the thread. Logs from elsewhere may name folds."""
        found: dict[Key, None] = {}
        seen: set[Key] = set()
        waiting = list(reversed(targets))
        while waiting:
            key = waiting.pop()
            if key in seen:
                continue
            seen.add(key)
            number, _ = parse_made_key(key) or (0, None)
            edit = self._edit(number)
            if isinstance(edit, op.Fold) and not self._thread.holds(entry_key(number)):
                waiting.extend(reversed(edit.targets))
            else:
                found.update(dict.fromkeys(self._expand(key) or ()))
        return tuple(found)

    def _anchor(self, key: Key) -> Key:
        leaves = self._expand(key)
        if not leaves:
            raise self._unknown(key, "after")
        number, _ = parse_made_key(key) or (0, None)
        if isinstance(self._edit(number), op.Fold):
            return entry_key(number)
        return leaves[-1]

    def _spans(self, spans: Sequence[Span], *, redacted: bool) -> None:
        if not spans:
            raise self._invalid("No spans are given.", "spans", code="empty")
        for place, span in enumerate(spans):
            if self._expand(span.key) != [span.key] and not self._made(span.key):
                raise self._unknown(span.key, "spans", place)
            if span.part < 0 or not 0 <= span.start < span.end:
                raise self._invalid(
                    "A span must cover text.", "spans", place, code="range"
                )
        for _, place in overlapping_pairs(enumerate(spans)):
            raise self._invalid("Spans overlap.", "spans", place, code="overlap")
        for place, span in enumerate(spans):
            made = self._made(span.key)
            said = span_matches(made.parts, span) if made else True
            if not (said or (redacted and self._was_once_covered(span))):
                sentence = (
                    f"The text in {span.key} does not match the sha256 of the span."
                )
                raise self._invalid(sentence, "spans", place, code="text")

    def _made(self, key: Key) -> MadeMessage | None:
        number, _ = parse_made_key(key) or (0, None)
        return _message(self._edit(number), key)

    def _was_once_covered(self, span: Span) -> bool:
        """Whether a message contained the text of a span before its operation was amended."""
        number, _ = parse_made_key(span.key) or (0, None)
        words = (_message(one, span.key) for one in self._thread.log.wordings(number))
        return any(one is not None and span_matches(one.parts, span) for one in words)

    def _messages(self, messages: Sequence[MadeMessage]) -> None:
        if not messages:
            raise self._invalid(
                "At least one message is required.", "messages", code="empty"
            )

    def _digest(self, edit: op.Digest) -> None:
        self._only_one(edit.messages, "messages")
        parts = edit.messages[0].parts
        if not any(isinstance(part, Text) and part.text.strip() for part in parts):
            raise self._invalid("The summary is empty.", "messages", 0, code="empty")

    def _condense(self, edit: op.Condense, targets: Sequence[Key]) -> None:
        self._only_one(edit.messages, "messages")
        self._only_one(targets, "targets")
        new = self._made(targets[0])
        index = original_index(targets[0])
        role = new.role if new else self._thread.leaves[index or 0].role
        if edit.messages[0].role != role:
            sentence = "A condensed message must keep its role."
            raise self._invalid(sentence, "messages", 0, code="role")

    def _only_one(self, values: Sequence[object], field: str) -> None:
        if len(values) != 1:
            raise self._invalid("Exactly one is required.", field, code="count")

    def _unknown(self, key: Key, *place: str | int) -> Invalid:
        return self._invalid(f"There is no message {key}.", *place, code="unknown_key")

    def _invalid(self, sentence: str, *place: str | int, code: str) -> Invalid:
        return Invalid(sentence, at=(*self._at, *place), code=code)


def _message(edit: op.Edit | None, key: Key) -> MadeMessage | None:
    _, place = parse_made_key(key) or (0, None)
    made = op.messages_of(edit) if edit else ()
    return made[place] if place is not None and place < len(made) else None
