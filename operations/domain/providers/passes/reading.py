"""The first pass: turns a draft's messages into turns of parts that the provider supports.

A message is split by speaker: results belong to tools, calls and reasoning to the assistant. What
the provider doesn't support is described in words, never lost.
"""

import operator
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from operations.domain.providers.request import Outgoing
from operations.domain.providers.rules import Reasoning, Rules
from operations.domain.providers.turns import Turn, TurnPart
from threads.domain.formats.anthropic.messages import FRAME
from threads.domain.formats.arguments import object_of, parsed
from threads.domain.formats.openai.items import COMPACTIONS
from threads.domain.formats.summaries import SUMMARY
from threads.domain.message import Role
from threads.domain.part import (
    File,
    Image,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

from . import findings
from .cleaning import clean_part, is_clean
from .media import describe, is_sound, sendable
from .work import Work

_REASONING = re.compile("<(think|thinking)>")
_SPACE = re.compile(r"\s*")
_SYSTEM = (Role.SYSTEM, Role.DEVELOPER)


def read_turns(work: Work) -> list[Turn]:
    """The turns of the draft's messages, in order; consecutive tool turns are merged."""
    turns: list[Turn] = []
    for place, message in enumerate(work.draft.messages):
        plain = _plain(place, message, work.rules)
        for turn in (plain,) if plain else _Reading(work, place, message).turns():
            if turn.role is Role.TOOL and turns and turns[-1].role is Role.TOOL:
                turns[-1].pieces += turn.pieces
            else:
                turns.append(turn)
    return turns


def _plain(place: int, message: Outgoing, rules: Rules) -> Turn | None:
    """The turn of a message that stays as it is, as most do; None for all others.

    Such a message is an assistant's texts and calls, one text of a user, or results that hold
    only text.
    """
    if message.name or message.kind == "digest" or not message.parts:
        return None
    role = message.role
    if role is Role.TOOL or isinstance(message.parts[0], ToolResult):
        role, is_plain = Role.TOOL, _is_plain_result
    elif role is Role.ASSISTANT:
        is_plain = _is_plain_said
    elif role is Role.USER and len(message.parts) == 1:
        is_plain = _is_plain_text
    else:
        return None
    if role is Role.TOOL and message.role is Role.ASSISTANT:
        return None
    if not all(map(is_plain, message.parts)):
        return None
    parts: Sequence[Part] = message.parts
    if role is Role.ASSISTANT and not rules.written_arguments:
        parts = list(map(_without_text, parts))
    return Turn(role, [TurnPart(part, place, message.key) for part in parts])


def _without_text(part: Part) -> Part:
    """A call without the text of its arguments; anything else unchanged."""
    return (
        part
        if not isinstance(part, ToolCall) or part.text is None
        else without_argument_text(part)
    )


def without_argument_text(call: ToolCall) -> ToolCall:
    """A call without the text of its arguments, for forms that hold arguments as an object."""
    return ToolCall(call.id, call.name, call.arguments, namespace=call.namespace)


def _is_plain_text(part: Part) -> bool:
    return isinstance(part, Text) and part.text.isascii() and bool(part.text.strip())


def _is_plain_said(part: Part) -> bool:
    if not isinstance(part, ToolCall):
        return _is_plain_text(part)
    if not isinstance(part.arguments, dict):
        return False
    return is_clean(part.id) and is_clean(part.name) and is_clean(part.arguments)


def _is_plain_result(part: Part) -> bool:
    if not isinstance(part, ToolResult):
        return False
    for item in part.content:
        if not (isinstance(item, Text) and item.text and is_clean(item.text)):
            return False
    return is_clean(part.call_id) and is_clean(part.name)


class _Reading:
    """Reads one message into turns."""

    def __init__(self, work: Work, place: int, message: Outgoing) -> None:
        self._work = work
        self._message = message
        self._head = TurnPart(Text(""), place, message.key)
        """Stands for the message in findings."""

    def turns(self) -> Iterator[Turn]:
        """The message's turns; none if nothing is left of it."""
        said_by = self._message.role
        role = Role.USER if said_by is Role.TOOL or not self._stays() else said_by
        name = self._name()
        pieces = list(self._pieces(role))
        if role is not Role.ASSISTANT:
            # Results come first in the message that contains them.
            pieces.sort(key=lambda piece: not isinstance(piece.part, ToolResult))
        if not pieces:  # it was never sent to a provider, so it breaks no signature
            self._work.report(findings.EMPTY, self._head)
        for found, group in groupby(pieces, key=lambda piece: _speaker(piece, role)):
            yield Turn(found, list(group), name if found is role else None)

    def _stays(self) -> bool:
        """Whether the message keeps its role: some hosts allow no system messages here."""
        return self._message.role not in _SYSTEM or self._work.rules.system_anywhere

    def _name(self) -> str | None:
        name = self._message.name
        speakers = self._work.rules.speakers
        if not name or (speakers is not None and speakers.fullmatch(name)):
            return name or None
        self._work.report(findings.SPEAKER, self._head)
        return None

    def _pieces(self, role: Role) -> Iterator[TurnPart]:
        cleaned = tuple(map(clean_part, self._message.parts))
        if any(map(operator.is_not, cleaned, self._message.parts)):
            self._work.report_repair(findings.SURROGATE, self._head)
        for part in self._framed(cleaned):
            if (found := self._read(part, role)) is not None:
                yield TurnPart(found, self._head.place, self._head.key)

    def _framed(self, parts: tuple[Part, ...]) -> tuple[Part, ...]:
        """Frame the text of a summary, or of a system message that can't keep its role.

        A summary that another client made keeps the words and the role that it had there.
        """
        is_summary = self._message.kind == "digest" and self._message.role in _SYSTEM
        if self._stays() and not is_summary:
            return parts
        words = "\n\n".join(part.text for part in parts if isinstance(part, Text))
        others = tuple(part for part in parts if not isinstance(part, Text))
        if is_summary:
            cleaned = _without_reasoning(words)
            if cleaned != words:
                self._work.report_repair(findings.MADE_REASONING, self._head)
            words = cleaned
        if not words.strip():
            return others
        if is_summary:
            self._work.report(findings.SUMMARY, self._head)
        else:
            self._work.report_repair(findings.SYSTEM_INSIDE, self._head)
        frame = SUMMARY if is_summary else FRAME
        return (Text(frame.format(words)), *others)

    def _read(self, part: Part, role: Role) -> Part | None:
        """A part as the provider accepts it in a turn of this role; None if it isn't sent."""
        match part:
            case Text(text):
                return part if text.strip() else None
            case Thinking():
                return self._thinking(part)
            case ToolCall():
                return self._call(part)
            case ToolResult():
                return replace(part, content=tuple(self._content(part)))
            case Image() | File() | Opaque():
                return self._block(part, role)

    def _thinking(self, part: Thinking) -> Part | None:
        if self._message.kind is not None or self._message.role is not Role.ASSISTANT:
            self._work.report_repair(findings.MADE_REASONING, self._head)
            return None
        if self._work.rules.reasoning is Reasoning.NONE:
            self._work.report(findings.FOREIGN_REASONING, self._head)
            return None
        return part

    def _call(self, call: ToolCall) -> ToolCall:
        rules, arguments = self._work.rules, call.arguments
        if isinstance(arguments, dict):
            return call if rules.written_arguments else without_argument_text(call)
        if rules.text_arguments:
            return without_argument_text(call)
        found = parsed(arguments)
        if not isinstance(found, dict):
            found = object_of(arguments)
            if found:
                self._work.report_repair(findings.ARGUMENTS, self._head)
        return ToolCall(call.id, call.name, found, namespace=call.namespace)

    def _content(self, result: ToolResult) -> Iterator[Text | Image | File | Opaque]:
        holds_blocks = self._work.rules.error_media or not result.is_error
        for item in result.content:
            if isinstance(item, Text):
                if item.text:
                    yield item
            elif isinstance(item, Opaque) and not holds_blocks:
                yield self._described(item)
            else:
                yield self._block(item, Role.TOOL)

    def _block(
        self, part: Image | File | Opaque, role: Role
    ) -> Text | Image | File | Opaque:
        """An image, a file or a typed block, or else a text that describes it."""
        data = None
        if isinstance(part, Opaque):
            if self._is_own(part, role):
                if part.type in COMPACTIONS:
                    self._work.report(findings.COMPACTION, self._head)
                return part
        else:
            found, data = sendable(part, role, self._work)
            if found is not None:
                return found
        return self._described(part, data)

    def _described(
        self, part: Image | File | Opaque, data: bytes | None = None
    ) -> Text:
        self._work.report_repair(findings.DESCRIBED, self._head)
        return Text(describe(part, data))

    def _is_own(self, part: Opaque, role: Role) -> bool:
        rules = self._work.rules
        return (
            part.type in rules.opaque.get(role, ())
            and self._message.strategy in rules.strategies
            and is_sound(part)
            and part.data.get("type", part.type) == part.type
        )


def _speaker(piece: TurnPart, role: Role) -> Role:
    """The speaker of a part: results, and calls and reasoning, each have a fixed one."""
    match piece.part:
        case ToolResult():
            return Role.TOOL
        case ToolCall() | Thinking():
            return Role.ASSISTANT
    return role


def _without_reasoning(text: str) -> str:
    """Remove reasoning that a model wrote into a text; an unclosed tag stays."""
    kept: list[str] = []
    at = begin = 0
    endless: set[str] = set()
    while opened := _REASONING.search(text, begin):
        begin, end = opened.end(), f"</{opened[1]}>"
        closed = -1 if end in endless else text.find(end, begin)
        if closed < 0:
            endless.add(end)
            continue
        kept.append(text[at : opened.start()])
        at = begin = _SPACE.match(text, closed + len(end)).end()  # type: ignore[union-attr]  # it always matches
    return "".join([*kept, text[at:]])
