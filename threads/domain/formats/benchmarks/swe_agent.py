"""SWE-agent's trajectories (`.traj`): one run, as the history that was sent to the model.

`history` holds the messages; `trajectory` holds the same run step by step, each step with all
that was sent before it, and is kept as an event. Before 1.0 actions are text in the answer, later
they are tool calls. Source: swe-agent.com/latest/usage/trajectories.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import PurePath
from typing import Any, BinaryIO

from threads.domain.formats.format import Format
from threads.domain.formats.io import fields, json_text
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
    value_of,
)
from threads.domain.formats.openai import messages as openai
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role
from threads.domain.part import Text
from threads.domain.transcript import Event, Transcript, Warning

NAME = "swe_agent"
LABEL = "a SWE-agent trajectory"
DEMONSTRATION = "demonstration"
"""The name of messages that show an example: sent to the model, but no part of the run."""


def read(file: BinaryIO, name: str) -> list[Transcript]:
    """The run of a file, named as the file. Raises Invalid where it holds no message."""
    warnings: list[Warning] = []
    found = members(file, 0, warnings)
    reading = Reading(partial(_items, file, found), tuple(warnings))
    transcript = conversation(
        reading,
        format=NAME,
        title=PurePath(name).stem,
        model=_model(value_of(file, found.get("replay_config"))),
    )
    return conversations([transcript], LABEL, reading.warnings)


def _items(
    file: BinaryIO, found: dict[str, Span], warnings: list[Warning]
) -> Iterator[Item]:
    history = found.get("history")
    for name, span in found.items():
        if name == "history" or (name == "trajectory" and history is None):
            reader = _message if name == "history" else _step
            for row in elements(file, span.start, warnings):
                yield from attempt(partial(reader, row), row, warnings)
        else:
            yield Event(name, span.record)


def _message(row: Row) -> Iterator[Item]:
    """A message of the history. Raises Invalid where it is none."""
    given = fields.require(row.value, dict, "a message", ())
    ids = fields.items(given, "tool_call_ids")
    if ids and "tool_call_id" not in given:
        given = {**given, "tool_call_id": ids[0]}
    message = openai.read_message(given, records=(row.record,))
    if given.get("is_demo") is True:
        message = replace(message, name=DEMONSTRATION)
    yield message


def _step(row: Row) -> Iterator[Item]:
    """A step of a file without a history: what the model said, what it was shown."""
    step = fields.require(row.value, dict, "a step", ())
    said = fields.text(step, "response", "thought", "action")
    shown = fields.text(step, "observation")
    for role, text in ((Role.ASSISTANT, said), (Role.USER, shown)):
        if text:
            yield Message(role=role, parts=(Text(text),), records=(row.record,))


def _model(config: Any) -> str:
    """The model of the run's configuration, which is JSON in a text."""
    if isinstance(config, str):
        try:
            config = json_text.parse_strictly(config)
        except ValueError:
            return ""
    agent = fields.mapping(fields.mapping(config), "agent")
    return fields.word(fields.mapping(agent, "model"), "name")


def _score(sample: Sample) -> float:
    """Its two lists; of one alone, what only its messages or its steps have."""
    if {"trajectory", "history"} <= sample.object.keys():
        return 0.95
    said = fields.mapping(next(iter(fields.items(sample.object, "history")), None))
    if {"role", "agent"} <= said.keys():
        return 0.9
    step = next(iter(fields.items(sample.object, "trajectory")), None)
    return 0.9 if {"action", "observation"} <= fields.mapping(step).keys() else 0


FORMAT = Format(NAME, LABEL, _score, read)
