"""Streamed replies of OpenAI, Anthropic or Gemini, recorded event by event.

A file has server-sent events (`data: {...}`, from `curl`, a browser or a log), or JSON Lines or a
list of the events' data. Each reply is an assistant message with the records of all its events. A
stream has no requests, so several replies in one file are one conversation without its questions.
Other lines are events.

Sources: platform.openai.com/docs/api-reference/chat-streaming and /responses-streaming,
docs.anthropic.com/en/api/messages-streaming, ai.google.dev/api/generate-content.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.format import Format
from threads.domain.formats.io import fields, json_file, json_text, source
from threads.domain.formats.io.source import ByteSpan
from threads.domain.formats.io.streams import (
    FORMS,
    begins,
    form_of,
    other_choices_warning,
)
from threads.domain.formats.io.streams.stream import Assembler, data_of, parse
from threads.domain.formats.kit.items import Item, Items
from threads.domain.formats.kit.transcripts import require_transcripts, transcript_of
from threads.domain.formats.sample import RECORDS, Sample
from threads.domain.message import Message
from threads.domain.part import JSON
from threads.domain.transcript import Event, Transcript, Warning

from . import other_streams
from .replies import STRATEGIES, read_reply

NAME = "event_stream"
LABEL = "a streamed reply, event by event"
DONE = b"[DONE]"
SURE = 0.92
"""Higher than the scores of formats for whole responses, which events contain too."""
_FIELDS = (b"event:", b"id:", b"retry:", b":")
"""How lines of a stream without data begin."""


class _Piece(NamedTuple):
    """The data of an event and its parsed value; empty and None for any other line."""

    data: bytes
    value: JSON
    span: ByteSpan


@dataclass(slots=True)
class _Reply:
    """A reply that is being assembled."""

    form: str
    assembler: Assembler
    start: int
    end: int
    at: int
    """The number of the reply, used for ids of calls."""


@dataclass(slots=True)
class _Replies:
    """Assembles the events of a file, reply by reply."""

    warnings: list[Warning]
    _current: _Reply | None = None
    _count: int = 0
    _aside: list[Event] = field(default_factory=list)

    def take(self, piece: _Piece) -> Iterator[Item]:
        """The items that an event completes: the reply before it, if it begins another one."""
        form = form_of(piece.value)
        current = self._current
        if form and (current is None or self._is_another(form, piece.value, current)):
            yield from self.rest()
            self._count += 1
            current = self._current = _Reply(
                form, FORMS[form](), *piece.span, self._count
            )
        if current is None or not self._belongs(form, piece, current):
            kind = fields.text(piece.value, "type", "object", "event") or "line"
            self._aside.append(Event(kind[:64], piece.span.record))
            if current is None:
                yield from self.rest()
            return
        current.assembler.take(piece.data)
        current.end = piece.span.end

    def _is_another(self, form: str, event: Any, current: _Reply) -> bool:
        known = current.assembler
        if form != current.form or begins(form, event, known.response):
            return True
        # In Chat Completions, the usage may come in a last chunk, after the finish reason.
        return known.is_whole

    def _belongs(self, form: str, piece: _Piece, current: _Reply) -> bool:
        """Whether an event belongs to the reply, including usage, pings and the end."""
        if form or piece.data.strip() == DONE:
            return True
        is_said = isinstance(piece.value, dict) and "error" not in piece.value
        return is_said and not current.assembler.is_whole

    def rest(self) -> Iterator[Item]:
        """The current reply, as far as it arrived, and the other lines among its events."""
        if (current := self._current) is not None:
            record = f"bytes:{current.start}-{current.end}"
            try:
                said = _messages(current, self.warnings)
            except Invalid as error:
                self.warnings.append(json_file.warning(error, (record,)))
                said = []
            if not said:
                yield Event("response", record)
            for message in said:
                is_cut = message is said[-1] and not current.assembler.is_ended
                yield replace(message, records=(record,), partial=is_cut)
        yield from self._aside
        self._current, self._aside = None, []


def _messages(reply: _Reply, warnings: list[Warning]) -> list[Message]:
    whole = reply.assembler.whole()
    if not whole:
        return []
    warnings += other_choices_warning(whole)
    said = read_reply(reply.form, whole, f"call_{reply.at}_")
    return [message for message in said if message.parts]


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """The conversation of the replies in a file. Raises Invalid if there are none."""
    items = Items(partial(_items, file))
    forms = (form_of(piece.value) for piece in _pieces(file, []))
    form = next(filter(None, forms), "openai")
    first = next((one for one in items if isinstance(one, Message)), None)
    made = transcript_of(
        items,
        title=first.text if first else "",
        format=NAME,
        strategy=STRATEGIES[form],
        model=(first.model if first else None) or "",
    )
    return require_transcripts([made], items.warnings, LABEL)


def _items(file: BinaryIO, warnings: list[Warning]) -> Iterator[Item]:
    replies = _Replies(warnings)
    for piece in _pieces(file, warnings):
        yield from replies.take(piece)
    yield from replies.rest()


def _pieces(file: BinaryIO, warnings: list[Warning]) -> Iterator[_Piece]:
    """The events of a file in order, translated into a form that is read."""
    known = other_streams.KnownEvents()
    for piece in _given(file, warnings):
        if form_of(piece.value) or (event := known.of(piece.value)) is None:
            yield piece
            continue
        yield _Piece(json_text.dump(event), event, piece.span)
        if other_streams.ends(piece.value):
            yield _Piece(DONE, None, piece.span)


def _given(file: BinaryIO, warnings: list[Warning]) -> Iterator[_Piece]:
    """The events in the file; lines of a stream without content are left out."""
    if _is_json(file):
        for row in json_file.rows(file, warnings):
            data = source.piece_at(file, row.span) or b""
            yield _Piece(data, row.value, row.span)
        return
    for line in source.lines(file):
        text = line.data or b""
        if (said := data_of(text)) is not None:
            yield _Piece(said, parse(said), line.span)
        elif not text.startswith(_FIELDS):
            yield _Piece(b"", None, line.span)


def _is_json(file: BinaryIO) -> bool:
    first = next(source.lines(file), None)
    return bool(first and (first.data or b"").lstrip()[:1] in (b"{", b"["))


def _score(sample: Sample) -> float:
    """`SURE` if most rows, or any line with data, are events that only streams have."""
    if rows := sample.rows:
        told = [*filter(form_of, map(_known, rows))]
        are_pieces = _is_streamed(told) or _are_of_one_reply(sample.records)
        return SURE if 2 * len(told) > len(rows) and are_pieces else 0
    lines = islice(map(bytes.strip, sample.head.splitlines()), 4 * RECORDS)
    found = [data for line in lines if (data := data_of(line)) is not None]
    return SURE if any(form_of(_known(parse(data))) for data in found) else 0


def _known(event: JSON) -> JSON:
    return event if form_of(event) else other_streams.KnownEvents().of(event)


def _is_streamed(rows: list[dict[str, Any]]) -> bool:
    """Whether rows are pieces of replies; if all are Gemini's, they may be whole responses."""
    return any(form_of(row) != "gemini" for row in rows)


def _are_of_one_reply(lines: list[dict[str, Any]]) -> bool:
    """Whether Gemini's lines repeat a reply's id: whole responses have different ids."""
    named = [id_ for line in lines if (id_ := fields.text(line, "responseId"))]
    return len(named) > len(set(named))


FORMAT = Format(NAME, LABEL, _score, read, is_general=True)
