"""Reads a thread for hindsight: the texts of each message, and what left it out."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from archive.domain.hindsight.losses import LeftOut, Passage
from archive.domain.hindsight.texts import read_of
from operations.domain.log.operation import messages_of
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, entry_key, entry_number, made_key
from operations.domain.tree.span import SpanChange, apply_span_changes
from operations.messages.reader import MessageReader, MessageText
from threads.domain.part import Part
from threads.domain.text import text_of
from threads.models import Session

_NEAR = 500
"""Characters on either side of a replaced span that are searched for the rest of a reference."""
_WORD = re.compile(r"\S*")
_WORD_AT_END = re.compile(r"\S*\Z")


class _Place(NamedTuple):
    """A message of the thread with every fold open."""

    key: Key
    folds: tuple[Key, ...] = ()
    """The folds that leave it out, outermost first; empty if it is sent."""
    shown_by: Key | None = None
    """The fold that shows it, if it is a replacement."""


def passages_of(session: Session, thread: Thread, kept: int = 0) -> list[Passage]:
    """The messages of a thread: those that it shows, and those that operations left out.

    `kept` is for how many more messages each was still sent before it was left out; with it, the
    uses in left-out messages count too. What redactions mask occurs in none of them.
    """
    places = list(_places(thread))
    words = MessageReader(session, thread).recorded(place.key for place in places)
    found, number = list[Passage](), 0
    for place in places:
        said = words.get(place.key)
        if said is not None:
            found += _said(place, number, said, thread.spans(place.key), kept)
        number += place.shown_by is None
    return found


def _places(thread: Thread) -> Iterator[_Place]:
    waiting = [_Place(key) for key in reversed(thread.keys)]
    while waiting:
        place = waiting.pop()
        number = entry_number(place.key)
        if number is None:
            yield place
            continue
        shown = messages_of(thread.log.edits[number].edit)
        for k in range(len(shown)):
            yield _Place(made_key(number, k), place.folds, place.key)
        inside = (*place.folds, place.key)
        children = thread.child_keys(place.key)
        waiting += (_Place(child, inside) for child in reversed(children))


def _said(
    place: _Place,
    number: int,
    said: MessageText,
    changes: Sequence[SpanChange],
    kept: int,
) -> Iterator[Passage]:
    """A message as it reads in the thread, preceded by the texts that were replaced in it."""
    parts, since = said.parts, number + 1 + kept
    if changes:
        for operation, texts in _replaced(parts, changes).items():
            left_out = LeftOut((*place.folds, operation), since)
            yield Passage(
                key=place.key, place=number, texts=texts, left_out=(left_out,)
            )
        parts = apply_span_changes(parts, changes)
    is_heard = not place.shown_by if kept else not place.folds
    texts, uses = read_of(said.role, parts)
    yield Passage(
        key=place.key,
        place=number,
        texts=texts,
        uses=uses if is_heard else (),
        left_out=(LeftOut(place.folds, since),) if place.folds else (),
        shown_by=place.shown_by,
    )


def _replaced(
    parts: Sequence[Part], changes: Sequence[SpanChange]
) -> dict[Key, list[str]]:
    """Map of operation to the texts that it replaced, completed to whole words."""
    found: dict[Key, list[str]] = {}
    texts: dict[int, str] = {}
    for change in changes:
        if change.redacted:
            continue
        if change.part not in texts:
            texts[change.part] = _blanked(parts, change.part, changes)
        text = texts[change.part]
        before = _WORD_AT_END.search(text[max(0, change.start - _NEAR) : change.start])
        behind = _WORD.match(text[change.end : change.end + _NEAR])
        middle = text[change.start : change.end]
        around = (before[0] if before else "", behind[0] if behind else "")
        stretch = middle.join(around)
        found.setdefault(entry_key(change.operation), []).append(stretch)
    return found


def _blanked(parts: Sequence[Part], number: int, changes: Sequence[SpanChange]) -> str:
    """The text of a part with redacted spans blanked."""
    text, pieces, end = text_of(parts[number]), list[str](), 0
    for change in sorted(changes):
        if change.redacted and change.part == number:
            pieces += text[end : change.start], " " * (change.end - change.start)
            end = change.end
    return "".join(pieces) + text[end:]
