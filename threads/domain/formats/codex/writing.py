"""Writes Codex rollouts: sessions that `codex resume` continues.

The file has what Codex's own reader requires: first a `session_meta` with a new id; items that it
can read, each call before its output; a `user_message` event near the top, without which a session
is not listed; turns between `task_started` and `task_complete`. A `turn_context` is written only if
Codex's own context is in the thread, because it tells Codex not to insert its context again. The
file must have the name from `file_name`, in `~/.codex/sessions/<year>/<month>/<day>`.
"""

import re
import uuid
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import chain, islice
from typing import Any

from threads.domain.formats.format import Heading, Writer
from threads.domain.formats.io import json_text
from threads.domain.formats.openai.items_writing import (
    CODEX,
    ItemWriter,
    in_turns,
    instructions_of,
)
from threads.domain.message import Message, Role
from threads.domain.part import Text, Thinking, ToolResult

from .rollout import CONTEXT

VERSION = "0.140.0"
"""The version of Codex whose records are written."""
OPENING = 20
"""How many messages at the top are searched for Codex's own context."""
_CWD = re.compile(r"<cwd>\s*+((?:/|[A-Za-z]:\\)[^<]*+)</cwd>")
Payload = dict[str, Any]


def file_name(heading: Heading) -> str:
    """The name that the file needs, because Codex finds a session by its file's name."""
    return f"rollout-{datetime.now(UTC):%Y-%m-%dT%H-%M-%S}-{heading.export_id}.jsonl"


def write(messages: Iterable[Message], heading: Heading) -> Iterator[bytes]:
    """The rollout, line by line."""
    return _Rollout(messages, heading).lines()


class _Rollout:
    """Writes the lines of one rollout, and tracks the current turn."""

    def __init__(self, messages: Iterable[Message], heading: Heading) -> None:
        stream = iter(messages)
        opening = list(islice(stream, OPENING))
        texts = [text for message in opening for text in _texts(message)]
        found = (_CWD.search(text) for text in texts)
        self.cwd = next((match[1].strip() for match in found if match), "/")
        self.has_context = any(CONTEXT.match(text) for text in texts)
        self.messages = chain(opening, stream)
        self.heading = heading
        self.items = ItemWriter(heading, CODEX)
        self.model = heading.model
        self.now = datetime.now(UTC)
        self.turn_id = ""
        self.last_words: str | None = None
        self.is_listed = False
        """Whether a `user_message` event was written, which Codex needs to list a session."""
        self.is_answered = False
        """Whether the last item is an answer: another answer must begin a turn to stay separate."""

    def lines(self) -> Iterator[bytes]:
        turns = in_turns(self.messages)
        first = next(turns, [])
        has_prompt = first and self.heading.system != 0
        instructions = instructions_of(first[0][1]) if has_prompt else None
        yield self._line("session_meta", self._meta(instructions))
        for turn in chain([first[1:] if instructions else first], turns):
            for message, items in self.items.write(turn):
                yield from self._message(message, items)
        if not self.is_listed:
            yield from self._begin()
            yield self._told(self._title())
        yield from self._end()

    def _meta(self, instructions: str | None) -> Payload:
        id_, origin = str(self.heading.export_id), _uuid(self.heading.external_id)
        meta: Payload = {
            "id": id_,
            "session_id": id_,
            "timestamp": _stamp(self.now),
            "cwd": self.cwd,
            "originator": "contextstudio",
            "cli_version": VERSION,
            "source": "cli",
            "model_provider": None,
            "base_instructions": {"text": instructions} if instructions else None,
        }
        return meta | ({"forked_from_id": origin} if origin else {})

    def _message(self, message: Message, items: list[Payload]) -> Iterator[bytes]:
        self.now = message.created_at or self.now
        self.model = message.model or self.model
        if message.role is Role.ASSISTANT:
            yield from self._answer(message, items)
            return
        is_typed = _is_typed(message)
        if is_typed:
            yield from self._begin()
        for item in items:
            yield self._line("response_item", item)
        if is_typed:
            yield self._told("\n\n".join(_texts(message)) or self._title())
        self.is_answered = False

    def _answer(self, message: Message, items: list[Payload]) -> Iterator[bytes]:
        if not self.turn_id or self.is_answered:
            yield from self._begin()
        if not self.is_listed:
            yield self._told(self._title())
        for part in message.parts:
            if isinstance(part, Thinking) and part.text:
                yield self._said({"type": "agent_reasoning", "text": part.text})
            elif isinstance(part, Text) and part.text:
                self.last_words = part.text
                yield self._said({"type": "agent_message", "message": part.text})
        for item in items:
            yield self._line("response_item", item)
        self.is_answered = self.is_answered or bool(items)

    # Turns

    def _begin(self) -> Iterator[bytes]:
        yield from self._end()
        self.turn_id = str(uuid.uuid4())
        yield self._said({"type": "task_started", "turn_id": self.turn_id})
        if self.has_context and self.model:
            context = {
                "turn_id": self.turn_id,
                "cwd": self.cwd,
                "approval_policy": "on-request",
                "sandbox_policy": {"type": "read-only"},
                "model": self.model,
                "summary": "auto",
            }
            yield self._line("turn_context", context)

    def _end(self) -> Iterator[bytes]:
        if self.turn_id:
            words = {"turn_id": self.turn_id, "last_agent_message": self.last_words}
            yield self._said({"type": "task_complete"} | words)
        self.turn_id, self.last_words, self.is_answered = "", None, False

    def _told(self, words: str) -> bytes:
        """The event with a user's text, for the list of sessions and the screen."""
        self.is_listed = True
        lists: Payload = {"images": [], "local_images": [], "text_elements": []}
        return self._said({"type": "user_message", "message": words} | lists)

    def _title(self) -> str:
        return self.heading.title or "Conversation"

    def _said(self, event: Payload) -> bytes:
        return self._line("event_msg", event)

    def _line(self, kind: str, payload: Payload) -> bytes:
        record = {"timestamp": _stamp(self.now), "type": kind, "payload": payload}
        return json_text.dump(record) + b"\n"


def _is_typed(message: Message) -> bool:
    """Whether a message was typed by a user: not only results, and not inserted by Codex."""
    is_said = message.role is Role.USER and (
        not message.parts or any(type(part) is not ToolResult for part in message.parts)
    )
    return is_said and not any(CONTEXT.match(text) for text in _texts(message))


def _texts(message: Message) -> list[str]:
    return [part.text for part in message.parts if isinstance(part, Text)]


def _stamp(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d}Z"


def _uuid(text: str | None) -> str:
    """The id if it is a UUID, which Codex requires; else an empty string."""
    try:
        return str(uuid.UUID(text or ""))
    except ValueError:
        return ""


WRITER = Writer(
    "Codex rollout", "jsonl", "application/jsonl", write, file_name=file_name
)
