"""Extends redactions to copies of their text in places where nobody can look for them.

A search finds what the thread shows. The same text may be in a folded message, in an insert or a
digest that is off, proposed or set aside, and in words that an operation had before it was
amended. All of these can be unfolded, come back by a switch, or be read in the log and in
exports.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from operations.domain.log.operation import Edit, Redact, messages_of
from operations.domain.text.reading import held_text, keys_to_read
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, made_key
from operations.domain.tree.span import MASK, Span, covered_text, find_text_spans
from operations.messages.reader import MessageReader
from operations.messages.saving import with_saved
from operations.messages.search import AT_ONCE
from threads.domain.part import Part
from threads.models import Session


def with_unseen(session: Session, thread: Thread, edits: Sequence[Edit]) -> list[Edit]:
    """The edits, with redactions extended to what the thread doesn't show."""
    if not any(isinstance(edit, Redact) for edit in edits):
        return list(edits)
    taken = {
        place: [range(one.start, one.end) for one in held]
        for place, held in held_text(thread.log).items()
    }
    redactions = [edit for edit in edits if isinstance(edit, Redact)]
    for span in (span for edit in redactions for span in edit.spans):
        _take(taken, span)
    wanted = _texts(session, thread, redactions)
    found: list[list[Span]] = [[] for _ in redactions]
    for key, parts in chain(_unseen(thread), _folded(session, thread)):
        for texts, spans in zip(wanted, found, strict=True):
            saying = find_text_spans(key, parts, texts) if texts else ()
            spans += [span for span in saying if _take(taken, span)]
    extended = (
        replace(edit, spans=(*edit.spans, *with_saved(session, thread, Redact, spans)))
        if spans
        else edit
        for edit, spans in zip(redactions, found, strict=True)
    )
    return [next(extended) if isinstance(edit, Redact) else edit for edit in edits]


def _texts(
    session: Session, thread: Thread, redactions: Sequence[Redact]
) -> list[dict[str, str]]:
    """The texts that each redaction masks, with the masks.

    A text masked by several is the first's.
    """
    reader, known = MessageReader(session, thread), set[str]()
    found = []
    for edit in redactions:
        said = reader.recorded(span.key for span in edit.spans)
        texts = {
            text: span.text or MASK
            for span in edit.spans
            if span.key in said
            and (text := covered_text(said[span.key].parts, span))
            and text not in known
        }
        known.update(texts)
        found.append(texts)
    return found


def _folded(session: Session, thread: Thread) -> Iterator[tuple[Key, Sequence[Part]]]:
    """The messages in folds."""
    shown = set(keys_to_read(thread))
    inside = [
        key for key in keys_to_read(thread, include_folded=True) if key not in shown
    ]
    reader = MessageReader(session, thread)
    for start in range(0, len(inside), AT_ONCE):
        for key, said in reader.recorded(inside[start : start + AT_ONCE]).items():
            yield key, said.parts


def _unseen(thread: Thread) -> Iterator[tuple[Key, Sequence[Part]]]:
    """What operations made or once said that the thread does not hold, current words first."""
    for number, recorded in thread.log.edits.items():
        in_force = messages_of(recorded.edit)
        for place, message in enumerate(in_force):
            if not thread.holds(key := made_key(number, place)):
                yield key, message.parts
        for words in thread.log.wordings(number) if in_force else ():
            for place, message in enumerate(messages_of(words)):
                if message not in in_force:
                    yield made_key(number, place), message.parts


def _take(taken: dict[tuple[Key, int], list[range]], span: Span) -> bool:
    """Take the place of a span unless any of it is taken. Returns whether it was free."""
    places = taken.setdefault((span.key, span.part), [])
    if any(one.start < span.end and span.start < one.stop for one in places):
        return False
    places.append(range(span.start, span.end))
    return True
