"""tau-bench's results: a list of simulations, each a conversation of OpenAI's messages.

`{task_id, reward, info, traj, trial}`: `traj` are the messages, all else is what became of them
and stays as events. Source: github.com/sierra-research/tau-bench.
"""

from collections.abc import Iterator
from dataclasses import replace
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
    elements,
    members,
    objects,
    value_of,
)
from threads.domain.formats.openai import messages as openai
from threads.domain.formats.sample import Sample
from threads.domain.transcript import Event, Transcript, Warning

NAME = "tau_bench"
LABEL = "a tau-bench result"


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """One conversation a simulation. Raises Invalid where none holds a message."""
    warnings: list[Warning] = []
    found: list[Transcript | None] = []
    for span in objects(file, warnings):
        found.append(_transcript(file, span, () if found else tuple(warnings)))
    return conversations(found, LABEL, warnings)


def _transcript(
    file: BinaryIO, span: Span, given: tuple[Warning, ...]
) -> Transcript | None:
    warnings = list(given)
    found = members(file, span.start, warnings)
    reading = Reading(partial(_items, file, found), tuple(warnings))
    transcript = conversation(reading, format=NAME)
    if transcript is None:
        return None
    task, trial = (value_of(file, found.get(name)) for name in ("task_id", "trial"))
    title = fields.one_line(f"Task {task}, trial {trial}: {transcript.title}")
    return replace(transcript, title=title)


def _items(
    file: BinaryIO, found: dict[str, Span], warnings: list[Warning]
) -> Iterator[Item]:
    """The messages, then what is said of them."""
    if "traj" in found:
        for row in elements(file, found["traj"].start, warnings):
            yield from attempt(partial(_message, row), row, warnings)
    for name, span in found.items():
        if name != "traj":
            yield Event(name, span.record)


def _message(row: Row) -> Iterator[Item]:
    yield openai.read_message(row.value, records=(row.record,))


def _score(sample: Sample) -> float:
    named = {"task_id", "reward", "traj"}
    return 0.95 if any(named <= row.keys() for row in sample.rows) else 0


FORMAT = Format(NAME, LABEL, _score, read)
