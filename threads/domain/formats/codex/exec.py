"""What a run of `codex exec --json` prints: events of a thread, its turns and their items.

An item is told when it begins (`item.started`), while it changes and when it ends
(`item.completed`); what is asked is not printed. Source: exec_events.rs and its event processors
in openai/codex (`codex-rs/exec/src`). The first versions, of September 2025, say
`session.created`, `item_type` and `assistant_message`.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, BinaryIO

from threads.domain.formats.format import Format
from threads.domain.formats.io import fields
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.kit import stream_runs
from threads.domain.formats.kit.items import Item, attempt
from threads.domain.formats.kit.stream_runs import StreamedMessage, StreamRun
from threads.domain.formats.sample import Sample
from threads.domain.message import Usage
from threads.domain.transcript import Event, Transcript, Warning

from .exec_items import CALLS, READERS, AnswerPart, kind_of

NAME = "codex_exec"
LABEL = "the JSON output of codex exec"
ITEMS = frozenset({"item.started", "item.updated", "item.completed"})
TURN = frozenset({"turn.started", "turn.completed", "turn.failed"})
"""Between two turns one answer ends."""
BEGINS = {"thread.started": "thread_id", "session.created": "session_id"}


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """The threads of a run's output. Raises Invalid where it holds no message."""
    found = stream_runs.find(file, _begins, _note)
    items = partial(_items, file)
    return stream_runs.transcripts(found, items, LABEL, "Codex run", format=NAME)


def _begins(record: dict[str, Any]) -> str:
    name = BEGINS.get(fields.text(record, "type"), "")
    return fields.word(record, name, limit=255) if name else ""


def _note(run: StreamRun, record: dict[str, Any], place: int) -> None:
    """What speaks, and which items begin that never end."""
    type_ = fields.text(record, "type")
    if type_ not in ITEMS:
        return
    item = fields.mapping(record, "item")
    id_ = fields.text(item, "id")
    if kind_of(item) in READERS:
        run.speaks = True
        if type_ == "item.completed":
            run.open.pop(id_, None)
        elif id_:
            run.open[id_] = place


def _items(file: BinaryIO, run: StreamRun, warnings: list[Warning]) -> Iterator[Item]:
    items = _ExecItems(run)
    for row in stream_runs.rows(file, run, warnings):
        yield from attempt(partial(items.take, row), row, warnings)
    yield from items.rest()


class _ExecItems:
    """Makes items of events, one after the other.

    The items of an answer are one message, up to the results of its calls. Calls that were
    under way together are of one answer, also where one ended before the other.
    """

    def __init__(self, run: StreamRun) -> None:
        self._run = run
        self._begun = 0
        """How many runs of the thread have begun: each counts its items anew."""
        self._answer = StreamedMessage()
        self._number = 0
        """Of the answer that is held."""
        self._open: dict[str, tuple[int, int]] = {}
        """Calls that were begun, with the number of their answer and where they stand in it."""
        self._total = Usage()

    def take(self, row: Element) -> Iterator[Item]:
        """The items that a line makes. Raises Invalid where it is no event."""
        value = fields.require(row.value, dict, "an event", ())
        type_ = fields.text(value, "type")
        item = fields.mapping(value, "item") if type_ in ITEMS else {}
        kind = kind_of(item)
        if type_ in BEGINS or type_ in TURN:
            self._answer.usage = self._usage(value)
            yield from self.rest()
            self._begun += type_ in BEGINS
        elif kind in READERS and self._ends(type_, row):
            if told := READERS[kind](item, self._id(item)):
                yield from self._told(told, item, row, type_ == "item.completed")
                return
        elif kind in CALLS and type_ == "item.started":
            if self._answer.has_results:
                yield from self.rest()
            self._open[self._id(item)] = self._number, row.span.start
        name = f"{type_}/{kind}" if kind else type_ or "event"
        event = Event(name, row.record, fields.moment(value.get("timestamp")))
        yield from self._answer.followed_by(event, row)

    def rest(self) -> Iterator[Item]:
        """The answer that is still held, and the results of its calls."""
        yield from self._answer.items()
        self._number += bool(self._answer)
        self._answer = StreamedMessage()

    def _told(
        self, told: AnswerPart, item: dict[str, Any], row: Element, is_whole: bool
    ) -> Iterator[Item]:
        """Take what an item says into the answer that it is of."""
        id_ = self._id(item)
        number, place = self._open.pop(id_, (None, row.span.start))
        if self._is_next(told, number) or self._answer.is_full:
            yield from self.rest()
        self._answer.id = self._answer.id or fields.as_word(id_)
        self._answer.is_partial = self._answer.is_partial or not is_whole
        self._answer.add(told.part, row, place=place if told.result else 0)
        if told.result is not None and is_whole:
            self._answer.keep(replace(told.result, records=(row.record,)), row)

    def _is_next(self, told: AnswerPart, number: int | None) -> bool:
        """Whether an item is of the next answer, and not of the one that is held.

        `number` is that of the answer in which a call was begun.
        """
        if told.result is None:
            return self._answer.has_calls
        if number is None:
            return self._answer.has_results
        return number != self._number

    def _ends(self, type_: str, row: Element) -> bool:
        """Whether a line is the last of its item."""
        return type_ == "item.completed" or row.span.start in self._run.unfinished

    def _id(self, item: dict[str, Any]) -> str:
        id_ = fields.text(item, "id")
        return f"{id_}/{self._begun}" if id_ and self._begun > 1 else id_

    def _usage(self, value: dict[str, Any]) -> Usage | None:
        """The tokens of a turn: what is told counts all of the thread up to here."""
        usage = fields.mapping(value, "usage")
        if value.get("type") != "turn.completed" or not usage:
            return None
        told, before = _counted(usage), self._total
        self._total = told
        turn = Usage(
            input_tokens=told.input_tokens - before.input_tokens,
            output_tokens=told.output_tokens - before.output_tokens,
            cached_tokens=told.cached_tokens - before.cached_tokens,
        )
        counts = (turn.input_tokens, turn.output_tokens, turn.cached_tokens)
        turn = told if min(counts) < 0 else turn
        return turn if turn != Usage() else None


def _counted(usage: dict[str, Any]) -> Usage:
    return Usage(
        input_tokens=fields.count(usage, "input_tokens"),
        output_tokens=fields.count(usage, "output_tokens"),
        cached_tokens=fields.count(usage, "cached_input_tokens"),
    )


def _score(sample: Sample) -> float:
    """The beginning of a thread; less surely its items alone."""
    if any(_begins(record) for record in sample.records):
        return 0.95
    items = (
        fields.mapping(record, "item")
        for record in sample.records
        if fields.text(record, "type") in ITEMS
    )
    return 0.9 if any("id" in item and kind_of(item) for item in items) else 0


FORMAT = Format(NAME, LABEL, _score, read)
