"""AutoGen: the chat history of 0.2, the messages and the saved states of 0.4.

- 0.2: `{"chat_history": [...]}` (a dump of `ChatResult`) or a list of its messages, which are in
  OpenAI's form, with the results of one turn in `tool_responses`.
- 0.4 messages: `{"messages": [...], "stop_reason"}` (`TaskResult`), or a list of messages with
  `source` and `type`.
- 0.4 states (`save_state`): of an agent (`llm_context`), or of a team (`agent_states`), in which
  the manager's thread is one conversation, and each agent's exchange with its model another.

Source: github.com/microsoft/autogen, `python/packages/autogen-agentchat` (`messages.py`, `state`),
`python/packages/autogen-core/src/autogen_core/models/_types.py`; ag2ai/ag2, `autogen/agentchat`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, BinaryIO

from contextstudio.accounts.domain.errors import Place
from threads.domain.formats import blocks
from threads.domain.formats.arguments import read_call
from threads.domain.formats.format import Format
from threads.domain.formats.io import base64_text, fields, json_file, json_text
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.io.source import ByteSpan
from threads.domain.formats.kit.items import Item, Items, attempt, member_events
from threads.domain.formats.kit.row_format import RowFormat, StatelessReader, event
from threads.domain.formats.kit.transcripts import require_transcripts, transcript_of
from threads.domain.formats.openai import messages as openai
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role, Usage
from threads.domain.part import JSON, Image, Part, Text, Thinking, ToolCall, ToolResult
from threads.domain.transcript import Transcript, Warning

NAME = "autogen"
LABEL = "an AutoGen conversation"
CHAT_TYPES = frozenset(
    {"TextMessage", "MultiModalMessage", "StopMessage", "HandoffMessage"}
    | {"ToolCallSummaryMessage", "ToolCallRequestEvent", "ToolCallExecutionEvent"}
    | {"ThoughtEvent", "MemoryQueryEvent", "CodeGenerationEvent", "CodeExecutionEvent"}
)
"""Types of messages in 0.4."""
MODEL_TYPES = {
    "SystemMessage": Role.SYSTEM,
    "UserMessage": Role.USER,
    "AssistantMessage": Role.ASSISTANT,
    "FunctionExecutionResultMessage": Role.TOOL,
}
"""Types of messages that an agent sends to its model, with their roles."""
USERS = frozenset({"user", "user_proxy", "human"})
"""Sources that speak for a person; all other sources are agents."""
_STATES = frozenset({"llm_context", "agent_states", "agent_state", "message_thread"})
_OF_RESULTS = frozenset({"cost", "summary", "human_input", "chat_id"})
"""Members that distinguish a `ChatResult` from another program's chat history."""
_REPEATS = frozenset({"ToolCallSummaryMessage"})
"""Types of messages that repeat the results before them."""


def read_message(row: Element) -> Iterator[Item]:
    """A message of either version; one addressed only to the program is an event.

    Raises Invalid at the place that is malformed.
    """
    given = fields.require(row.value, dict, "a message", ())
    kind = fields.text(given, "type")
    made: Message | None
    if kind in MODEL_TYPES:
        made = _of_model(given, MODEL_TYPES[kind])
    elif "source" in given and kind not in _REPEATS:
        made = _of_agent(given, kind)
    elif "tool_responses" in given:
        answered = enumerate(fields.items(given, "tool_responses"))
        results = (
            openai.read_message({**_mapping(one, at), "role": "tool"})
            for at, one in answered
        )
        parts = tuple(part for message in results for part in message.parts)
        made = Message(role=Role.TOOL, parts=parts)
    else:
        made = None if "source" in given else openai.read_message(given)
    if made is None or not made.parts:
        yield event(row, "type", "role")
        return
    moment = fields.moment(given.get("created_at"))
    yield replace(made, records=(row.record,), created_at=moment or made.created_at)


def _mapping(one: JSON, place: int) -> dict[str, Any]:
    found: dict[str, Any] = fields.require(
        one, dict, "a result", ("tool_responses", place)
    )
    return found


def _of_model(given: dict[str, Any], role: Role) -> Message:
    """A message in the form in which it is sent to a model."""
    content, at = given.get("content"), ("content",)
    thought = fields.text(given, "thought")
    parts: Iterable[Part]
    if role is Role.TOOL:
        parts = _results(content, at)
    elif role is Role.ASSISTANT and isinstance(content, list):
        parts = _calls(content, at)
    else:
        parts = _content(content, at)
    thinking = (Thinking(thought),) if thought else ()
    return Message(role=role, parts=(*thinking, *parts), name=_source(given))


def _of_agent(given: dict[str, Any], kind: str) -> Message | None:
    """A message between agents, or an agent's event; None if no agent receives it."""
    content, at = given.get("content"), ("content",)
    source = fields.text(given, "source")
    role = Role.USER if source in USERS else Role.ASSISTANT
    usage = _usage(given.get("models_usage"))
    parts: Iterable[Part]
    if kind == "ToolCallRequestEvent":
        parts = _calls(fields.require(content, list, "a list of calls", at), at)
    elif kind == "ToolCallExecutionEvent":
        role, parts = Role.TOOL, _results(content, at)
    elif kind == "ThoughtEvent":
        words = fields.text(given, "content")
        parts = (Thinking(words),) if words else ()
    elif kind == "CodeExecutionEvent":
        role, words = Role.USER, fields.text(fields.mapping(given, "result"), "output")
        parts = (Text(words),) if words else ()
    elif kind == "MemoryQueryEvent":
        role, parts = Role.USER, _content([_memory(one) for one in content or ()], at)
    elif kind in ("ModelClientStreamingChunkEvent", "UserInputRequestedEvent"):
        return None
    else:
        parts = _content(content, at)
    return Message(
        role=role,
        parts=tuple(parts),
        name=_source(given),
        source_id=fields.word(given, "id") or None,
        usage=usage,
    )


def _source(given: dict[str, Any]) -> str | None:
    name = fields.word(given, "source")
    return name if name not in USERS else None


def _memory(one: JSON) -> JSON:
    return fields.mapping(one).get("content", one)


def _content(content: JSON, at: Place) -> Iterator[Part]:
    """Text, a list of texts and images, or a structured answer as JSON."""
    for place, one in enumerate(content if isinstance(content, list) else [content]):
        if isinstance(one, str):
            yield from blocks.read_content(one, at)
        elif isinstance(one, dict) and set(one) == {"data"}:
            if data := base64_text.decode(one["data"]):
                yield Image("image/png", data=data)
            else:
                yield from blocks.read_block({"type": "image", **one}, (*at, place))
        elif one is not None:
            yield Text(json_text.decode(json_text.dump(one)))


def _calls(content: list[JSON], at: Place) -> Iterator[ToolCall]:
    for place, call in enumerate(content):
        fields.require(call, dict, "a call", (*at, place))
        where = (*at, place, "name")
        name = fields.require(call.get("name"), str, "the name of a tool", where)
        yield read_call(fields.text(call, "id"), name, call.get("arguments", ""))


def _results(content: JSON, at: Place) -> Iterator[ToolResult]:
    found = fields.require(content, list, "a list of results", at)
    for place, result in enumerate(found):
        fields.require(result, dict, "a result", (*at, place))
        words = blocks.read_content(result.get("content"), (*at, place, "content"))
        said = tuple(part for part in words if isinstance(part, Text))
        name, is_error = (
            fields.text(result, "name") or None,
            result.get("is_error") is True,
        )
        yield ToolResult(fields.text(result, "call_id"), said, name, is_error)


def _usage(usage: JSON) -> Usage | None:
    return openai.read_usage(usage) if isinstance(usage, dict) else None


# States


def _states(
    file: BinaryIO, span: ByteSpan, name: str
) -> Iterator[tuple[str, ByteSpan]]:
    """The lists of messages in a state, each with its owner's name."""
    members = json_file.members(file, span.start, [])
    if "message_thread" in members:
        yield name, members["message_thread"]
    if "llm_context" in members:
        inside = json_file.members(file, members["llm_context"].start, [])
        if "messages" in inside:
            yield name, inside["messages"]
    for holder in ("agent_state", "inner_team_state"):
        if holder in members:
            yield from _states(file, members[holder], name)
    if "agent_states" in members:
        agents = json_file.members(file, members["agent_states"].start, [])
        for agent, inner in agents.items():
            yield from _states(file, inner, agent.split("/")[0])


def read(file: BinaryIO, name: str) -> list[Transcript]:
    """The conversation of a list, or those of a state. Raises Invalid if there is none."""
    members = json_file.members(file, 0, [])
    is_state = not _STATES.isdisjoint(members)
    return _read_state(file) if is_state else ROWS.read(file, name)


def _read_state(file: BinaryIO) -> list[Transcript]:
    """The conversations of a state, its team's first."""
    warnings: list[Warning] = []
    whole = json_file.members(file, 0, warnings)
    lists = sorted(
        _states(file, ByteSpan(0, 0), ""), key=lambda one: "Manager" not in one[0]
    )
    found: list[Transcript | None] = []
    for who, span in lists:
        notes = (
            [] if found else [*member_events(whole, {"llm_context", "agent_states"})]
        )

        def items(
            warned: list[Warning], span: ByteSpan = span, notes: list[Any] = notes
        ) -> Iterator[Item]:
            for row in json_file.elements(file, span.start, warned):
                yield from attempt(partial(read_message, row), row, warned)
            yield from notes

        held = Items(items, given=[] if found else warnings[:])
        made = transcript_of(held, format=NAME)
        if made and who and len(lists) > 1:
            made = replace(made, title=fields.one_line(f"{who}: {made.title}"))
        found.append(made)
    return require_transcripts(found, warnings, LABEL)


def _score(sample: Sample) -> float:
    type_ = fields.text(sample.object, "type")
    if type_.endswith("State") and not _STATES.isdisjoint(sample.object):
        return 0.95
    rows = sample.rows
    if "chat_history" in sample.object:
        said = [*map(fields.mapping, fields.items(sample.object, "chat_history"))]
        is_own = not _OF_RESULTS.isdisjoint(sample.object)
        is_own |= any("tool_responses" in one for one in said)
        return 0.9 if is_own and any("role" in one for one in said) else 0
    if "stop_reason" in sample.object:
        rows = fields.items(sample.object, "messages")
    for row in map(fields.mapping, rows):
        if (
            "source" in row
            and fields.text(row, "type") in CHAT_TYPES | MODEL_TYPES.keys()
        ):
            return 0.95
        if "tool_responses" in row and "role" in row:
            return 0.9
    return 0


ROWS = RowFormat(
    name=NAME,
    label=LABEL,
    score=_score,
    reader=lambda: StatelessReader(read_message),
    lists=("messages", "chat_history"),
)
FORMAT = Format(NAME, LABEL, _score, read)
