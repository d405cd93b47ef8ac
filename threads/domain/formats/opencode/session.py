"""A session of opencode, however its messages are stored.

A message in opencode consists of several parts; a tool's part is both call and result.

A turn of the model becomes an assistant message followed by a tool message. A compaction is a user
message with a part `compaction`, and the summary that answers it; an output that was cleared later
is a compaction too. Parts without content (steps, patches, snapshots) are events.

Source: packages/opencode/src/session/message-v2.ts and compaction.ts of sst/opencode.
"""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from heapq import heappop, heappush
from typing import Any

from threads.domain.formats.io import fields
from threads.domain.formats.kit.context_view import ContextView
from threads.domain.formats.kit.items import Item, Items
from threads.domain.formats.kit.transcripts import first_messages, title_of
from threads.domain.message import Message, Role
from threads.domain.part import JSON, Text, ToolResult
from threads.domain.transcript import (
    Compaction,
    Event,
    Parent,
    Relation,
    Transcript,
    Warning,
)

from .parts import Read, SessionTurn, read_turn, read_usage

NAME = "opencode"
LABEL = "an opencode session"
ASKED = "What did we do so far?"
"""The user's question that opencode inserts for a compaction; the summary answers it."""
CLEARED = "[Old tool result content cleared]"
"""What the model reads in place of a tool's output that opencode cleared."""
ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}
_UNNAMED = re.compile(r"(New|Child) session - \d{4}-")
"""How a generated default title begins."""
_PROVIDERS = {"anthropic": "anthropic", "google": "gemini", "google-vertex": "gemini"}

ReadTurns = Callable[[list[Warning]], Iterator[SessionTurn | Event]]
"""Reads the turns of a session, with an event for each one that can't be read."""


def items_of(
    read: ReadTurns, info: dict[str, Any], given: list[Warning] | None = None
) -> Items:
    """The items of a session; `given` are warnings found before they are read."""

    def items(warnings: list[Warning]) -> Iterator[Item]:
        turns = _Turns(info.get("revert"))
        for turn in read(warnings):
            yield from [turn] if isinstance(turn, Event) else turns.take(turn)
        yield from turns.end()

    return Items(items, given=given or [])


def transcript(
    info: dict[str, Any],
    items: Items,
    *,
    call_of: Callable[[str, str], str] = lambda _parent, _child: "",
    member: str = "",
) -> Transcript | None:
    """The conversation of a session; None if it holds no message.

    `call_of` finds the call in the parent's session that started this one.
    """
    opening = first_messages(items)
    if not opening:
        return None
    own = fields.word(info, "id", limit=255)
    title = fields.one_line(fields.text(info, "title"))
    is_named = title and not _UNNAMED.match(title)
    parent = None
    if parent_id := fields.word(info, "parentID", "parent_id", limit=255):
        parent = Parent(
            external_id=parent_id,
            relation=Relation.SUBAGENT,
            call_id=call_of(parent_id, own) or None,
        )
    elif forked := fields.word(fields.mapping(info, "fork"), "sessionID", limit=255):
        parent = Parent(external_id=forked, relation=Relation.BRANCH)
    return Transcript(
        format=NAME,
        title=title if is_named else title_of(opening) or title,
        items=items,
        external_id=own or None,
        strategy=_strategy(info, opening),
        model=next((message.model for message in opening if message.model), ""),
        member=member,
        parent=parent,
        warnings=items.warnings,
    )


def _strategy(info: dict[str, Any], opening: list[Message]) -> str:
    """The parsing strategy: that of the session's provider, else of the model's name."""
    provider = fields.text(info.get("model"), "providerID")
    models = " ".join(message.model or "" for message in opening)
    for word, strategy in (("claude", "anthropic"), ("gemini", "gemini")):
        if word in models:
            return _PROVIDERS.get(provider, strategy)
    return _PROVIDERS.get(provider, "openai")


class _Turns:
    def __init__(self, revert: JSON = None) -> None:
        self._undone_from = fields.text(revert, "messageID")
        self._keeps_first = bool(fields.text(revert, "partID"))
        self._is_undone = False
        self._view = ContextView()
        self._shown: list[str] = []
        self._asked: dict[str, str] = {}
        self._cleared: list[tuple[float, int, str, Message]] = []
        """A heap of (time of clearing, sequence number, key, message with cleared outputs)."""
        self._count = 0

    def take(self, turn: SessionTurn) -> Iterator[Item]:
        """The items of a turn."""
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
        """The outputs cleared after the last turn."""
        yield from self._clear(math.inf)

    def _spoken(self, turn: SessionTurn, role: Role) -> Iterator[Item]:
        read = read_turn(turn)
        yield from read.before
        messages = _messages(turn, role, read)
        if not messages:
            yield Event(f"{role}/{_reason(turn)}", turn.record, turn.created_at)
        elif self._is_summary(turn.info):
            yield from self._compact(turn, messages)
        else:
            for message in messages:
                self._add(message.source_id or turn.id)
                yield message
        for part in turn.parts:
            if part.value.get("type") == "compaction":
                self._asked[turn.id] = fields.text(part.value, "tail_start_id")
        if read.cleared:
            when, last = max(read.cleared.values()), messages[-1]
            cleared = when, self._count, last.source_id or "", _cleared(last, read)
            heappush(self._cleared, cleared)
            self._count += 1
        yield from read.after

    def _is_summary(self, info: dict[str, Any]) -> bool:
        """Whether a message is the summary of a completed compaction."""
        is_whole = info.get("summary") is True and not info.get("error")
        asked = fields.text(info, "parentID") in self._asked
        return is_whole and bool(info.get("finish")) and asked

    def _add(self, key: str) -> None:
        self._shown.append(key)
        self._view.add(key)

    def _compact(self, turn: SessionTurn, messages: list[Message]) -> Iterator[Item]:
        """The summary in place of all messages except the tail that was kept."""
        tail = self._asked[fields.text(turn.info, "parentID")]
        kept = self._shown[self._shown.index(tail) :] if tail in self._shown else []
        asked = Message(role=Role.USER, parts=(Text(ASKED),), records=(turn.record,))
        keys = [turn.id, *kept]
        yield from self._change(keys, turn.id, messages, turn.record, asked)

    def _clear(self, before: float) -> Iterator[Item]:
        """Yield a compaction for each message whose outputs were cleared before this time."""
        while self._cleared and self._cleared[0][0] < before:
            _, _, key, message = heappop(self._cleared)
            if key in self._shown:
                place = self._shown.index(key)
                self._shown[place] = f"{key}/cleared"
                yield Compaction(
                    replaces=self._view.put(place, self._shown[place]),
                    messages=(message,),
                    record=message.records[0],
                    created_at=message.created_at,
                )

    def _change(
        self,
        keys: list[str],
        key: str,
        messages: list[Message],
        record: str,
        *before: Message,
    ) -> Iterator[Item]:
        """Change the view to these keys, of which `key` is new and stands for these messages.

        The model sees the messages in `before` only if something is hidden.
        """
        hidden = [n for change in self._view.become(keys) for n in change.hidden]
        if hidden:
            self._shown = keys
            yield Compaction(
                replaces=tuple(hidden),
                messages=(*before, *messages),
                record=record,
                created_at=messages[0].created_at,
            )
            return
        for message in messages:
            self._add(key)
            yield message


def _reason(turn: SessionTurn) -> str:
    if any(part.value.get("type") == "compaction" for part in turn.parts):
        return "compaction"
    return "error" if turn.info.get("error") else "empty"


def _messages(turn: SessionTurn, role: Role, read: Read) -> list[Message]:
    info = turn.info
    apart = read.records if turn.is_apart else ()
    records = tuple(dict.fromkeys((turn.record, *apart)))
    message = partial(Message, created_at=turn.created_at, records=records)
    found = []
    if read.parts:
        model = fields.word(info, "modelID") if role is Role.ASSISTANT else ""
        said = message(
            role=role,
            parts=tuple(read.parts),
            model=model or None,
            source_id=fields.word(info, "id") or None,
            usage=read_usage(info.get("tokens")),
            partial=bool(info.get("error")),
        )
        found.append(said)
    if read.results:
        results, id_ = tuple(read.results), f"{turn.id}/results"
        found.append(message(role=Role.TOOL, parts=results, source_id=id_))
    return found


def _cleared(message: Message, read: Read) -> Message:
    """The message of results as the model reads it after some were cleared."""
    parts = [
        replace(part, content=(Text(CLEARED),))
        if isinstance(part, ToolResult) and part.call_id in read.cleared
        else part
        for part in message.parts
    ]
    return replace(message, parts=tuple(parts))
