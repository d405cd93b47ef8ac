"""Finding the words that a replace or redact is asked to change, in what a session reads."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from contextstudio.accounts.domain.errors import Conflict, DomainError, Invalid
from operations.domain.log.operation import Redact, Replace
from operations.domain.text.pattern import PatternMatch
from operations.domain.text.reading import HeldText, PartReading
from operations.domain.text.resolution import (
    Readings,
    ResolvedPatterns,
    refusal,
    resolve_patterns,
)
from operations.domain.text.text_edit import TextEditRequest, held_text, keys_to_read
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, entry_key
from operations.domain.tree.span import MASK, Span, covered, fingerprint
from threads import tokens
from threads.models import Session

from .reader import MessageReader, MessageText

AT_ONCE = 200
"""Messages that are read at once."""


def readings_of(
    session: Session, thread: Thread, *, include_folded: bool = False
) -> Readings:
    """What the thread shows, part by part; or what its folds hold as well."""
    keys = keys_to_read(thread, include_folded=include_folded)
    return lambda: read_texts(session, thread, keys)


def find(session: Session, thread: Thread, wanted: TextEditRequest) -> ResolvedPatterns:
    """What patterns match, and everything that is wrong with them."""
    readings = readings_of(session, thread, include_folded=wanted.include_folded)
    return resolve_patterns(readings, wanted.patterns, floor=wanted.floor)


def edit_of(
    session: Session, thread: Thread, wanted: TextEditRequest
) -> Replace | Redact:
    """The edit that changes what is wanted. Raises Invalid or Conflict with all that is wrong."""
    if wanted.spans:
        return wanted.edit(_checked(session, thread, wanted))
    resolved = find(session, thread, wanted)
    if resolved.faults:
        raise refusal(resolved.faults)
    return wanted.edit(spans_of_matches(session, wanted, resolved.matches))


def spans_of_matches(
    session: Session, wanted: TextEditRequest, matches: Sequence[PatternMatch]
) -> list[Span]:
    """The spans that change matches, in the order of these."""
    return _counted(
        session,
        wanted,
        [match.text for match in matches],
        [match.span(wanted.patterns[match.pattern].replacement) for match in matches],
    )


def _counted(
    session: Session,
    wanted: TextEditRequest,
    texts: Sequence[str],
    spans: Sequence[Span],
) -> list[Span]:
    """Spans with the tokens that they save."""
    mask = MASK if wanted.kind is Redact else ""
    before = tokens.count_many(texts, session.encoding)
    words = {span.text for span in spans}
    counts = tokens.count_many((text or mask for text in words), session.encoding)
    after = dict(zip(words, counts, strict=True))
    return [
        replace(span, saved=count - after[span.text])
        for span, count in zip(spans, before, strict=True)
    ]


def _checked(session: Session, thread: Thread, wanted: TextEditRequest) -> list[Span]:
    """Spans that were given by their places, if they may be changed."""
    recorded = MessageReader(session, thread).recorded(
        span.key for span in wanted.spans
    )
    held = held_text(thread.log)
    texts = []
    for place, span in enumerate(wanted.spans):
        try:
            _refuse_held(thread, span, held.get((span.key, span.part), ()))
            texts.append(_text(recorded.get(span.key), span, wanted.floor))
        except DomainError as error:
            error.at = ("spans", place)
            raise
    spans = [
        replace(span, sha256=fingerprint(text))
        for span, text in zip(wanted.spans, texts, strict=True)
    ]
    return _counted(session, wanted, texts, spans)


def _refuse_held(thread: Thread, span: Span, held: Iterable[HeldText]) -> None:
    """Raise Conflict where others hold text of a span.

    It comes before any look at the text: a guess at what is masked gets the same answer whether
    or not it is right.
    """
    changes = thread.spans(span.key)
    own = [
        HeldText(one.start, one.end, one.operation)
        for one in changes
        if one.part == span.part
    ]
    numbers = {
        one.operation
        for one in (*held, *own)
        if one.start < span.end and one.end > span.start
    }
    if numbers:
        keys = [entry_key(number) for number in sorted(numbers)]
        words = f"This is overlapping with what {', '.join(keys)} changes already."
        raise Conflict(words, code="overlap", facts={"operations": keys})


def _text(said: MessageText | None, span: Span, floor: int) -> str:
    """The text that a span covers. Raises Invalid where it is none, another, or too short."""
    if said is None:
        raise Invalid(f"There is no message {span.key}.", code="unknown_key")
    text = covered(said.parts, span)
    if text is None:
        raise Invalid("There is no such text.", code="range")
    if span.sha256 and fingerprint(text) != span.sha256:
        raise Invalid("The text is not what the span was made for.", code="text")
    if len(text) < floor:
        words = (
            f"This is too short, {len(text)} characters: minimum {floor} characters."
        )
        raise Invalid(words, code="too_short")
    return text


def read_texts(
    session: Session, thread: Thread, keys: Iterable[Key]
) -> Iterator[PartReading]:
    """The parts of messages as the thread shows them, in the order of the keys."""
    held = held_text(thread.log)
    reader, waiting = MessageReader(session, thread), iter(keys)
    while batch := list(islice(waiting, AT_ONCE)):
        for key, text in reader.recorded(batch).items():
            changes = thread.spans(key)
            for place, part in enumerate(text.parts):
                reading = PartReading(
                    key, place, part, changes, held.get((key, place), ())
                )
                if reading.text:
                    yield reading
