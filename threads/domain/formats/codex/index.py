"""What is told of a Codex rollout before its items are read: a pass that parses few lines."""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import InitVar, dataclass, field
from itertools import islice
from typing import Any, BinaryIO

from threads.domain.formats.io import fields, source, windows
from threads.domain.transcript import Parent, Relation

from .record import CONTEXT, Record, parse_record, texts_of
from .rollbacks import Range, Rollback, Rollbacks

REQUEST = "## My request for Codex:"
"""What an editor's extension puts before the words that were typed."""
TITLE_WITHIN = 400
"""Lines among which a message is looked for that names the conversation."""
BRANCHES = 50
"""Branches of a rollout that become conversations; older ones are events alone."""
_TELLING = re.compile(b'"t(?:urn_context|hread_(?:name_updated|rolled_back))"')
"""Types of records that say something of the whole wherever they stand."""


@dataclass(slots=True)
class RolloutIndex:
    """A rollout's own id, name, model and parent, and which of its lines were rolled back."""

    file: InitVar[BinaryIO]
    external_id: str = ""
    title: str = ""
    model: str = ""
    parent: Parent | None = None
    rolled_back: tuple[Range, ...] = ()
    """Lines that are not in the thread."""
    branches: list[Rollback] = field(default_factory=list)
    """The newest of what was rolled back."""
    _names: dict[str, str] = field(default_factory=dict)
    _is_begun: bool = False

    def __post_init__(self, file: BinaryIO) -> None:
        for line in islice(source.lines(file), TITLE_WITHIN):
            if self._tells(line.number, line.data or b""):
                self._hear(parse_record(line.data or b""))
            if self._is_begun and "user_message" in self._names:
                break
        has_rollback = False
        for data in lines_with(file, _TELLING):
            record = parse_record(data)
            self._hear(record)
            has_rollback |= bool(record and record.type == "thread_rolled_back")
        names = ("name", "user_message", "message", "context")
        self.title = fields.first(self._names.get(name, "") for name in names)
        if has_rollback:
            found = Rollbacks()
            self.branches = list(deque(found.read(file), maxlen=BRANCHES))
            self.rolled_back = tuple(found.ranges)

    def _tells(self, number: int, data: bytes) -> bool:
        """Whether a line at the top may say something of the whole."""
        if not self._is_begun and (number == 1 or b'"session_meta"' in data):
            return True
        is_named = "user_message" in self._names
        return not is_named and (b'"user_message"' in data or b'"user"' in data)

    def _hear(self, record: Record | None) -> None:
        if record is None:
            return
        payload = record.payload
        if record.kind == "session_meta" and not self._is_begun:
            self._is_begun = True
            self.external_id = fields.word(payload, "id", limit=255)
            self.parent = parent_of(payload)
        elif record.kind == "turn_context":
            self.model = fields.word(payload, "model") or self.model
        elif record.type == "thread_name_updated":
            self._name("name", fields.text(payload, "thread_name", "name"), last=True)
        elif record.type == "user_message":
            self._name("user_message", fields.text(payload, "message"))
        elif record.kind == "response_item" and payload.get("role") == "user":
            words = _words(payload)
            self._name("context" if CONTEXT.match(words) else "message", words)

    def _name(self, kind: str, words: str, *, last: bool = False) -> None:
        before, _, typed = words.partition(REQUEST)
        name = fields.one_line(typed or before)
        if name and (last or kind not in self._names):
            self._names[kind] = name


def parent_of(meta: dict[str, Any]) -> Parent | None:
    """The conversation that began this one as a sub-agent, or that it was forked from."""
    spawn = fields.mapping(fields.mapping(meta, "source"), "subagent")
    spawn = fields.mapping(spawn, "thread_spawn") or spawn
    if began := fields.word(spawn, "parent_thread_id", limit=255) or fields.word(
        meta, "parent_thread_id", limit=255
    ):
        return Parent(external_id=began, relation=Relation.SUBAGENT)
    if forked := fields.word(meta, "forked_from_id", limit=255):
        return Parent(external_id=forked, relation=Relation.BRANCH)
    return None


def _words(payload: dict[str, Any]) -> str:
    return fields.first(text.strip() for text in texts_of(payload))


def lines_with(file: BinaryIO, mark: re.Pattern[bytes]) -> Iterator[bytes]:
    """The lines that hold a mark, of all that are no longer than a chunk.

    Found by the window, for that is ten times as fast as line by line.
    """
    offset, held = 0, b""
    while True:
        file.seek(offset)
        chunk = file.read(windows.WINDOW)
        offset += len(chunk)
        block = held + chunk + (b"" if chunk else b"\n")
        end = block.rfind(b"\n") + 1
        start = 0
        while found := mark.search(block, start, end):
            start = block.index(b"\n", found.end()) + 1
            yield block[block.rfind(b"\n", 0, found.start()) + 1 : start - 1]
        if not chunk:
            return
        held = block[end:] if len(block) - end <= source.CHUNK else b""
