"""OpenAI's Responses API: request bodies, responses, and the items that clients store.

A conversation is `{"instructions", "input"}` (a request), `{"object": "response", "output"}`,
`{"request", "response"}` (a log; in a batch with `body` in between), `{"data"}` (a list returned by
the API), or a bare list or JSON Lines of items. In a list or JSON Lines of requests or responses,
each holds one conversation. The response that `previous_response_id` refers to is elsewhere.

Source: platform.openai.com/docs/api-reference/responses.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import BinaryIO

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats import emptiness
from threads.domain.formats.format import Format, Heading, Writer
from threads.domain.formats.io import fields, json_file, json_text, speakers
from threads.domain.formats.io.json_file import Element, Members
from threads.domain.formats.io.source import BROKEN, ByteSpan
from threads.domain.formats.kit.chats import chat, chat_items
from threads.domain.formats.kit.chats.chat import PROXY_REQUEST
from threads.domain.formats.kit.items import Conversation, member_events
from threads.domain.formats.kit.transcripts import (
    first_messages,
    require_transcripts,
    title_of,
    transcripts_with_messages,
    with_skipped_warnings,
)
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role
from threads.domain.part import JSON
from threads.domain.transcript import Event, Transcript, Warning

from .items import (
    OTHERS,
    AssistantTurn,
    ReadItem,
    is_item,
    message_of,
    read_item,
    read_usage,
)
from .items_writing import API, ItemWriter, in_turns, instructions_of
from .messages import DIALECT

NAME = "openai_responses"
LABEL = "a request or response of OpenAI's Responses"
ENVELOPE = frozenset({"object", "instructions", "request", "response", "body", "data"})
"""Members that distinguish a request or a response from an item."""
_REQUESTS = ("request", "body", PROXY_REQUEST)
_HOLDERS = ("response", *_REQUESTS)
_OF_REQUESTS = ("instructions", "previous_response_id", "max_output_tokens")
"""Members that distinguish a request whose `input` is text from one for an embedding."""
IDS = ("external_id", "session_id", "conversation_id", "conversation")
_READ = frozenset(
    {"input", "instructions", "data", "output", "previous_response_id", "object"}
    | {"id", "model", "title", "created_at", "usage", "custom_id", *IDS, *_HOLDERS}
)
"""Members that are read; every other one (`tools`, `temperature`) becomes an event at the end."""


@dataclass(frozen=True, slots=True)
class ResponseItems(Conversation):
    """One conversation: the input of a request, and the output of the response."""

    file: BinaryIO
    request: Members
    response: Members = field(default_factory=dict)
    beside: Members = field(default_factory=dict)
    """The members beside the items in the request, and around it."""
    is_lines: bool = False
    custom_id: str = ""
    """Its id in a batch."""

    def items(self) -> Iterator[Message | Event]:
        """The input, then the reply, unless the input already ends with it."""
        if before := self.get("previous_response_id"):
            words = f"It continues the response {before}, which is not in this file."
            self.warnings.append(Warning("history_missing", words))
        last: Message | Event | None = None
        for last in self._asked():
            yield last
        replies = [*self._joined(self._pieces(self.response, "output"))]
        answers = [one for one in replies if _is_answer(one)]
        for reply in replies:
            if isinstance(reply, Message) and _is_answer(reply):
                reply = self._reply(reply, is_last=reply is answers[-1])
            if not chat_items.is_same_reply(reply, last):
                yield reply
        yield from member_events(self.beside, _READ)

    def get(self, *names: str) -> JSON:
        """The value of a member of the request, or else of the response."""
        found = json_file.get(self.file, self.request, *names)
        return found or json_file.get(self.file, self.response, *names)

    def _asked(self) -> Iterator[Message | Event]:
        holder = self.request if "instructions" in self.request else self.response
        yield from self._joined(self._pieces(holder, "instructions", Role.SYSTEM))
        yield from self._joined(self._pieces(self.request, "input", Role.USER))
        yield from self._joined(self._pieces(self.request, "data"))
        if self.is_lines:
            yield from self._joined(json_file.lines(self.file, self.warnings))

    def _pieces(
        self, members: Members, name: str, role: Role | None = None
    ) -> Iterator[Element]:
        """The items of a member; plain text becomes an item with this role."""
        if (span := members.get(name)) is None:
            return
        if json_file.is_list(self.file, span):
            yield from json_file.named_elements(self.file, span, (name,), self.warnings)
            return
        held = json_file.member(self.file, members, name, self.warnings)
        if isinstance(held.value, str) and held.value and role is not None:
            yield held._replace(value={"role": str(role), "content": held.value})
        elif held.value:
            yield held

    def _joined(self, pieces: Iterable[Element]) -> Iterator[Message | Event]:
        """The messages of the pieces; consecutive items by the assistant are joined."""
        answer = AssistantTurn()
        aside: list[Event] = []
        for piece in pieces:
            item = self._item(piece)
            if isinstance(item, Event):
                aside.append(item)
            elif item[0] is Role.ASSISTANT:
                at = fields.moment(piece.value.get("timestamp"))
                answer.add(item[1], piece.value, piece.span.record, at)
            else:
                yield from _ended(answer)
                yield from aside
                at = fields.moment(piece.value.get("timestamp"))
                yield message_of(item, piece.value, (piece.span.record,), at)
                answer, aside = AssistantTurn(), []
        yield from _ended(answer)
        yield from aside

    def _item(self, piece: Element) -> ReadItem | Event:
        """The item of a piece; an event if it isn't one, or can't be read."""
        record = piece.span.record
        if piece.value is BROKEN:
            return Event("unreadable", record)
        try:
            item = read_item(piece.value, piece.at)
        except Invalid as error:
            self.warnings.append(json_file.warning(error, piece.at))
            return Event("unreadable", record)
        return item or self._in_other_words(piece)

    def _in_other_words(self, piece: Element) -> ReadItem | Event:
        """A message among items in which a program uses its own names; else an event.

        An event that says something comes with a warning.
        """
        said = speakers.message_in(fields.mapping(piece.value))
        if said and (item := read_item({**said, "type": "message"}, piece.at)):
            return item
        kind = fields.text(piece.value, "type") or "record"
        words = f"Items of the type {kind!r} are not known: they are kept as events."
        warning = Warning("unknown_item", words)
        is_silent = kind in OTHERS or not emptiness.says_something(piece.value)
        if not is_silent and warning not in self.warnings:
            self.warnings.append(warning)
        return Event(kind, piece.record)

    def _reply(self, message: Message, *, is_last: bool) -> Message:
        """The message with the response's model and time.

        Only the last one gets the response's id and tokens: a tool that the provider ran may have
        answered before it.
        """
        response = {
            name: json_file.get(self.file, self.response, name)
            for name in ("id", "model", "created_at", "usage")
        }
        details = fields.mapping(response["usage"], "input_tokens_details")
        return replace(
            message,
            source_id=(is_last and fields.word(response, "id")) or message.source_id,
            model=fields.word(response, "model") or None,
            created_at=fields.moment(response["created_at"]) or message.created_at,
            usage=read_usage(response["usage"], details) if is_last else None,
        )


def _is_answer(item: Message | Event) -> bool:
    return isinstance(item, Message) and item.role is Role.ASSISTANT


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """The conversations of a file. Raises Invalid if it holds no message at all."""
    skipped: list[Warning] = []
    found = list(_transcripts(file, skipped))
    return with_skipped_warnings(require_transcripts(found, skipped), skipped)


def _transcripts(file: BinaryIO, skipped: list[Warning]) -> Iterator[Transcript]:
    whole = json_file.whole(file)
    first = next(json_file.documents(file, []), whole)
    keys = json_file.places(file, first, []).keys()
    is_request = bool(keys & {"input", "output"}) and "type" not in keys
    if not (keys & ENVELOPE or is_request):
        is_lines = not json_file.is_list(file, whole) and first != whole
        request: Members = {} if is_lines else {"data": whole}
        items = ResponseItems(file, request, is_lines=is_lines)
        yield from transcripts_with_messages([items], skipped, _transcript)
        return
    for span in json_file.documents(file, skipped):
        held = _envelope(file, span)
        if opening := first_messages(held):
            yield _transcript(held, opening)
        else:  # a gateway's log has requests of several APIs
            skipped += held.warnings
            yield from chat.read_from(file, DIALECT, span, skipped)


def _envelope(file: BinaryIO, span: ByteSpan) -> ResponseItems:
    """The conversation of a request, a response, or a log of both."""
    warnings: list[Warning] = []
    found = json_file.places(file, span, warnings)
    request, response = dict(found), dict(found)
    if "request" in found or "response" in found or "body" in found:
        asked = (_inner(file, found, name) for name in _REQUESTS)
        request = next(filter(None, asked), {})
        response = _inner(file, found, "response")
        request = {name: found[name] for name in found.keys() & set(IDS)} | request
    name = fields.text({"is": json_file.get(file, found, "custom_id")}, "is")
    beside = found | request
    return ResponseItems(
        file, request, response, beside, custom_id=name, given=warnings
    )


def _inner(file: BinaryIO, found: Members, name: str) -> dict[str | int, ByteSpan]:
    """The members of a member, or of the `body` in it."""
    if name not in found:
        return {}
    inner = dict(json_file.places(file, found[name], []))
    return _inner(file, inner, "body") if "body" in inner else inner


def _transcript(items: ResponseItems, opening: list[Message]) -> Transcript:
    said = {name: items.get(name) for name in (*IDS, "title", "model")}
    title = fields.one_line(fields.text(said, "title")) or title_of(opening)
    if isinstance(said["conversation"], dict):
        said["conversation"] = said["conversation"].get("id")
    answered = {"model": json_file.get(items.file, items.response, "model")}
    return Transcript(
        format=NAME,
        title=title or fields.one_line(items.custom_id),
        items=items,
        external_id=fields.word(said, *IDS, limit=255) or None,
        strategy="openai",
        model=fields.word(answered, "model") or fields.word(said, "model"),
        warnings=items.warnings,
    )


def _ended(answer: AssistantTurn) -> Iterator[Message | Event]:
    """The message of an answer, or its items as events if they say nothing."""
    if message := answer.message():
        yield message
    else:
        yield from (Event("reasoning", record) for record in answer.records)


# Written


def write(messages: Iterable[Message], heading: Heading) -> Iterator[bytes]:
    """A request's `{"model", "instructions", "input"}`, one item per line, with inline images."""
    turns = in_turns(messages)
    first = next(turns, [])
    instructions = instructions_of(first[0][1]) if first else None
    head = {"model": heading.model, "instructions": instructions}
    said = {name: words for name, words in head.items() if words}
    writer = ItemWriter(heading, API)
    items = (
        item
        for turn in chain([first[1:] if instructions else first], turns)
        for _, written in writer.write(turn)
        for item in written
    )
    yield from json_text.dump_list(said, "input", items)


def _score(sample: Sample) -> float:
    """0.9 for the API's own items, alone or in a request; 0.7 for messages or text in `input`."""
    rows = sample.rows
    held_by = [row[name] for row in rows for name in _HOLDERS if name in row]
    inner = [one for one in held_by if isinstance(one, dict)]
    inner += [one["body"] for one in inner if isinstance(one.get("body"), dict)]
    held = [
        item
        for row in (*rows, *inner)
        for name in ("input", "output", "data")
        for item in fields.items(row, name)
    ]
    if any(row.get("object") == "response" for row in (*rows, *inner)):
        return 0.9
    if any(is_item(item) for item in (*rows, *held)):
        return 0.9
    asked = [item for row in (*rows, *inner) for item in fields.items(row, "input")]
    if any("role" in fields.mapping(item) for item in asked):
        return 0.7
    is_asked = any(fields.text(row, "url").endswith("/responses") for row in rows)
    worded = [row for row in (*rows, *inner) if fields.text(row, "input")]
    is_asked |= any(name in row for row in worded for name in _OF_REQUESTS)
    return 0.7 if worded and is_asked else 0


FORMAT = Format(NAME, LABEL, _score, read)
WRITER = Writer("OpenAI Responses items", "json", "application/json", write)
