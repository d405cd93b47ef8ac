"""SWE-agent's trajectories (`.traj`): one run, as the history that was sent to the model.

`history` holds the messages; `trajectory` holds the same run step by step, each step with all
that was sent before it, and is kept as an event. Before 1.0 actions are text in the answer, later
they are tool calls. Source: swe-agent.com/latest/usage/trajectories.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePath

from threads.domain.formats.io import fields, json_text
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.kit.items import Item
from threads.domain.formats.kit.list_format import ListFormat, Values, each
from threads.domain.formats.openai import messages as openai
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role
from threads.domain.part import Text

DEMONSTRATION = "demonstration"
"""The name of messages that show an example: sent to the model, but no part of the run."""


def _message(row: Element) -> Iterator[Item]:
    """A message of the history. Raises Invalid where it is none."""
    given = fields.require(row.value, dict, "a message", ())
    ids = fields.items(given, "tool_call_ids")
    if ids and "tool_call_id" not in given:
        given = {**given, "tool_call_id": ids[0]}
    message = openai.read_message(given, records=(row.record,))
    if given.get("is_demo") is True:
        message = replace(message, name=DEMONSTRATION)
    yield message


def _step(row: Element) -> Iterator[Item]:
    """A step of a file without a history: what the model said, what it was shown."""
    step = fields.require(row.value, dict, "a step", ())
    said = fields.text(step, "response", "thought", "action")
    shown = fields.text(step, "observation")
    for role, text in ((Role.ASSISTANT, said), (Role.USER, shown)):
        if text:
            yield Message(role=role, parts=(Text(text),), records=(row.record,))


def _known(said: Values, file_name: str) -> dict[str, str]:
    """The file's name, and the model of the run's configuration, which is JSON in a text."""
    config = said["replay_config"]
    if isinstance(config, str):
        try:
            config = json_text.parse_strictly(config)
        except ValueError:
            config = None
    agent = fields.mapping(fields.mapping(config), "agent")
    model = fields.word(fields.mapping(agent, "model"), "name")
    return {"title": PurePath(file_name).stem, "model": model}


def _score(sample: Sample) -> float:
    """Its two lists; of one alone, what only its messages or its steps have."""
    if {"trajectory", "history"} <= sample.object.keys():
        return 0.95
    said = fields.mapping(next(iter(fields.items(sample.object, "history")), None))
    if {"role", "agent"} <= said.keys():
        return 0.9
    step = next(iter(fields.items(sample.object, "trajectory")), None)
    return 0.9 if {"action", "observation"} <= fields.mapping(step).keys() else 0


LIST_FORMAT = ListFormat(
    name="swe_agent",
    label="a SWE-agent trajectory",
    score=_score,
    lists={"history": each(_message), "trajectory": each(_step)},
    known=_known,
    is_whole=True,
)
FORMAT = LIST_FORMAT.format
