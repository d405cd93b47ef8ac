"""A replace or redact as it is asked for: where its text stands is yet to be found.

Every other edit names messages; these name words, which only who can read the session finds.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from operations.domain.log.log import Log
from operations.domain.log.operation import (
    ALWAYS,
    Condition,
    Redact,
    Replace,
    TextEdit,
    spans_of,
)
from operations.domain.thread.node import FoldNode
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, entry_number, made_key
from operations.domain.tree.span import Span

from .pattern import Pattern
from .reading import HeldText
from .resolution import FLOOR


@dataclass(frozen=True, slots=True, kw_only=True)
class TextEditRequest:
    """What is asked for: patterns to search, or spans by their places.

    A span without a fingerprint takes whatever stands there.
    """

    kind: type[TextEdit]
    patterns: tuple[Pattern, ...] = ()
    spans: tuple[Span, ...] = ()
    include_folded: bool = False
    condition: Condition = ALWAYS

    @property
    def floor(self) -> int:
        """The characters that it changes at least: words to be masked may be short."""
        return FLOOR if self.kind is Replace else 1

    def edit(self, spans: Iterable[Span]) -> Replace | Redact:
        """The edit that changes these spans."""
        return self.kind(spans=tuple(spans), condition=self.condition)


def keys_to_read(thread: Thread, *, include_folded: bool = False) -> list[Key]:
    """The messages that the thread shows, in their order; or those in folds as well."""
    if not include_folded:
        return [shown.key for shown in thread.effective()]
    folds = frozenset(thread.folds)
    found: list[Key] = []
    waiting = thread.keys[::-1]
    while waiting:
        key = waiting.pop()
        if key not in folds:
            found.append(key)
            continue
        node = thread.node(key)
        messages = node.messages if isinstance(node, FoldNode) else ()
        number = entry_number(key) or 0
        found += [made_key(number, place) for place in range(len(messages))]
        waiting += thread.child_keys(key)[::-1]
    return found


def held_text(log: Log) -> dict[tuple[Key, int], list[HeldText]]:
    """What replaces and redactions that are not withdrawn hold, by message and part."""
    held: dict[tuple[Key, int], list[HeldText]] = {}
    for number, recorded in log.edits.items():
        for span in () if recorded.withdrawn else spans_of(recorded.edit):
            place = HeldText(span.start, span.end, number)
            held.setdefault((span.key, span.part), []).append(place)
    return held
