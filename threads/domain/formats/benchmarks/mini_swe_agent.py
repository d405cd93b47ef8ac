"""mini-swe-agent's trajectories: `{info, messages, trajectory_format?}`, OpenAI's messages.

Each message has the tool's own notes in `extra` (time, the provider's response); version 2 ends
with a message of the role `exit`, which is an event. A bare list, as version 1 wrote in its
beginning, is a plain list of messages. Source: mini-swe-agent.com/latest/usage/output_files.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePath

from threads.domain.formats.io import fields
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.kit.items import Item
from threads.domain.formats.kit.list_format import ListFormat, Values, each
from threads.domain.formats.openai import messages as openai
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role
from threads.domain.transcript import Event

OWN_NOTES = frozenset({"mini_version", "exit_status", "submission", "model_stats"})


def _known(said: Values, file_name: str) -> dict[str, str]:
    """The file's name, and the model of the run's configuration."""
    config = fields.mapping(fields.mapping(said["info"], "config"), "model")
    return {
        "title": PurePath(file_name).name.removesuffix(".json").removesuffix(".traj"),
        "model": fields.word(config, "model_name"),
    }


def _message(row: Element) -> Iterator[Item]:
    """A message, or the event that a run's end is. Raises Invalid where it is neither."""
    given = fields.require(row.value, dict, "a message", ())
    extra = fields.mapping(given, "extra")
    moment = fields.moment(extra.get("timestamp"))
    role = fields.text(given, "role")
    if role not in openai.ROLES:
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


def _score(sample: Sample) -> float:
    """What the file says of itself; else a run's notes beside its messages."""
    if fields.text(sample.object, "trajectory_format").startswith("mini-swe-agent"):
        return 0.95
    info = fields.mapping(sample.object, "info")
    has_messages = "messages" in sample.object
    return 0.9 if has_messages and info.keys() & OWN_NOTES else 0


LIST_FORMAT = ListFormat(
    name="mini_swe_agent",
    label="a mini-swe-agent trajectory",
    score=_score,
    lists={"messages": each(_message)},
    known=_known,
    is_whole=True,
)
FORMAT = LIST_FORMAT.format
