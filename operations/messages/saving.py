"""Counts the tokens that text changes save, once, when they are recorded.

Tokens don't add up: removing words puts others next to each other, and a piece has another count on
its own than inside a text. So whole messages are counted, as they read now and as they will.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from operations.domain.log.operation import Redact, TextEdit
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key
from operations.domain.tree.span import (
    MASK,
    Span,
    SpanChange,
    apply_span_changes,
    covered_text,
)
from threads import tokens
from threads.domain.part import Part
from threads.models import Session

from .reader import MessageReader


def with_saved(
    session: Session, thread: Thread, kind: type[TextEdit], spans: Iterable[Span]
) -> list[Span]:
    """The spans with the tokens that each saves.

    The savings of a message's spans sum up to what they save together in the thread.
    """
    counted = list(spans)
    by_message: dict[Key, list[int]] = {}
    for place, span in enumerate(counted):
        by_message.setdefault(span.key, []).append(place)
    mask = MASK if kind is Redact else ""
    for key, said in MessageReader(session, thread).recorded(by_message).items():
        places = by_message[key]
        changed = [counted[place] for place in places]
        saved = _saved(session, said.parts, thread.spans(key), changed, mask)
        for place, less in zip(places, saved, strict=True):
            counted[place] = replace(counted[place], saved=less)
    return counted


def _saved(
    session: Session,
    parts: tuple[Part, ...],
    before: Sequence[SpanChange],
    spans: Sequence[Span],
    mask: str,
) -> list[int]:
    """What each span of a message saves.

    That is what it saves by itself, plus a share of the difference between their sum and the real
    total.
    """
    new = [
        SpanChange(one.part, one.start, one.end, one.text or mask, 0, bool(mask), 0)
        for one in spans
    ]
    now = tokens.count_again(apply_span_changes(parts, before), session.encoding)
    then = tokens.count_again(
        apply_span_changes(parts, [*before, *new]), session.encoding
    )
    texts = [covered_text(parts, one) or "" for one in spans]
    own = [
        count - less
        for count, less in zip(
            tokens.count_many(texts, session.encoding),
            tokens.count_many([one.text for one in new], session.encoding),
            strict=True,
        )
    ]
    each, more = divmod(now - then - sum(own), len(own))
    return [saved + each + (place < more) for place, saved in enumerate(own)]
