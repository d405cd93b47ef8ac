"""OpenHands' conversations in three generations, distinguished by their containers and events.

- Evaluations since 2024 (`output.jsonl`): one instance per line, whose `history` is a list of
  events, or of `[action, observation]` pairs.
- Trajectories (V0): a list of events with `action` or `observation`.
- The SDK (V1): events with a `kind`, as a list, as lines, or as a folder of `base_state.json` and
  `events/*.json`.

Sources: github.com/All-Hands-AI/OpenHands, `openhands/events`;
github.com/OpenHands/software-agent-sdk, `openhands-sdk/openhands/sdk/event`.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, BinaryIO

from threads.domain.formats.format import Format
from threads.domain.formats.io import fields, json_file
from threads.domain.formats.io.folder import Folder, Gathered, Member
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.io.source import ByteSpan
from threads.domain.formats.kit.items import Item, Items, attempt
from threads.domain.formats.kit.list_format import ListFormat
from threads.domain.formats.kit.transcripts import require_transcripts, transcript_of
from threads.domain.formats.sample import Sample
from threads.domain.transcript import Event, Transcript, Warning

from .actions import ActionEvents
from .sdk import SdkEvents

NAME = "openhands"
LABEL = "an OpenHands conversation"
NOTES = ("base_state.json", "metadata.json")
"""Files with facts about the conversation, beside the events of a folder."""
LISTS = ("trajectory", "events", "items")
"""Members of a server's response that hold events."""
_EVENT_FILE = re.compile(r"(.*/)?events/(?:event-)?(\d{1,9})(?:-[\w-]+)?\.json")

Maker = Callable[[], ActionEvents | SdkEvents]


def read(file: BinaryIO, name: str) -> list[Transcript]:
    """The conversations of a file. Raises Invalid if it holds no message.

    The first object shows what the file holds: an instance with a history, or an event.
    """
    first = next((row for row in _given(file, []) if isinstance(row.value, dict)), None)
    value = fields.mapping(first.value if first else None)
    if "history" in value:
        return INSTANCES.read(file, name)
    maker: Maker = SdkEvents if "kind" in value else ActionEvents
    reading = Items(lambda found: _items(_given(file, found), maker(), found))
    made = transcript_of(reading, format=NAME)
    return require_transcripts([made], reading.warnings, LABEL)


def _given(file: BinaryIO, warnings: list[Warning]) -> Iterator[Element]:
    """The events of a file: its lines, its elements, or the elements of a list in its object."""
    whole = json_file.one_object(file)
    found = json_file.members(file, whole.start, []) if whole else {}
    named = [found[name] for name in LISTS if name in found]
    if named:
        yield from json_file.elements(file, named[0].start, warnings)
    else:
        yield from json_file.rows(file, warnings)


def _items(
    given: Iterable[Element], maker: ActionEvents | SdkEvents, warnings: list[Warning]
) -> Iterator[Item]:
    for row in given:
        yield from attempt(partial(maker.take, row), row, warnings)
    yield from maker.rest()


# Evaluations


def _history(rows: Iterable[Element], warnings: list[Warning]) -> Iterator[Item]:
    """Events one by one; a pair of an action and its observation is split."""
    events = (
        Element(value, row.span, row.line)
        for row in rows
        for value in (row.value if isinstance(row.value, list) else [row.value])
    )
    return _items(events, ActionEvents(), warnings)


# Folders


def gather(folder: Folder) -> list[Gathered]:
    """The conversations stored as one file per event, with their notes."""
    places: dict[str, list[tuple[int, Member]]] = {}
    for name, member in folder.members.items():
        if match := _EVENT_FILE.fullmatch(name):
            place = match[1] or ""
            places.setdefault(place, []).append((int(match[2]), member))
    found = (
        _gathered(folder, place, [member for _, member in sorted(numbered)])
        for place, numbered in places.items()
    )
    return [one for one in found if one is not None]


def _gathered(folder: Folder, place: str, inside: list[Member]) -> Gathered | None:
    first = _object(inside[0])
    if "source" not in first:
        return None
    notes = [member for note in NOTES if (member := folder.members.get(place + note))]
    told: dict[str, Any] = {}
    for member in notes:
        told |= _object(member)
    maker: Maker = SdkEvents if "kind" in first else ActionEvents
    transcript = transcript_of(
        Items(partial(_files, notes, inside, maker)),
        format=NAME,
        title=fields.text(told, "title"),
        external_id=fields.word(told, "id", "conversation_id", limit=255) or None,
        model=fields.word(
            fields.mapping(fields.mapping(told, "agent"), "llm"), "model"
        ),
        member=inside[0].name,
    )
    names = frozenset(member.name for member in (*notes, *inside))
    return Gathered([transcript], names) if transcript else None


def _object(member: Member) -> dict[str, Any]:
    with member.open() as file:
        value = json_file.known_value(file, ByteSpan(0, member.size), [])
    return fields.mapping(value)


def _files(
    notes: list[Member], inside: list[Member], maker: Maker, warnings: list[Warning]
) -> Iterator[Item]:
    for note in notes:
        yield Event("notes", f"{note.name}#bytes:0-{note.size}")
    yield from _items(_rows(inside, warnings), maker(), warnings)


def _rows(inside: list[Member], warnings: list[Warning]) -> Iterator[Element]:
    for member in inside:
        with member.open() as file:
            row = json_file.element(file, ByteSpan(0, member.size), warnings)
        yield row._replace(member=member.name)


def _score(sample: Sample) -> float:
    """By the SDK's kind of event, an evaluation's instance, or a trajectory's event."""
    lists = (fields.items(sample.object, name) for name in LISTS)
    for row in [*sample.rows, *(one for found in lists for one in found)]:
        kind = fields.text(row, "kind")
        keys = fields.mapping(row).keys()
        if "source" in keys and kind.endswith(("Event", "Condensation", "Observation")):
            return 0.95
        if "history" in keys and keys & {"instance_id", "instruction"}:
            return 0.9
        if "source" in keys and keys & {"action", "observation"}:
            return 0.9
    return 0


INSTANCES = ListFormat(
    name=NAME,
    label=LABEL,
    score=_score,
    lists={"history": _history},
    known=lambda said, _: {"title": fields.text({"id": said["instance_id"]}, "id")},
)
"""Evaluations: one conversation per line, titled by its instance, with its outcome as events."""
FORMAT = Format(NAME, LABEL, _score, read, gather=gather)
FORMATS = (FORMAT,)
