"""One conversation of a file of messages, read during iteration."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import BinaryIO, NamedTuple

from contextstudio.accounts.domain.errors import Invalid, Place
from threads.domain.formats import blocks, emptiness
from threads.domain.formats.io import (
    fields,
    json_file,
    json_text,
    source,
    speakers,
    streams,
    windows,
)
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.io.source import BROKEN, ByteSpan
from threads.domain.formats.kit import normalize, spoken
from threads.domain.formats.kit.items import Conversation
from threads.domain.formats.kit.transcripts import OTHER_RECORDS
from threads.domain.message import Message, Role
from threads.domain.part import JSON, Text
from threads.domain.transcript import Event, Warning

PREFERRED = "preferred_output"
"""The preferred messages after the `input` of a row for preference training."""
FLAT_REPLY = ("id", "model", "created", "usage", "choices")
"""Members of a response that are beside the messages in a flat log."""
REPLIES = (
    *("model_response", "assistant_response", "bot_response", "reply", "answer"),
    *("completion", "output", "generated_text"),
)
"""Members that hold the reply to a request as plain text."""
READ_MEMBERS = frozenset(
    {"messages", "message", "system", "request", "response", "model", "title"}
    | {"strategy", "external_id", "format", "version", *speakers.SESSIONS}
    | {PREFERRED, *FLAT_REPLY}
)
"""Members that are read; every other one (`tools`, `temperature`) becomes an event at the end."""

_PLAIN = {
    "openai": {role.value: role for role in Role if role is not Role.TOOL},
    "anthropic": {r.value: r for r in (Role.USER, Role.ASSISTANT, Role.SYSTEM)},
}
"""Per format, the roles whose messages need nothing but a text as `content`."""


class ChatDialect(NamedTuple):
    """How one provider's files are read: its messages, and the reply in a response."""

    format: str
    read_message: Callable[..., Message]
    read_reply: Callable[[JSON], Message | None]
    strategy: str
    """The messages' `parsing_strategy`; empty if the file itself says it."""


@dataclass(frozen=True, slots=True)
class Lines(Conversation):
    """JSON Lines of messages: one conversation."""

    file: BinaryIO
    dialect: ChatDialect

    def items(self) -> Iterator[Message | Event]:
        """The message or event of each line."""
        roles = _PLAIN.get(self.dialect.format, {})
        number = others = 0
        for number, start, end, value in windows.records(self.file):
            if (plain := _plain(value, start, end, roles)) is not None:
                yield plain
                continue
            found = self._items(value, number, ByteSpan(start, end))
            others += any(map(_is_other, found))
            yield from found
        _tell_others(others, number, self.warnings)

    def _items(self, value: JSON, number: int, span: ByteSpan) -> list[Message | Event]:
        """The items of a line that is broken, or has more than a role and a text."""
        if value is BROKEN or not json_text.is_exact(value):
            value = windows.read_again(self.file, number, span, self.warnings)
        line = Element(value, span, number, ("line", number))
        return read_row(line, self.dialect, self.warnings)

    def get(self, _name: str) -> JSON:
        """A member of the conversation beside its messages: JSON Lines have none."""
        return None


@dataclass(frozen=True, slots=True)
class Envelope(Conversation):
    """One object with `messages` and other members, or a bare list of messages."""

    file: BinaryIO
    dialect: ChatDialect
    members: Mapping[str | int, ByteSpan]
    called: str = ""
    """Its id, or the member it was found in, if it was found by its contents."""

    def items(self) -> Iterator[Message | Event]:
        """The messages, the reply unless they already end with it, and the other members."""
        yield from self._read("system", self._system)
        last: Message | Event | None = None
        for last in self._messages():
            yield last
        is_open = isinstance(last, Message) and last.role is Role.USER
        worded = next(filter(self.members.__contains__, REPLIES), "") if is_open else ""
        if "response" in self.members:
            replies = self._read("response", partial(self._reply, is_open=is_open))
        elif worded:
            replies = self._read(worded, _in_words)
        else:
            replies = self._read("choices", self._flat_reply)
        for reply in replies:
            if not is_same_reply(reply, last):
                yield reply
        for name, span in self.members.items():
            if name not in (*READ_MEMBERS, worded) and isinstance(name, str):
                yield Event(name, span.record)

    def get(self, name: str) -> JSON:
        """A member of the conversation beside its messages; None if it can't be read."""
        return json_file.get(self.file, self.members, name)

    def _system(self, system: JSON) -> Message | None:
        content = normalize.normalized_content(system)
        parts = blocks.read_content(content, ("system",))
        return Message(role=Role.SYSTEM, parts=parts) if parts else None

    def _reply(self, response: JSON, is_open: bool) -> Message | None:
        """The message of a response, in this dialect or another; text only if a user awaits it."""
        whole = streams.assemble_if_streamed(None, response)
        self.warnings.extend(streams.other_choices_warning(whole))
        if (found := self.dialect.read_reply(whole)) is not None:
            return found
        inner = normalize.reply_in(whole)
        if inner:
            return self.dialect.read_message(inner, at=("response",))
        return _in_words(response) if is_open else None

    def _messages(self) -> Iterator[Message | Event]:
        for name in ("messages", PREFERRED):
            if name in self.members:
                yield from self._listed(name)
        if "message" in self.members:
            row = json_file.member(self.file, self.members, "message", self.warnings)
            yield from read_row(row, self.dialect, self.warnings)

    def _listed(self, name: str) -> Iterator[Message | Event]:
        roles = _PLAIN.get(self.dialect.format, {})
        count = others = 0
        try:
            begin = self.members[name].start
            for key, start, end, data in windows.elements(self.file, begin):
                count += 1
                try:
                    value = json_text.parse_roughly(data) if data else None
                except ValueError:
                    value = None
                if (plain := _plain(value, start, end, roles)) is not None:
                    yield plain
                    continue
                found = self._said((name, key), ByteSpan(start, end), data)
                others += any(map(_is_other, found))
                yield from found
        except Invalid as error:
            json_file.warn_of_end(error, self.warnings)
        _tell_others(others, count, self.warnings)

    def _said(
        self, at: Place, span: ByteSpan, data: bytes | None
    ) -> list[Message | Event]:
        """The items of an element that is broken, or has more than a role and a text.

        `data` is None if the element hasn't been read yet.
        """
        try:
            value = (
                source.read_span(self.file, span)
                if data is None
                else json_text.parse(data)
            )
        except Invalid as error:
            self.warnings.append(_warning(error, Element(None, span, at=at)))
            value = BROKEN
        return read_row(Element(value, span, at=at), self.dialect, self.warnings)

    def _read(
        self, name: str, reader: Callable[[JSON], Message | None]
    ) -> Iterator[Message | Event]:
        """The message of a member; an event if it isn't a message; nothing if it is empty."""
        if name not in self.members:
            return
        held = json_file.member(self.file, self.members, name, self.warnings)
        try:
            message = reader(held.value) if held.value is not BROKEN else None
        except Invalid as error:
            self.warnings.append(_warning(error, held))
            message = None
        if message is not None:
            yield replace(message, records=(held.record,))
        elif held.value:
            yield Event(name, held.record)

    def _flat_reply(self, _choices: JSON) -> Message | None:
        """The message of a response whose members are beside the messages."""
        response = {name: self.get(name) for name in FLAT_REPLY}
        self.warnings.extend(streams.other_choices_warning(response))
        return self.dialect.read_reply(response)


def _in_words(reply: JSON) -> Message | None:
    """The message of a reply kept as plain text; None if it is blank or a stream."""
    if not isinstance(reply, str) or not reply.strip():
        return None
    if any(streams.events_of(reply)):
        return None
    return Message(role=Role.ASSISTANT, parts=(Text(reply),))


def _plain(
    value: JSON, start: int, end: int, roles: Mapping[str, Role]
) -> Message | None:
    """The message of a value that has only a role and a text, as most short ones do; else None."""
    if type(value) is not dict or len(value) != 2:
        return None
    said, text = value.get("role"), value.get("content")
    if type(said) is not str or type(text) is not str or not text:
        return None
    role = roles.get(said)
    if role is None:
        return None
    record = f"bytes:{start}-{end}"  # calling the class takes twice as long
    return Message.__new__(Message, role=role, parts=(Text(text),), records=(record,))


def read_row(
    row: Element, dialect: ChatDialect, warnings: list[Warning]
) -> list[Message | Event]:
    """The items of a value: two messages for a pair, else one message or event."""
    given = row.value
    if pair := speakers.bare_pair(given):
        return [_item(row._replace(value=one), dialect, warnings) for one in pair]
    if type(given) is not dict or fields.text(given, "role") in spoken.ROLES:
        return [_item(row, dialect, warnings)]
    message = speakers.message_in(given)
    said = speakers.pair_messages(given) if message is None else [message]
    said = said or [held for held in [spoken.held_in(given)] if held]
    if said:
        return [_item(row._replace(value=one), dialect, warnings) for one in said]
    if stranger := speakers.unknown_speaker_in(given):
        words = f"{stranger!r} is neither a user nor an assistant: this is kept as an event."
        warnings.append(_warning(Invalid(words, code="unknown_speaker"), row))
        return [Event("unreadable", row.record)]
    return [_item(row, dialect, warnings)]


def _item(
    row: Element, dialect: ChatDialect, warnings: list[Warning]
) -> Message | Event:
    """The message of a value; an event if it isn't a message, or can't be read as one."""
    record, given = row.record, row.value
    if given is BROKEN:
        return Event("unreadable", record)
    if isinstance(given, dict):
        if "role" not in given or not normalize.is_message(given):
            return Event(fields.text(given, "type") or "record", record)
        if "content" not in given:
            given = normalize.with_content(given)
        elif normalize.are_foreign(given["content"]):
            given = normalize.normalized(given)
        given = normalize.with_ollama(given)
        if not (given.get("timestamp") or given.get("created_at")):
            given = {**given, **speakers.moment_in(given)}
    try:
        return dialect.read_message(given, at=row.at, records=(record,))
    except Invalid as error:
        unread = error
    if isinstance(given, dict):  # it may be close to the published form
        try:
            given = normalize.normalized(given)
            return dialect.read_message(given, at=row.at, records=(record,))
        except Invalid:
            pass
    warnings.append(_warning(unread, row))
    whole = emptiness.kept_whole(row.value, unread, record)
    return whole or Event("unreadable", record)


def _is_other(found: Message | Event) -> bool:
    """Whether a record isn't a message; unreadable ones, which have a warning, don't count."""
    return type(found) is Event and found.type != "unreadable"


def _tell_others(others: int, count: int, warnings: list[Warning]) -> None:
    """Warn if most records are not messages: they may have been meant as messages."""
    if 2 * others > count:
        words = f"{others:,} of {count:,} records are not messages: they are kept as events."
        warnings.append(Warning(OTHER_RECORDS, words))


def is_same_reply(reply: Message | Event, last: Message | Event | None) -> bool:
    """Whether the last message of the request is already the reply."""
    if not isinstance(reply, Message) or not isinstance(last, Message):
        return False
    return (reply.role, reply.parts) == (last.role, last.parts)


def _warning(error: Invalid, row: Element) -> Warning:
    place = fields.spell(error.at or row.at)
    return Warning(error.code, f"At {place}: {error.message}", row.line)
