"""Trajectories of SWE-agent (`.traj`) and of mini-swe-agent: one run per file.

SWE-agent: `history` holds the messages that were sent to the model. `trajectory` holds the same run
step by step, each step with everything sent before it, and is kept as an event. Before 1.0, actions
are text in the answer; later they are tool calls.

mini-swe-agent: `{info, messages, trajectory_format?}` with OpenAI's messages. Each has the tool's
own notes in `extra` (time, the provider's response). Version 2 ends with a message with the role
`exit`, which is an event. The bare list that version 1 first wrote is read as a plain list of
messages.

Sources: swe-agent.com/latest/usage/trajectories; mini-swe-agent.com/latest/usage/output_files.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePath

from threads.domain.formats.io import fields, json_text
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.kit import spoken
from threads.domain.formats.kit.items import Item
from threads.domain.formats.kit.list_format import ListFormat, Values, per_element
from threads.domain.formats.openai import messages as openai
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role
from threads.domain.part import Text
from threads.domain.transcript import Event

DEMONSTRATION = "demonstration"
"""The name of example messages: they were sent to the model, but are not part of the run."""
MINI_NOTES = frozenset({"mini_version", "exit_status", "submission", "model_stats"})
"""Members in which mini-swe-agent describes a run."""


def _message(row: Element) -> Iterator[Item]:
    """A message of the history. Raises Invalid if it isn't one."""
    given = fields.require(row.value, dict, "a message", ())
    ids = fields.items(given, "tool_call_ids")
    if ids and "tool_call_id" not in given:
        given = {**given, "tool_call_id": ids[0]}
    message = openai.read_message(given, records=(row.record,))
    if given.get("is_demo") is True:
        message = replace(message, name=DEMONSTRATION)
    yield message


def _step(row: Element) -> Iterator[Item]:
    """The messages of a step in a file without a history: the model's, and the observation."""
    step = fields.require(row.value, dict, "a step", ())
    said = fields.text(step, "response", "thought", "action")
    shown = fields.text(step, "observation")
    for role, text in ((Role.ASSISTANT, said), (Role.USER, shown)):
        if text:
            yield Message(role=role, parts=(Text(text),), records=(row.record,))


def _known(said: Values, file_name: str) -> dict[str, str]:
    """The title from the file's name, and the model from the configuration, possibly JSON text."""
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
    """By its two lists; by one alone, if its messages or steps have the tool's own members."""
    if {"trajectory", "history"} <= sample.object.keys():
        return 0.95
    said = fields.mapping(next(iter(fields.items(sample.object, "history")), None))
    if {"role", "agent"} <= said.keys():
        return 0.9
    step = next(iter(fields.items(sample.object, "trajectory")), None)
    return 0.9 if {"action", "observation"} <= fields.mapping(step).keys() else 0


SWE_AGENT = ListFormat(
    name="swe_agent",
    label="a SWE-agent trajectory",
    score=_score,
    lists={"history": per_element(_message), "trajectory": per_element(_step)},
    known=_known,
    is_whole=True,
)


# mini-swe-agent


def _known_of_mini(said: Values, file_name: str) -> dict[str, str]:
    """The title from the file's name, and the model from the run's configuration."""
    config = fields.mapping(fields.mapping(said["info"], "config"), "model")
    return {
        "title": PurePath(file_name).name.removesuffix(".json").removesuffix(".traj"),
        "model": fields.word(config, "model_name"),
    }


def _message_of_mini(row: Element) -> Iterator[Item]:
    """A message, or an event for the end of a run. Raises Invalid if it is neither."""
    given = fields.require(row.value, dict, "a message", ())
    extra = fields.mapping(given, "extra")
    moment = fields.moment(extra.get("timestamp"))
    role = fields.text(given, "role")
    if role not in spoken.ROLES:
        kind = role or fields.text(given, "object", "type")
        yield Event(kind or "record", row.record, moment)
        return
    message: Message = openai.read_message(given, records=(row.record,))
    response = fields.mapping(extra, "response")
    if message.role is Role.ASSISTANT:
        message = replace(
            message,
            model=fields.word(response, "model") or None,
            source_id=fields.word(response, "id") or message.source_id,
            usage=openai.read_usage(response.get("usage")),
        )
    yield replace(message, created_at=moment)


def _score_of_mini(sample: Sample) -> float:
    """By the format that the file names; else by a run's notes beside its messages."""
    if fields.text(sample.object, "trajectory_format").startswith("mini-swe-agent"):
        return 0.95
    info = fields.mapping(sample.object, "info")
    has_messages = "messages" in sample.object
    return 0.9 if has_messages and info.keys() & MINI_NOTES else 0


MINI = ListFormat(
    name="mini_swe_agent",
    label="a mini-swe-agent trajectory",
    score=_score_of_mini,
    lists={"messages": per_element(_message_of_mini)},
    known=_known_of_mini,
    is_whole=True,
)
FORMATS = (SWE_AGENT.format, MINI.format)
