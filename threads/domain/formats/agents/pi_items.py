"""Makes items from the entries of a pi session: messages as given to the model, or events."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats import blocks
from threads.domain.formats.io import base64_text, fields
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.kit.items import Item
from threads.domain.message import Message, Role, Usage
from threads.domain.part import JSON, Image, Part, Text, Thinking, ToolCall, ToolResult
from threads.domain.transcript import Event

_USER = frozenset({"user", "custom", "hookMessage"})
COMPACTION = (
    "The conversation history before this point was compacted into the following summary:"
    "\n\n<summary>\n{}\n</summary>"
)
BRANCH = (
    "The following is a summary of a branch that this conversation came back from:"
    "\n\n<summary>\n{}</summary>"
)
_SUMMARIES = {"branchSummary": BRANCH, "compactionSummary": COMPACTION}
_UNFINISHED = frozenset({"aborted", "error"})


def read_entry(row: Element) -> Iterator[Item]:
    """The item of one line. Raises Invalid if it isn't an entry."""
    entry = fields.require(row.value, dict, "an entry", ())
    type_ = fields.text(entry, "type") or "entry"
    message: Message | None = None
    if type_ == "message":
        given = fields.require(entry.get("message"), dict, "a message", ("message",))
        message = _message(given)
        type_ = f"message/{fields.text(given, 'role')}"
    elif type_ == "custom_message":
        parts = _content(entry.get("content"), ("content",))
        message = Message(role=Role.USER, parts=parts)
    elif type_ == "branch_summary":
        message = _summarized(entry, BRANCH)
    if message is None:
        yield Event(type_, row.record, fields.moment(entry.get("timestamp")))
    else:
        yield _recorded(message, row)


def agents_in(entry: JSON) -> list[dict[str, Any]]:
    """The sub-agents whose messages a tool's result holds, as pi's extension `subagent` keeps them.

    Of these, the model reads at most the last answers.
    """
    message = fields.mapping(entry, "message")
    if fields.text(message, "role") != "toolResult":
        return []
    runs = fields.items(fields.mapping(message, "details"), "results")
    return [run for run in runs if fields.items(run, "messages")]


def agent_messages(run: dict[str, Any]) -> list[JSON]:
    """The messages of a sub-agent, with its task as the extension gave it."""
    given = fields.items(run, "messages")
    task = fields.text(run, "task")
    if task and fields.text(given[0], "role") != "user":
        given = [{"role": "user", "content": f"Task: {task}"}, *given]
    return given


def read_agent_message(given: JSON, row: Element) -> Iterator[Item]:
    """The item of a message of a sub-agent's, from the line of its result."""
    message = fields.require(given, dict, "a message", ("message", "details"))
    at = fields.moment(message.get("timestamp"))
    if read := _message(message):
        yield replace(read, created_at=at, records=(row.record,))
    else:
        yield Event(f"message/{fields.text(message, 'role')}", row.record, at)


def read_summary(row: Element) -> Message | None:
    """The message that a compaction puts in place of others; None if it is empty."""
    message = _summarized(row.value, COMPACTION)
    return _recorded(message, row) if message else None


def _summarized(entry: JSON, frame: str) -> Message | None:
    """A summary as pi gives it to the model; None if it is empty."""
    words = fields.text(entry, "summary")
    return _words(frame.format(words)) if words else None


def _recorded(message: Message, row: Element) -> Message:
    entry = fields.mapping(row.value)
    return replace(
        message,
        source_id=fields.word(entry, "id") or None,
        created_at=fields.moment(entry.get("timestamp")),
        records=(row.record,),
    )


def _message(message: dict[str, Any]) -> Message | None:
    """The message by its role; None if it isn't given to the model."""
    role = fields.text(message, "role")
    content = message.get("content")
    if role in _USER:
        return Message(role=Role.USER, parts=_content(content, ("content",)))
    if role == "assistant":
        return _answer(message)
    if role == "toolResult":
        call_id = fields.text(message, "toolCallId")
        name = fields.text(message, "toolName") or None
        parts = _content(content, ("content",))
        given = tuple(part for part in parts if isinstance(part, Text | Image))
        result = ToolResult(call_id, given, name, message.get("isError") is True)
        return Message(role=Role.TOOL, parts=(result,))
    if role in _SUMMARIES:
        return _summarized(message, _SUMMARIES[role])
    if role == "bashExecution" and message.get("excludeFromContext") is not True:
        return _words(_shell(message))
    return None


def _answer(message: dict[str, Any]) -> Message:
    given = message.get("usage")
    usage = None
    if isinstance(given, dict):
        cached = fields.count(given, "cacheRead")
        fresh = fields.count(given, "input") + fields.count(given, "cacheWrite")
        usage = Usage(
            input_tokens=fresh + cached,
            output_tokens=fields.count(given, "output"),
            cached_tokens=cached,
        )
    return Message(
        role=Role.ASSISTANT,
        parts=_content(message.get("content"), ("content",)),
        model=fields.word(message, "model") or None,
        usage=usage,
        partial=fields.text(message, "stopReason") in _UNFINISHED,
    )


def _words(text: str) -> Message | None:
    return Message(role=Role.USER, parts=(Text(text),)) if text else None


def _shell(message: dict[str, Any]) -> str:
    """A command that the user ran, and its output, as pi gives them to the model."""
    output = fields.text(message, "output")
    said = f"Ran `{fields.text(message, 'command')}`\n"
    said += f"```\n{output}\n```" if output else "(no output)"
    code = message.get("exitCode")
    if message.get("cancelled") is True:
        said += "\n\n(command cancelled)"
    elif code:
        said += f"\n\nCommand exited with code {code}"
    return said


def _content(content: JSON, at: tuple[str | int, ...]) -> tuple[Part, ...]:
    """Text or pi's blocks; other blocks are read like the providers' blocks."""
    if not isinstance(content, list):
        return blocks.read_content(content, at)
    found: list[Part] = []
    for index, block in enumerate(content):
        part = _block(fields.mapping(block))
        found += [part] if part else blocks.read_block(block, (*at, index))
    return tuple(found)


def _block(block: dict[str, Any]) -> Part | None:
    match block.get("type"):
        case "thinking":
            signature = fields.text(block, "thinkingSignature") or None
            if block.get("redacted") is True and signature:
                return Thinking("", data=signature)
            return Thinking(fields.text(block, "thinking"), signature)
        case "toolCall":
            name = fields.text(block, "name")
            if not name:
                raise Invalid("Expected the name of a tool here.", at=("content",))
            return ToolCall(fields.text(block, "id"), name, block.get("arguments", {}))
        case "image" if (data := base64_text.decode(block.get("data"))) is not None:
            return Image(fields.text(block, "mimeType") or "image/*", data=data)
    return None
