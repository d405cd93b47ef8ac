"""Finds text in a session, for a search or for an edit that changes it.

A search covers the thread as it is shown, including folds and what operations made.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from contextstudio.accounts.domain.errors import Conflict, DomainError, Invalid
from operations.domain.log.operation import Insert, Redact, Replace, messages_of
from operations.domain.text.pattern import TextEditRequest
from operations.domain.text.reading import (
    HeldText,
    PartReading,
    held_text,
    keys_to_read,
)
from operations.domain.text.resolution import (
    Readings,
    ResolvedPatterns,
    patterns_refusal,
    resolve_patterns,
)
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import (
    Key,
    entry_key,
    made_key,
    original_index,
    original_key,
)
from operations.domain.tree.span import Span, covered_text, fingerprint
from threads.domain.text import contains, fold, whole_text
from threads.models import Session
from threads.search.services import find_in_session

from .reader import MessageReader, MessageText
from .saving import with_saved


def find_in_thread(session: Session, thread: Thread, query: str) -> list[Key]:
    """The messages that contain the query, and the folds that show it, in thread order."""
    found = _found(session, thread, query)
    return in_order(thread, {_standing(thread, key) for key in found})


def find_effective(session: Session, thread: Thread, query: str) -> list[Key]:
    """The messages of the effective thread that contain the query."""
    found = set(_found(session, thread, query))
    return [shown.key for shown in thread.effective() if shown.key in found]


def find_originals(session: Session, query: str) -> list[Key]:
    """The originals that contain the query, with redactions applied."""
    return [original_key(index) for index, _ in find_in_session(session, query)]


def _found(session: Session, thread: Thread, query: str) -> list[Key]:
    """Keys of the messages that contain the query as they read in the thread, unordered."""
    recorded = find_originals(session, query)
    changed = {
        key
        for key in thread.annotated_keys
        if original_index(key) is not None and thread.spans(key)
    }
    unsure = [*changed, *_made(thread)]
    wanted = fold(query)
    read = [
        key
        for key, words in MessageReader(session, thread).effective(unsure).items()
        if contains(wanted, whole_text(words.parts))
    ]
    return [*(key for key in recorded if key not in changed), *read]


def _made(thread: Thread) -> Iterator[Key]:
    """Yield keys of the messages in the thread that operations made."""
    for number, recorded in thread.log.edits.items():
        for place in range(len(messages_of(recorded.edit))):
            if thread.holds(key := made_key(number, place)):
                yield key


def _standing(thread: Thread, key: Key) -> Key:
    """The key under which a message is listed: its own, or that of the fold that shows it."""
    if original_index(key) is not None:
        return key
    number = int(key[1:].partition(".")[0])
    inserted = isinstance(thread.log.edits[number].edit, Insert)
    return key if inserted else entry_key(number)


def in_order(thread: Thread, keys: Iterable[Key]) -> list[Key]:
    """Keys in thread order; a fold comes before what it holds."""
    by_top: dict[Key, list[Key]] = {}
    for key in keys:
        by_top.setdefault(thread.top_key(key), []).append(key)
    ordered: list[Key] = []
    for top in sorted(by_top, key=thread.position):
        inside = by_top[top]
        if len(inside) > 1:
            places = {leaf: place for place, leaf in enumerate(thread.leaf_keys(top))}
            inside.sort(
                key=lambda key: (
                    places[thread.leaf_keys(key)[0]],
                    len(thread.path(key)),
                )
            )
        ordered += inside
    return ordered


AT_ONCE = 200
"""Batch size for reading messages."""


def readings_of(
    session: Session, thread: Thread, *, include_folded: bool = False
) -> Readings:
    """The texts that the thread shows, part by part, optionally with what its folds hold."""
    keys = keys_to_read(thread, include_folded=include_folded)
    return lambda: read_texts(session, thread, keys)


def find(
    session: Session, thread: Thread, wanted: TextEditRequest, *, partly: bool = False
) -> ResolvedPatterns:
    """The matches of the patterns, and all faults.

    With `partly`, too many matches are not a fault; the first ones are returned.
    """
    readings = readings_of(session, thread, include_folded=wanted.include_folded)
    return resolve_patterns(
        readings, wanted.patterns, floor=wanted.floor, partly=partly
    )


def edit_of(
    session: Session, thread: Thread, wanted: TextEditRequest
) -> Replace | Redact:
    """The edit for a request. Raises Invalid or Conflict with all faults."""
    if wanted.spans:
        return wanted.edit(_checked(session, thread, wanted))
    resolved = find(session, thread, wanted)
    if resolved.faults:
        raise patterns_refusal(resolved.faults)
    spans = [match.span() for match in resolved.matches]
    return wanted.edit(with_saved(session, thread, wanted.kind, spans))


def _checked(session: Session, thread: Thread, wanted: TextEditRequest) -> list[Span]:
    """The spans of a request, checked and completed. Raises Invalid or Conflict with the place."""
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
    return with_saved(session, thread, wanted.kind, spans)


def _refuse_held(thread: Thread, span: Span, held: Iterable[HeldText]) -> None:
    """Raise Conflict if other operations hold text of a span.

    This is checked before the text, so that a guess at masked text gets the same answer whether or
    not it is right.
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
        listed = ", ".join(keys)
        words = f"This is overlapping with text that {listed} already changes."
        raise Conflict(words, code="overlap", facts={"operations": keys})


def _text(said: MessageText | None, span: Span, floor: int) -> str:
    """The text that a span covers. Raises Invalid if it is missing, changed, or too short."""
    if said is None:
        raise Invalid(f"There is no message {span.key}.", code="unknown_key")
    text = covered_text(said.parts, span)
    if text is None:
        raise Invalid("The span ends beyond the text.", code="range")
    if span.sha256 and fingerprint(text) != span.sha256:
        raise Invalid("The text does not match the sha256 of the span.", code="text")
    if len(text) < floor:
        words = (
            f"This is too short, {len(text)} characters: minimum {floor} characters."
        )
        raise Invalid(words, code="too_short")
    return text


def read_texts(
    session: Session, thread: Thread, keys: Iterable[Key]
) -> Iterator[PartReading]:
    """Yield the parts of messages as the thread shows them, in the order of the keys."""
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
