"""Letta's agent files (`.af`): an agent with the messages that it remembers.

Newer files hold several agents (`agents`); an older file is itself one agent. An agent's other
members (memory, tools, settings) become events.

Sources: github.com/letta-ai/agent-file; github.com/letta-ai/letta, `letta/schemas/message.py`,
`letta/schemas/letta_message_content.py`.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, BinaryIO

from threads.domain.formats import blocks
from threads.domain.formats.format import Format
from threads.domain.formats.io import fields, json_file
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.io.source import ByteSpan
from threads.domain.formats.kit.items import Item, Items, attempt, member_events
from threads.domain.formats.kit.transcripts import require_transcripts, transcript_of
from threads.domain.formats.openai import messages as openai
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role
from threads.domain.part import Opaque, Part, Text, Thinking, ToolResult
from threads.domain.transcript import Event, Transcript, Warning

NAME = "letta"
LABEL = "a Letta agent file"
_ROLES = {
    "system": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "approval": Role.ASSISTANT,
    "tool": Role.TOOL,
    "summary": Role.USER,
}
_OWN = frozenset({"memory_blocks", "tool_ids", "name"})


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """The conversation of each agent. Raises Invalid if none holds a message."""
    warnings: list[Warning] = []
    whole = json_file.members(file, 0, warnings)
    agents = [ByteSpan(0, 0)]
    beside: list[Event] = []
    if (held := whole.get("agents")) is not None:
        agents = [
            child.span for child in json_file.children(file, held.start, warnings)
        ]
        beside = [*member_events(whole, {"agents"})]
    found: list[Transcript | None] = []
    for span in agents:
        notes, given = ([], []) if found else (beside, warnings[:])
        items = Items(partial(_items, file, span, notes), given=given)
        members = json_file.members(file, span.start, [])
        said = {
            name: json_file.get(file, members, name) for name in ("id", "name", "model")
        }
        told = fields.mapping(json_file.get(file, members, "llm_config"))
        made = transcript_of(
            items,
            format=NAME,
            title=fields.text(said, "name"),
            external_id=fields.word(said, "id", limit=255) if not held else None,
            model=fields.word(said, "model") or fields.word(told, "model"),
        )
        found.append(made)
    return require_transcripts(found, warnings, LABEL)


def _items(
    file: BinaryIO, span: ByteSpan, notes: list[Event], warnings: list[Warning]
) -> Iterator[Item]:
    members = json_file.members(file, span.start, warnings)
    yield from notes
    if (held := members.get("messages")) is not None:
        for row in json_file.elements(file, held.start, warnings):
            yield from attempt(partial(_message, row), row, warnings)
    yield from member_events(members, {"messages"})


def _message(row: Element) -> Iterator[Item]:
    """A message; an event if it is empty, like a reply to an approval request.

    Raises Invalid if it is malformed.
    """
    given = fields.require(row.value, dict, "a message", ())
    role = blocks.read_role(given, _ROLES, ())
    parts = tuple(_parts(given, role))
    if not parts:
        yield Event(
            fields.text(given, "role"),
            row.record,
            fields.moment(given.get("created_at")),
        )
        return
    yield Message(
        role=role,
        parts=parts,
        name=None if role is Role.TOOL else fields.word(given, "name") or None,
        model=fields.word(given, "model") or None if role is Role.ASSISTANT else None,
        source_id=fields.word(given, "id") or None,
        created_at=fields.moment(given.get("created_at")),
        records=(row.record,),
    )


def _parts(given: dict[str, Any], role: Role) -> Iterator[Part]:
    content = given.get("content")
    if content is None:  # in the first files
        content = given.get("text")
    said = [*_content(content)]
    if role is Role.TOOL:
        yield from _results(given, said)
        return
    yield from said
    for place, call in enumerate(fields.items(given, "tool_calls")):
        yield openai.read_tool_call(call, ("tool_calls", place))


def _results(given: dict[str, Any], said: list[Part]) -> Iterator[Part]:
    """The results of tools: separately if the message lists them, else its content."""
    name = fields.text(given, "name") or None
    words = tuple(part for part in said if isinstance(part, blocks.RESULT_KINDS))
    returns = fields.items(given, "tool_returns")
    for one in returns:
        call_id = fields.text(one, "tool_call_id") or fields.text(given, "tool_call_id")
        told = fields.text(one, "func_response", "tool_return")
        content = (Text(told),) if told and len(returns) > 1 else words
        is_error = fields.text(one, "status") == "error"
        yield ToolResult(call_id, content, name, is_error)
    if not returns:
        yield ToolResult(fields.text(given, "tool_call_id"), words, name)


def _content(content: Any) -> Iterator[Part]:
    if isinstance(content, str):
        yield from blocks.read_content(content, ("content",))
        return
    for place, block in enumerate(content if isinstance(content, list) else ()):
        kind = fields.text(block, "type")
        signature = fields.text(block, "signature") or None
        if kind == "reasoning":
            yield Thinking(fields.text(block, "reasoning"), signature)
        elif kind == "redacted_reasoning":
            yield Thinking("", data=fields.text(block, "data"))
        elif kind == "omitted_reasoning":
            if signature:
                yield Thinking("", data=signature)
        elif kind == "summarized_reasoning":
            texts = (fields.text(one, "text") for one in fields.items(block, "summary"))
            encrypted = fields.text(block, "encrypted_content") or None
            yield Thinking("\n\n".join(filter(None, texts)), None, encrypted)
        elif kind == "text" and not fields.text(block, "text").strip():
            continue
        elif kind in ("tool_call", "tool_return"):  # the message itself has these
            yield Opaque(kind, block)
        else:
            yield from blocks.read_block(block, ("content", place))


def _score(sample: Sample) -> float:
    """An agent's own members, in a list of agents or alone."""
    for agent in [*fields.items(sample.object, "agents"), sample.object]:
        told = fields.mapping(agent).keys()
        if told >= {"agent_type", "core_memory"} or told >= _OWN:
            return 0.95
    return 0


FORMATS = (
    Format(NAME, LABEL, _score, read),
    Format(
        NAME,
        "a Letta agent file inside a JSON string",
        lambda sample: 0.9 * sample.head.lstrip().startswith(b'"{\\n  \\"agents\\"'),
        hint="Save the text of the string as a file of its own and import that.",
    ),
)
