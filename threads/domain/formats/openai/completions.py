"""Data sets of prompts and completions: `{"prompt", "completion"}` a line.

Both are text, or both lists of OpenAI's messages; all else of a row is an event. Sources:
platform.openai.com/docs/guides/fine-tuning (before chats), huggingface.co/docs/trl/dataset_formats.
"""

from collections.abc import Iterator
from functools import partial
from typing import BinaryIO

from threads.domain.formats.format import Format
from threads.domain.formats.io import fields
from threads.domain.formats.io.source import Span
from threads.domain.formats.kit.reading import (
    Item,
    Reading,
    Row,
    attempt,
    conversation,
    conversations,
    element,
    elements,
    members,
    objects,
)
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role
from threads.domain.part import JSON, Text
from threads.domain.transcript import Event, Transcript, Warning

from . import messages as openai

NAME = "completions"
LABEL = "a data set of prompts and completions"
_ROLES = {"prompt": Role.USER, "completion": Role.ASSISTANT}


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """One conversation a row. Raises Invalid where none holds a message."""
    warnings: list[Warning] = []
    found: list[Transcript | None] = []
    for span in objects(file, warnings):
        inner = members(file, span.start, warnings)
        given = () if found else tuple(warnings)
        reading = Reading(partial(_items, file, inner), given)
        found.append(conversation(reading, format=NAME))
    return conversations(found, LABEL, warnings)


def _items(
    file: BinaryIO, found: dict[str, Span], warnings: list[Warning]
) -> Iterator[Item]:
    for name, role in _ROLES.items():
        if name not in found:
            continue
        row = element(file, found[name], warnings)
        if isinstance(row.value, list):
            for one in elements(file, row.span.start, warnings):
                yield from attempt(partial(_message, one), one, warnings)
        else:
            yield from attempt(partial(_words, role, row), row, warnings)
    for name, span in found.items():
        if name not in _ROLES:
            yield Event(name, span.record)


def _message(row: Row) -> Iterator[Item]:
    yield openai.read_message(row.value, records=(row.record,))


def _words(role: Role, row: Row) -> Iterator[Item]:
    """A text as a message; its blanks stay, for they were trained on."""
    text: JSON = fields.require(row.value, str, "text or a list of messages", ())
    yield Message(role=role, parts=(Text(text),) if text else (), records=(row.record,))


def _score(sample: Sample) -> float:
    named = {"prompt", "completion"}
    return 0.7 if any(named <= row.keys() for row in sample.rows) else 0


FORMAT = Format(NAME, LABEL, _score, read)
