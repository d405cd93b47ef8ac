"""Recordings (HAR) by a browser, mitmproxy or a test in which models were called.

A request holds the whole conversation so far. So if requests each begin with the messages of the
one before, the last one is the conversation, with its reply; the others tell when an answer was
made and what it cost. A request that continues no other (for a title, by a sub-agent) is a
conversation of its own. The prompt is that of the last request. Each call is an event before its
answer, for its contents other than messages, and so is every request that calls no model.

A recording is cleaned before it is kept (`cleaning`): keys, cookies and the bodies of other
requests are not in the file that is read here.

Source: w3c.github.io/web-performance/specs/HAR/Overview.html.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import BinaryIO

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.body import digest
from threads.domain.formats.format import Format
from threads.domain.formats.io import fields, json_file
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.io.source import ByteSpan
from threads.domain.formats.io.streams import other_choices_warning
from threads.domain.formats.kit.items import Item, Items
from threads.domain.formats.kit.transcripts import (
    require_transcripts,
    transcript_of,
    with_skipped_warnings,
)
from threads.domain.formats.sample import HEAD, Sample
from threads.domain.message import Message, Role, Usage
from threads.domain.part import Part, Text, Thinking, ToolCall, ToolResult
from threads.domain.transcript import Event, Transcript, Warning

from .cleaning import entries, is_recording, needs_cleaning
from .recorded_call import RecordedCall, call_of
from .replies import STRATEGIES

NAME = "har"
LABEL = "a recording of requests (HAR)"
CALL, OTHER = "request", "request/other"


@dataclass(slots=True)
class _Call:
    """A call of a model: its place, and digests of its messages."""

    span: ByteSpan
    form: str
    at: datetime | None
    marks: list[bytes]
    model: str = ""
    usage: Usage | None = None


@dataclass(slots=True)
class _Chain:
    """A conversation: its calls, each of which continues the one before it."""

    calls: list[_Call]
    aside: list[Event] = field(default_factory=list)
    """Events for requests that call no model."""

    def continues(self, call: _Call) -> bool:
        """Whether a call begins with all messages of the chain's last call."""
        last = self.calls[-1]
        return call.form == last.form and call.marks[: len(last.marks)] == last.marks


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """The conversations of a recording. Raises Invalid if no model was called."""
    file.seek(0)
    if not needs_cleaning(file.read(HEAD)):  # so it was kept as it came, uncleaned
        raise Invalid(f"This is not {LABEL}.", code="format_unknown")
    skipped: list[Warning] = []
    chains: list[_Chain] = []
    aside: list[Event] = []
    for entry in entries(file, skipped):
        call = _call(entry, skipped)
        if call is None:
            aside.append(Event(OTHER, entry.record, _time(entry)))
            continue
        held = [chain for chain in chains if chain.continues(call)]
        if held:
            max(held, key=lambda chain: len(chain.calls[-1].marks)).calls.append(call)
        else:
            chains.append(_Chain([call]))
    if not chains:
        raise Invalid(
            f"This is {LABEL}, but no model is called in it.", code="no_messages"
        )
    chains[0].aside = aside
    skipped.append(_of_cleaning(len(aside), sum(len(one.calls) for one in chains)))
    made = require_transcripts(
        [_transcript(file, one) for one in chains], skipped, LABEL
    )
    return with_skipped_warnings(made, skipped)


def _of_cleaning(others: int, calls: int) -> Warning:
    words = "Cookies and headers with keys were removed from this recording."
    if others:
        words += (
            f" Requests that call no known model: {others:,} of {others + calls:,}; "
            "only their time and host were kept."
        )
    return Warning("recording_cleaned", words)


def _time(entry: Element) -> datetime | None:
    return fields.moment(fields.mapping(entry.value).get("startedDateTime"))


def _call(entry: Element, warnings: list[Warning]) -> _Call | None:
    """The call of an entry; None if it isn't one, or its request can't be read."""
    exchange = call_of(entry.value)
    if exchange is None:
        return None
    try:
        marks = [_mark(message) for message in exchange.asked()]
    except Invalid as error:
        warnings.append(json_file.warning(error, (entry.record,)))
        return None
    call = _Call(entry.span, exchange.form, _time(entry), marks, exchange.model)
    try:
        answers = exchange.answered()
    except Invalid as error:
        warnings.append(json_file.warning(error, (entry.record,)))
        return call
    for answer in answers:
        call.model = answer.model or call.model
        call.usage = answer.usage or call.usage
    return call


def _mark(message: Message) -> bytes:
    """A digest of a message without what clients drop or change later, such as reasoning."""
    parts = [_plain(one) for one in message.parts if not isinstance(one, Thinking)]
    return digest(message.role, parts)


def _plain(part: Part) -> Part:
    match part:
        case Text(text):
            return Text(text.strip())
        case ToolCall():
            return replace(part, id="", text=None)
        case ToolResult():
            return replace(part, call_id="")
    return part


def _transcript(file: BinaryIO, chain: _Chain) -> Transcript | None:
    items = Items(partial(_items, file, chain))
    last = chain.calls[-1]
    strategy = STRATEGIES[last.form]
    return transcript_of(items, format=NAME, strategy=strategy, model=last.model)


def _items(file: BinaryIO, chain: _Chain, warnings: list[Warning]) -> Iterator[Item]:
    """The messages of the last call, with an event for each call before its answer."""
    last = chain.calls[-1]
    exchange = call_of(json_file.known_value(file, last.span, warnings))
    if exchange is None:  # the file has changed since it was scanned
        return
    calls = {len(call.marks): call for call in chain.calls[:-1]}
    answers = {place: call for place, call in calls.items() if place < len(last.marks)}
    told = set(map(id, answers.values()))
    for message in exchange.system():
        yield replace(message, records=(last.span.record,))
    yield from chain.aside
    for call in chain.calls[:-1]:
        if id(call) not in told:  # it was repeated by a later call
            yield _event(call)
    for place, message in enumerate(exchange.asked()):
        found = replace(message, records=(last.span.record,))
        if (by := answers.get(place)) is not None:
            yield _event(by)
            found = _told(found, by) if found.role is Role.ASSISTANT else found
        yield found
    yield _event(last)
    yield from _answer(exchange, last, warnings)


def _event(call: _Call) -> Event:
    return Event(CALL, call.span.record, call.at)


def _told(message: Message, call: _Call) -> Message:
    """An answer with the model, usage and time of its own call."""
    return replace(
        message,
        model=call.model or None,
        usage=call.usage,
        created_at=call.at,
        records=(call.span.record, *message.records),
    )


def _answer(
    exchange: RecordedCall, call: _Call, warnings: list[Warning]
) -> Iterator[Message]:
    record = call.span.record
    try:
        found = exchange.answered(f"call_{len(call.marks) + 1}_")
    except Invalid as error:
        warnings.append(json_file.warning(error, (record,)))
        return
    said = [message for message in found if message.parts]
    if said:
        warnings += other_choices_warning(exchange.whole())
        for message in said:
            at = message.created_at or call.at
            model = call.model if message.role is Role.ASSISTANT else None
            yield replace(
                message, records=(record,), created_at=at, model=model or None
            )
    else:
        words = f"At {record}: The response to this request "
        if exchange.packing:
            words += f"is compressed with {exchange.packing}, which can't be read here."
        else:
            words += "holds no reply that can be read."
        warnings.append(Warning("no_reply", words))


def _score(sample: Sample) -> float:
    return 0.95 if is_recording(sample) else 0


FORMAT = Format(NAME, LABEL, _score, read)
