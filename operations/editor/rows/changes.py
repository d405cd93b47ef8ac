"""The changes that a waiting replacement or redaction would make, as its note prints them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from operations.domain.text.pattern import PatternMatch, cut
from operations.domain.text.reading import PartReading
from operations.domain.tree.key import Key
from operations.domain.tree.span import MASK, Span
from operations.messages.names import name_of
from operations.messages.reader import MessageText
from threads.rendering.hidden import visible

from .look import Look


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownChange:
    """A span of text with its replacement: see `note.html`."""

    key: Key
    name: str
    before: str
    old: str
    new: str
    behind: str


def changes_of(
    look: Look, word: str, spans: Iterable[Span], texts: Mapping[Key, MessageText]
) -> list[ShownChange]:
    """The changes of these spans; `texts` are the messages as they were recorded.

    Spans that can no longer be read are left out. Text around them that other operations mask
    stays masked.
    """
    found = []
    for span in spans:
        parts = texts[span.key].parts if span.key in texts else ()
        if span.part >= len(parts):
            continue
        own = look.thread.spans(span.key)
        reading = PartReading(span.key, span.part, parts[span.part], own)
        place = reading.shown(span.start, span.end)
        if place is None:
            continue
        before, old, behind = PatternMatch(0, reading, *place).excerpt
        new = span.text or (MASK if word == "redact" else "")
        found.append(
            ShownChange(
                key=span.key,
                name=name_of(look.thread, span.key),
                before=visible(before),
                old=visible(old),
                new=visible(cut(new)),
                behind=visible(behind),
            )
        )
    return found
