"""Conversations from traces: from the steps of programs that call models and tools.

Each request to a model is a step that repeats the whole conversation so far. If one step contains
what others say, the longest is the conversation; the others tell when an answer was made and what
it cost. Requests that are logged without their history form one conversation, one after the other,
with the results of the tools between them. A step that contributes no message becomes an event.

While steps are compared, only hashes of their messages are held. The messages are read again from
the chosen steps.
"""

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice
from typing import Any, BinaryIO

from threads.domain.formats.format import Format
from threads.domain.formats.io import fields, json_file
from threads.domain.formats.kit.calls import CallLinks
from threads.domain.formats.kit.items import Item, ReadFile, already_open, items_in
from threads.domain.formats.kit.transcripts import (
    require_transcripts,
    with_skipped_warnings,
)
from threads.domain.message import Message, Role
from threads.domain.transcript import Event, Transcript, Warning

from .trace_steps import GENERATION, OTHER, TOOL, StepMessages, TraceStep

NEVER = datetime.max.replace(tzinfo=UTC)
ReadStepMessages = Callable[[dict[str, Any]], StepMessages]
"""Reads the input and output of a step from its JSON."""


@dataclass(slots=True)
class TraceThread:
    """A conversation: the steps whose messages make it, one after the other.

    `told` maps the indexes of answers to the steps that made them. The conversation begins with
    the first `lead` messages of the input of `front`, an enclosing step.
    """

    steps: list[TraceStep]
    marks: list[int]
    told: dict[int, TraceStep] = field(default_factory=dict)
    front: TraceStep | None = None
    lead: int = 0

    def places_of(self, other: Sequence[int]) -> list[int]:
        """The indexes at which another's messages occur in this one, in order; empty if not all do.

        They need not be adjacent: concurrent calls are logged with their results between them.
        """
        places: list[int] = []
        at = 0
        for known in other:
            while at < len(self.marks) and self.marks[at] != known:
                at += 1
            places.append(at)
            at += 1
        return places if at <= len(self.marks) else []

    @property
    def records(self) -> set[str]:
        """The records of all steps that its messages are read from or dated by."""
        front = [self.front] if self.front else []
        return {one.span.record for one in (*self.steps, *self.told.values(), *front)}


def threads(steps: Iterable[TraceStep]) -> list[TraceThread]:
    """The conversations in the steps of one trace, or of one conversation over several traces."""
    ordered = sorted(steps, key=_start)
    requests = _chains(ordered)
    around = [
        TraceThread([one], list(one.marks))
        for one in ordered
        if one.kind == OTHER and len(one.marks) > one.given
    ]
    by_first: dict[int, list[TraceThread]] = {}
    for thread in requests:
        by_first.setdefault(thread.marks[0], []).append(thread)
    kept: list[TraceThread] = []
    holding: dict[int, list[TraceThread]] = {}  # kept threads, by mark
    for thread in sorted([*requests, *around], key=lambda one: -len(one.marks)):
        known_by = [holding.get(known, []) for known in set(thread.marks)]
        fewest = min(known_by, key=len)
        if _is_held(thread, fewest):
            continue
        if thread.steps[0].kind == OTHER and requests and not _holds(thread, by_first):
            continue
        kept.append(thread)
        for known in set(thread.marks):
            holding.setdefault(known, []).append(thread)
    by_id = {one.id: one for one in ordered if one.id}
    for thread in kept:
        _lead(thread, by_id)
        _answer(thread, ordered)
    return sorted(kept, key=lambda one: _start(one.steps[0]))


def _start(one: TraceStep) -> datetime:
    return one.start or NEVER


def _is_held(thread: TraceThread, holders: Iterable[TraceThread]) -> bool:
    """Whether a conversation is part of a longer one, which then takes over its `told` steps."""
    for holder in holders:
        if places := holder.places_of(thread.marks):
            holder.told |= {places[at]: by for at, by in thread.told.items()}
            return True
    return False


def _holds(thread: TraceThread, by_first: Mapping[int, list[TraceThread]]) -> bool:
    """Whether a program's input and output contain a conversation with a model."""
    return any(
        bool(thread.places_of(request.marks))
        for known in set(thread.marks)
        for request in by_first.get(known, ())
    )


def _chains(ordered: Sequence[TraceStep]) -> list[TraceThread]:
    """Each request as a conversation; a request without a history continues the one before it.

    Only then do the results of tools in between belong to it: else the next request repeats them.
    Answers without a request (the pieces of a stream) count only if there is nothing else.
    """
    has_requests = any(one.kind == GENERATION and one.given for one in ordered)
    found: list[TraceThread] = []
    last: dict[tuple[str, str], TraceThread] = {}
    for one in ordered:
        thread = last.get((one.group, one.parent))
        if one.kind == TOOL and thread is not None and one.marks:
            thread.steps.append(one)
        elif one.kind == GENERATION and one.marks:
            if thread is None and has_requests and not one.given:
                continue
            if thread is None or one.given or len(one.marks) > 1:
                thread = last[one.group, one.parent] = TraceThread([], [])
                found.append(thread)
            thread.steps.append(one)
    for thread in found:
        requests = [one for one in thread.steps if one.kind == GENERATION]
        thread.steps = requests if len(requests) == 1 else thread.steps
        for one in thread.steps:
            thread.marks += one.marks
            if one.kind == GENERATION and len(one.marks) > one.given:
                thread.told[len(thread.marks) - 1] = one
    return found


def _lead(thread: TraceThread, by_id: Mapping[str, TraceStep]) -> None:
    """Find the messages that an enclosing step was given but the request's log leaves out."""
    seen: set[str] = set()
    above = by_id.get(thread.steps[0].parent)
    while above is not None and above.id not in seen:
        seen.add(above.id)
        given = list(above.marks[: above.given])
        for lead in range(1, len(given)):
            if given[lead:] == thread.marks[: len(given) - lead]:
                thread.front, thread.lead = above, lead
                return
        above = by_id.get(above.parent)


def _answer(thread: TraceThread, ordered: Sequence[TraceStep]) -> None:
    """Append the results of a conversation's last calls, which no further request repeats."""
    last = thread.steps[-1]
    calls = list(last.calls)
    first = bisect_left(ordered, _start(last), key=_start) if calls else 0
    for one in islice(ordered, first, None):
        if not calls:
            break
        if one.kind == TOOL and one.name in calls:
            calls.remove(one.name)
            thread.steps.append(one)
            thread.marks += one.marks


def _reading(
    thread: TraceThread, events: Iterable[TraceStep], read_said: ReadStepMessages
) -> ReadFile:
    """A reader of a conversation's items; `events` are the steps that contribute no message."""

    def items(file: BinaryIO, warnings: list[Warning]) -> Iterator[Item]:
        waiting = deque(sorted(events, key=_start))
        links = CallLinks()
        for place, message in _messages(thread, file, read_said, warnings):
            told = thread.told.get(place)
            if told is not None:
                while waiting and _start(waiting[0]) <= _start(told):
                    yield _event(waiting.popleft())
                message = _told(message, told)
            yield links.given(message)
        yield from map(_event, waiting)

    return items


def _messages(
    thread: TraceThread,
    file: BinaryIO,
    read_said: ReadStepMessages,
    warnings: list[Warning],
) -> Iterator[tuple[int, Message]]:
    """The messages of a conversation with their indexes; -1 for those from `front`."""

    def said(one: TraceStep) -> StepMessages:
        value = json_file.known_value(file, one.span, warnings)
        return read_said(fields.mapping(value))

    if thread.front is not None:
        for message in said(thread.front).inputs[: thread.lead]:
            yield -1, replace(message, records=(thread.front.span.record,))
    place = 0
    for one in thread.steps:
        for message in said(one).all:
            yield place, replace(message, records=(one.span.record,))
            place += 1


def _told(message: Message, by: TraceStep) -> Message:
    record = by.span.record
    is_known = record in message.records
    return replace(
        message,
        records=message.records if is_known else (*message.records, record),
        model=message.model or by.model or None,
        usage=message.usage or by.usage,
        created_at=message.created_at or by.end or by.start,
    )


def _event(one: TraceStep) -> Event:
    name = "/".join(filter(None, (one.kind, one.name)))
    return Event(name, one.span.record, one.start)


def transcripts(
    file: BinaryIO,
    format: Format,
    steps: Iterable[TraceStep],
    titles: Mapping[str, str],
    read_said: ReadStepMessages,
    skipped: list[Warning],
) -> list[Transcript]:
    """The conversations of each group of steps; steps without messages go to the first one.

    `skipped` are warnings about unreadable parts of the file. Raises Invalid if nobody says
    anything.
    """
    groups: dict[str, list[TraceStep]] = {}
    for one in steps:
        groups.setdefault(one.group, []).append(one)
    made: list[Transcript] = []
    for group, of in groups.items():
        found = threads(of)
        used = {record for thread in found for record in thread.records}
        rest = [one for one in of if one.span.record not in used]
        for number, thread in enumerate(found):
            read = _reading(thread, () if number else rest, read_said)
            items = items_in(already_open(file), read)
            said = (item for item in items if isinstance(item, Message))
            users = (m.text.strip() for m in islice(said, 50) if m.role is Role.USER)
            title = fields.one_line(fields.first(users)) or titles.get(group, "")
            models = [by.model for _, by in sorted(thread.told.items()) if by.model]
            suffix = f"/{thread.steps[0].id}" if number else ""
            made.append(
                Transcript(
                    format=format.name,
                    title=title or "Trace",
                    items=items,
                    external_id=(group + suffix)[:255] if group else None,
                    model=models[-1] if models else thread.steps[0].model,
                    warnings=items.warnings,
                )
            )
    return with_skipped_warnings(
        require_transcripts(made, skipped, format.label), skipped
    )
