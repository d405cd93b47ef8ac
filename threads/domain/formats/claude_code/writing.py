"""Writes a session file for `claude --resume`: new ids, one chain, one block per line.

Each line has the members that the tool's own reader requires (`parentUuid`, `isSidechain`, `type`,
`uuid`, `timestamp`, `sessionId`, `userType`, `cwd`, `gitBranch`, `version`, `message`). The file
must be named after its session and be in a project's folder under `~/.claude/projects`. Left out is
what no session file holds: a system prompt at the top, because the tool has its own. Any other
system message is a user's text in a frame, marked as not typed (`isMeta`). From the first changed
message on, signatures of reasoning are invalid, so reasoning is left out, and token counts are
zero, because the tool would shorten its context by them.
"""

import uuid
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from threads.domain.formats.anthropic.messages import write_pieces
from threads.domain.formats.format import Heading, Writer
from threads.domain.formats.io import json_text
from threads.domain.formats.kit.calls import CallIds
from threads.domain.message import Message, Role, Usage
from threads.domain.part import ToolCall

VERSION = "2.1.219"
"""The version of the tool that writes such lines."""
_SYSTEM = (Role.SYSTEM, Role.DEVELOPER)
_REASONING = ("thinking", "redacted_thinking")
_NO_USAGE = Usage()

Record = dict[str, Any]


def write(messages: Iterable[Message], heading: Heading) -> Iterator[bytes]:
    """The lines of a session, and one with its title."""
    session = _Session(heading)
    for number, message in enumerate(messages):
        yield from map(_line, session.records(number, message))
    if heading.title or session.parent is None:
        title = {"type": "custom-title", "customTitle": heading.title or "Conversation"}
        yield _line({**title, "sessionId": session.id})


def file_name(heading: Heading) -> str:
    """The name by which the tool finds the session."""
    return f"{heading.export_id}.jsonl"


class _Session:
    """The chain of lines written so far."""

    def __init__(self, heading: Heading) -> None:
        self.id = str(heading.export_id)
        self._heading = heading
        self._call_ids = CallIds()
        self.parent: str | None = None
        """The id of the last line written."""
        self._count = 0
        self._now = datetime.now(UTC)
        self._is_top = True

    def records(self, number: int, message: Message) -> Iterator[Record]:
        """The lines of a message, given its index in the thread."""
        self._is_top = self._is_top and message.role in _SYSTEM
        prompt = self._heading.system
        if self._is_top and (prompt is None or number < prompt):
            return
        self._now = message.created_at or self._now
        for form, _ in write_pieces(self._call_ids.given(message), self._heading):
            if message.role is Role.ASSISTANT:
                yield from self._answer(number, message, form["content"])
            else:
                note = {"isMeta": True} if message.role in _SYSTEM else {}
                said = {"role": "user", "content": _whole(form["content"])}
                yield self._record("user", said) | note

    def _answer(
        self, number: int, message: Message, content: str | list[Record]
    ) -> Iterator[Record]:
        """One line per block; each has the whole message's id, usage and stop reason."""
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        first = self._heading.first_changed
        is_changed = first is not None and number >= first
        calls = any(isinstance(part, ToolCall) for part in message.parts)
        envelope = {
            "id": f"msg_{self._new_id().hex}",
            "type": "message",
            "role": "assistant",
            "model": message.model or self._heading.model or "unknown",
            "stop_reason": "tool_use" if calls else "end_turn",
            "stop_sequence": None,
            "usage": _usage(_NO_USAGE if is_changed else message.usage or _NO_USAGE),
        }
        for block in content:
            if not (is_changed and block["type"] in _REASONING):
                yield self._record("assistant", {**envelope, "content": [block]})

    def _record(self, type_: str, message: Record) -> Record:
        parent, self.parent = self.parent, str(self._new_id())
        stamp = self._now.astimezone(UTC).isoformat(timespec="milliseconds")
        return {
            "parentUuid": parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/",
            "sessionId": self.id,
            "version": VERSION,
            "gitBranch": "",
            "type": type_,
            "message": message,
            "uuid": self.parent,
            "timestamp": stamp.replace("+00:00", "Z"),
        }

    def _new_id(self) -> uuid.UUID:
        """An id unique among all lines of all sessions; the same for the same export."""
        self._count += 1
        return uuid.uuid5(self._heading.export_id, str(self._count))


def _whole(content: str | list[Record]) -> str | list[Record]:
    """The content, with an empty `content` for results without one, which readers require."""
    if isinstance(content, str):
        return content
    empty: Record = {"content": ""}
    return [
        empty | block if block["type"] == "tool_result" else block for block in content
    ]


def _usage(usage: Usage) -> Record:
    return {
        "input_tokens": usage.input_tokens - usage.cached_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached_tokens,
        "output_tokens": usage.output_tokens,
    }


def _line(record: Record) -> bytes:
    return json_text.dump(record, separators=(",", ":")) + b"\n"


WRITER = Writer(
    "Claude Code session", "jsonl", "application/jsonl", write, file_name=file_name
)
