"""Sessions of VS Code's chat (`chatSessions/<id>.json`, `.jsonl`), and its exports.

A session is one object with `requests`. Since 2026 it is a log: the object, then a line for each
change, which sets a value, appends to a list, or deletes. The lines that changed a request are its
records.

Source: microsoft/vscode, src/vs/workbench/contrib/chat/common/model (chatModel.ts,
objectMutationLog.ts).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, BinaryIO

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.format import Format
from threads.domain.formats.io import fields, json_file
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.io.source import BROKEN
from threads.domain.formats.kit.items import Item, Items
from threads.domain.formats.kit.list_format import ListFormat, Values, per_element
from threads.domain.formats.kit.transcripts import require_transcripts, transcript_of
from threads.domain.formats.sample import Sample
from threads.domain.part import JSON
from threads.domain.transcript import Event, Transcript, Warning

from .request import read_request, typed

NAME = "copilot_chat"
LABEL = "a Copilot Chat session (VS Code)"
INITIAL, SET, PUSH, DELETE = range(4)
"""The kinds of lines in a log."""


def _element(row: Element) -> Iterator[Item]:
    """The messages of a request. Raises Invalid if it isn't one."""
    given = fields.require(row.value, dict, "a request", ())
    made = [replace(one, records=(row.record,)) for one in read_request(given)]
    yield from made
    if not made:
        yield Event("request", row.record)


def _known(said: Values, _file_name: str) -> dict[str, Any]:
    first = next(iter(said["requests"] or ()), None)
    return _named(
        {"customTitle": said["customTitle"], "sessionId": said["sessionId"]}, first
    )


def _named(session: dict[str, Any], first: JSON) -> dict[str, Any]:
    model = fields.word(first, "modelId")
    return {
        "title": fields.text(session, "customTitle") or typed(first),
        "external_id": fields.word(session, "sessionId", limit=200) or None,
        "model": model,
    }


WHOLE = ListFormat(
    name=NAME,
    label=LABEL,
    score=lambda _: 0,
    lists={"requests": per_element(_element)},
    known=_known,
)


# Logs


@dataclass(slots=True)
class _Replayed:
    """A session replayed from its log, with the lines that each request was read from."""

    session: Any = None
    records: dict[int, list[str]] = field(default_factory=dict)
    others: list[Event] = field(default_factory=list)

    def take(self, row: Element) -> None:
        """Apply a line. Raises Invalid if it doesn't fit the session."""
        line = fields.require(row.value, dict, "a change", ())
        path, value = fields.items(line, "k"), line.get("v")
        before = len(fields.items(self.session, "requests"))
        if line.get("kind") == INITIAL:
            self.session = fields.require(value, dict, "a session", ("v",))
            before = 0
        else:
            self._change(line, path, value)
        touched = range(before, len(fields.items(self.session, "requests")))
        if path[:1] == ["requests"] and len(path) > 1 and type(path[1]) is int:
            touched = range(path[1], path[1] + 1)
        for number in touched:
            self.records.setdefault(number, []).append(row.record)
        if not touched:
            name = "/".join(str(step) for step in path[:1]) or "session"
            self.others.append(Event(name, row.record))

    def _change(self, line: dict[str, Any], path: list[Any], value: JSON) -> None:
        if not path or not all(type(step) in (str, int) for step in path):
            raise Invalid("Expected the path of a change here.", at=("k",))
        holder = self.session
        for step in path[:-1]:
            holder = _inner(holder, step)
        kind, last = line.get("kind"), path[-1]
        if kind == PUSH:
            held = _inner(holder, last, list)
            if type(at := line.get("i")) is int and at >= 0:
                del held[at:]
            held += value if isinstance(value, list) else []
        elif kind == DELETE:
            if isinstance(holder, dict):
                holder.pop(last, None)
        elif kind == SET:
            _set(holder, last, value)
        else:
            raise Invalid("Expected the kind of a change here.", at=("kind",))


def _inner(holder: Any, step: Any, make: type = dict) -> Any:
    """The value at a step of a path, created if missing. Raises Invalid if it has no place."""
    if isinstance(holder, dict) and isinstance(step, str):
        found = holder.get(step)
        if not isinstance(found, dict | list):
            found = holder[step] = make()
        return found
    if isinstance(holder, list) and type(step) is int and 0 <= step < len(holder):
        return holder[step]
    raise Invalid("The session has no place that this change names.", at=("k",))


def _set(holder: Any, step: Any, value: JSON) -> None:
    if isinstance(holder, dict) and isinstance(step, str):
        holder[step] = value
    elif isinstance(holder, list) and type(step) is int and 0 <= step <= len(holder):
        holder[step : step + 1] = [value]
    else:
        raise Invalid("The session has no place that this change names.", at=("k",))


def _replayed(file: BinaryIO, warnings: list[Warning]) -> _Replayed:
    """The session replayed line by line; a line that can't be applied is an event and a warning."""
    found = _Replayed()
    for row in json_file.lines(file, warnings):
        try:
            if row.value is BROKEN:
                found.others.append(Event("unreadable", row.record))
            else:
                found.take(row)
        except Invalid as error:
            warnings.append(Warning(error.code, error.message, row.line))
            found.others.append(Event("unreadable", row.record))
    return found


def _items(file: BinaryIO, warnings: list[Warning]) -> Iterator[Item]:
    found = _replayed(file, warnings)
    for number, request in enumerate(fields.items(found.session, "requests")):
        records = tuple(found.records.get(number, ()))
        for message in read_request(fields.mapping(request)):
            yield replace(message, records=records)
    yield from found.others


def _read(file: BinaryIO, name: str) -> list[Transcript]:
    if not json_file.is_lines(file, 1) or not _is_log(_first(file)):
        return WHOLE.read(file, name)
    warnings: list[Warning] = []
    session = _replayed(file, warnings).session
    first = next(iter(fields.items(session, "requests")), None)
    items = Items(partial(_items, file))
    known = _named(fields.mapping(session), first)
    return require_transcripts(
        [transcript_of(items, format=NAME, **known)], warnings, LABEL
    )


def _first(file: BinaryIO) -> dict[str, Any]:
    return json_file.first_record(json_file.first_lines(file)) or {}


def _is_log(first: dict[str, Any]) -> bool:
    """Whether a line begins a log: it holds a whole session."""
    session = fields.mapping(first, "v")
    return first.get("kind") == INITIAL and {"sessionId", "requests"} <= session.keys()


def _score(sample: Sample) -> float:
    """By a session's list of requests and its responder, or the first line of its log."""
    first = fields.mapping(next(iter(sample.records), None))
    if _is_log(first) or (first.get("kind") == INITIAL and "sessionId" in str(first)):
        return 0.95
    if not isinstance(sample.object.get("requests"), list):
        return 0
    if "responderUsername" in sample.object:
        return 0.95
    asked = fields.mapping(next(iter(sample.object["requests"]), None))
    return 0.95 if {"message", "requestId"} <= asked.keys() else 0


FORMAT = Format(NAME, LABEL, _score, _read)
