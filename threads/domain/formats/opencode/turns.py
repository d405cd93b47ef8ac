"""Messages of opencode: a message of its own is several parts, a tool's part call and result.

A turn of the model becomes the assistant's message and, behind it, the tool's. A compaction is
a user's message with a part `compaction` and the summary that answers it; an output that was
cleared later is one too. Parts that are no content (steps, patches, snapshots) are events.

Source: packages/opencode/src/session/message-v2.ts and compaction.ts of sst/opencode.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from threads.domain.formats.io import fields
from threads.domain.formats.kit.context_view import ContextView
from threads.domain.formats.kit.items import Item
from threads.domain.message import Message, Role
from threads.domain.part import JSON, Text, ToolResult
from threads.domain.transcript import Compaction, Event

from .parts import Read, SessionTurn, read_turn, read_usage

CLEARED = "[Old tool result content cleared]"
"""What the model reads where opencode has cleared the output of a tool."""
ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}


class Turns:
    """The turns of one session, taken in their order."""

    def __init__(self, revert: JSON = None) -> None:
        self._undone_from = fields.text(revert, "messageID")
        self._keeps_first = bool(fields.text(revert, "partID"))
        self._is_undone = False
        self._view = ContextView()
        self._shown: list[str] = []
        self._asked: dict[str, str] = {}
        self._cleared: list[tuple[float, str, Message]] = []

    def take(self, turn: SessionTurn) -> Iterator[Item]:
        """What a turn comes to."""
        role = fields.text(turn.info, "role")
        created = fields.mapping(turn.info, "time").get("created")
        if isinstance(created, int | float):
            yield from self._clear(created)
        if self._is_undone or (self._undone_from and turn.id == self._undone_from):
            is_kept = self._keeps_first and not self._is_undone
            self._is_undone = True
            if not is_kept:
                yield Event(f"reverted/{role}", turn.record, turn.created_at)
                return
        if role not in ROLES:
            yield Event(role or "record", turn.record, turn.created_at)
            return
        yield from self._spoken(turn, ROLES[role])

    def end(self) -> Iterator[Item]:
        """What was cleared after the last turn."""
        yield from self._clear(math.inf)

    def _spoken(self, turn: SessionTurn, role: Role) -> Iterator[Item]:
        read = read_turn(turn)
        yield from read.before
        messages = _messages(turn, role, read)
        if not messages:
            yield Event(f"{role}/{_reason(turn)}", turn.record, turn.created_at)
        elif _is_summary(turn.info, self._asked):
            yield from self._compact(turn, messages)
        else:
            for message in messages:
                self._add(message.source_id or "", turn.id)
                yield message
        for part in turn.parts:
            if part.value.get("type") == "compaction":
                self._asked[turn.id] = fields.text(part.value, "tail_start_id")
        if read.cleared:
            when = max(read.cleared.values())
            self._cleared.append(
                (when, messages[-1].source_id or "", _cleared(messages[-1], read))
            )
        yield from read.after

    def _add(self, key: str, turn_id: str) -> None:
        self._shown.append(key or turn_id)
        self._view.add(key or turn_id)

    def _compact(self, turn: SessionTurn, messages: list[Message]) -> Iterator[Item]:
        """The summary in the place of what it sums up, but for the tail that was kept."""
        tail = self._asked[fields.text(turn.info, "parentID")]
        kept = self._shown[self._shown.index(tail) :] if tail in self._shown else []
        yield from self._change([turn.id, *kept], turn.id, messages, turn.record)

    def _clear(self, before: float) -> Iterator[Item]:
        """Show cleared outputs as such, from the moment on when they were cleared."""
        due = [one for one in self._cleared if one[0] < before]
        self._cleared = [one for one in self._cleared if one not in due]
        for _, key, message in due:
            if key in self._shown:
                place = self._shown.index(key)
                mark = f"{key}/cleared"
                keys = [*self._shown[:place], mark, *self._shown[place + 1 :]]
                yield from self._change(keys, mark, [message], message.records[0])

    def _change(
        self, keys: list[str], key: str, messages: list[Message], record: str
    ) -> Iterator[Item]:
        """Make the view these keys, of which one is new and stands for these messages."""
        hidden = [n for change in self._view.become(keys) for n in change.hidden]
        if hidden:
            self._shown = keys
            yield Compaction(
                replaces=tuple(hidden),
                messages=tuple(messages),
                record=record,
                created_at=messages[0].created_at,
            )
            return
        for message in messages:
            self._add(key, key)
            yield message


def _is_summary(info: dict[str, Any], asked: dict[str, str]) -> bool:
    """Whether this is the summary of a compaction that came to its end."""
    is_whole = (
        info.get("summary") is True and info.get("finish") and not info.get("error")
    )
    return bool(is_whole) and fields.text(info, "parentID") in asked


def _reason(turn: SessionTurn) -> str:
    """Why a turn is no message."""
    if any(part.value.get("type") == "compaction" for part in turn.parts):
        return "compaction"
    return "error" if turn.info.get("error") else "empty"


def _messages(turn: SessionTurn, role: Role, read: Read) -> list[Message]:
    info = turn.info
    records = (turn.record, *(read.records if turn.is_apart else ()))
    found = []
    if read.parts:
        found.append(
            Message(
                role=role,
                parts=tuple(read.parts),
                model=fields.word(info, "modelID") or None
                if role is Role.ASSISTANT
                else None,
                source_id=fields.word(info, "id") or None,
                created_at=turn.created_at,
                usage=read_usage(info.get("tokens")),
                partial=bool(info.get("error")),
                records=records,
            )
        )
    if read.results:
        found.append(
            Message(
                role=Role.TOOL,
                parts=tuple(read.results),
                source_id=f"{turn.id}/results",
                created_at=turn.created_at,
                records=records,
            )
        )
    return found


def _cleared(message: Message, read: Read) -> Message:
    """The results as the model reads them since some were cleared."""
    parts = [
        replace(part, content=(Text(CLEARED),))
        if isinstance(part, ToolResult) and part.call_id in read.cleared
        else part
        for part in message.parts
    ]
    return replace(message, parts=tuple(parts))
