"""Redactions of texts that also stand where nobody can look for them.

A search finds what the thread shows. An insert or a digest that is off, waits or is set aside may
say the same, as may words that an operation had before it was amended: all of these come back by
a switch, or are read in the log.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from operations.domain.log.operation import Edit, Redact, messages_of
from operations.domain.text.reading import held_text
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, made_key
from operations.domain.tree.leaf import New
from operations.domain.tree.span import MASK, Span, covered, spans_saying
from operations.messages.reader import MessageReader
from operations.messages.saving import with_saved
from threads.models import Session


def with_unseen(session: Session, thread: Thread, edits: Sequence[Edit]) -> list[Edit]:
    """The edits; redactions among them mask their texts in what the thread doesn't show, too."""
    if not any(isinstance(edit, Redact) for edit in edits):
        return list(edits)
    taken = {
        place: [range(one.start, one.end) for one in held]
        for place, held in held_text(thread.log).items()
    }
    for edit in edits:
        for span in edit.spans if isinstance(edit, Redact) else ():
            _take(taken, span)
    return [
        _with_unseen(session, thread, edit, taken) if isinstance(edit, Redact) else edit
        for edit in edits
    ]


def _with_unseen(
    session: Session,
    thread: Thread,
    edit: Redact,
    taken: dict[tuple[Key, int], list[range]],
) -> Redact:
    said = MessageReader(session, thread).recorded(span.key for span in edit.spans)
    texts = {
        text: span.text or MASK
        for span in edit.spans
        if span.key in said and (text := covered(said[span.key].parts, span))
    }
    found = [
        span
        for key, message in _unseen(thread)
        for span in spans_saying(key, message.parts, texts)
        if _take(taken, span)
    ]
    if not found:
        return edit
    return replace(
        edit, spans=(*edit.spans, *with_saved(session, thread, Redact, found))
    )


def _unseen(thread: Thread) -> Iterator[tuple[Key, New]]:
    """What operations made or once said that isn't in the thread, the words in force first."""
    for number, recorded in thread.log.edits.items():
        in_force = messages_of(recorded.edit)
        for place, message in enumerate(in_force):
            if not thread.holds(key := made_key(number, place)):
                yield key, message
        for words in thread.log.wordings(number) if in_force else ():
            for place, message in enumerate(messages_of(words)):
                if message not in in_force:
                    yield made_key(number, place), message


def _take(taken: dict[tuple[Key, int], list[range]], span: Span) -> bool:
    """Take the place of a span, unless some of it is taken. Whether it was free."""
    places = taken.setdefault((span.key, span.part), [])
    if any(one.start < span.end and span.start < one.stop for one in places):
        return False
    places.append(range(span.start, span.end))
    return True
