"""The output of opencode with `--format json`: one part of the model's messages per line.

Prompts and the model's name are not printed. The lines of a message name it; if they don't, it
continues up to the next step. Kilo's command line prints the same. Source:
packages/opencode/src/cli/cmd/run.ts of sst/opencode, packages/cli/src/run of version 2.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, BinaryIO

from threads.domain.formats.format import Format
from threads.domain.formats.io import fields
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.kit import stream_runs
from threads.domain.formats.kit.items import Item
from threads.domain.formats.kit.stream_runs import MAX_HELD_BYTES, StreamRun
from threads.domain.formats.sample import Sample
from threads.domain.transcript import Event, Transcript, Warning

from .parts import Located, SessionTurn
from .session import items_of

NAME = "opencode_run"
LABEL = "the JSON output of opencode run"
_SAYING = frozenset({"text", "reasoning", "tool_use"})
_TYPES = _SAYING | {"step_start", "step_finish"}


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """The sessions in a run's output. Raises Invalid if it holds no message."""
    found = stream_runs.find(file, _begins, _note)
    items = partial(_items, file)
    members = {"format": NAME, "strategy": "openai"}
    return stream_runs.transcripts(found, items, LABEL, "opencode run", **members)


def _begins(record: dict[str, Any]) -> str:
    """The session's id, which is on every line."""
    return fields.word(record, "sessionID", limit=255)


def _note(run: StreamRun, record: dict[str, Any], _place: int) -> None:
    run.speaks = run.speaks or (_is_part(record) and record["type"] in _SAYING)


def _items(file: BinaryIO, run: StreamRun, warnings: list[Warning]) -> Iterator[Item]:
    turns = items_of(partial(_turns, file, run), {})
    yield from turns
    warnings.extend(turns.warnings)


def _turns(
    file: BinaryIO, run: StreamRun, warnings: list[Warning]
) -> Iterator[SessionTurn | Event]:
    """The model's messages, each assembled from its lines, and events for other lines."""
    held = _HeldTurn()
    for row in stream_runs.rows(file, run, warnings):
        record = fields.mapping(row.value)
        if not _is_part(record):
            yield from held.ended()
            kind = fields.text(record, "type") or "unreadable"
            yield Event(kind, row.record, fields.moment(record.get("timestamp")))
            continue
        if held.is_over(record):
            yield from held.ended()
        held.add(record, row)
    yield from held.ended()


class _HeldTurn:
    """The lines of a message that may continue."""

    def __init__(self) -> None:
        self._number = 0
        self._empty()

    def _empty(self) -> None:
        self._id = ""
        self._parts: list[Located] = []
        self._created: Any = None
        self._tokens: Any = None
        self._size = 0

    def is_over(self, record: dict[str, Any]) -> bool:
        """Whether a line belongs to the next message."""
        if not self._parts or self._size > MAX_HELD_BYTES:
            return bool(self._parts)
        id_ = fields.text(record["part"], "messageID")
        return id_ != self._id or (not id_ and record["type"] == "step_start")

    def add(self, record: dict[str, Any], row: Element) -> None:
        """Add a part."""
        part = record["part"]
        if not self._parts:
            self._id = fields.text(part, "messageID")
            self._created = record.get("timestamp")
        self._tokens = part.get("tokens", self._tokens)
        self._parts.append(Located(part, row.record))
        self._size += row.span.end - row.span.start

    def ended(self) -> Iterator[SessionTurn]:
        """The message that was held, if any."""
        if self._parts:
            self._number += 1
            info = {
                "id": self._id or f"message-{self._number}",
                "role": "assistant",
                "time": {"created": self._created},
                "tokens": self._tokens,
            }
            yield SessionTurn(info, self._parts, self._parts[0].record, is_apart=True)
        self._empty()


def _is_part(record: dict[str, Any]) -> bool:
    """Whether a record has a part of a message."""
    type_ = fields.text(record, "type")
    return isinstance(record.get("part"), dict) and type_ in _TYPES


def _score(sample: Sample) -> float:
    """By a line with a session's id and a part of a message."""
    lines = (record for record in sample.records if "sessionID" in record)
    return 0.9 if any(_is_part(record) for record in lines) else 0


FORMAT = Format(NAME, LABEL, _score, read)
