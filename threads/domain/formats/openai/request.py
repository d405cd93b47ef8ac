"""Requests of OpenAI's Responses API, in which each item of `input` is a message.

One answer of the model is several items in a request, but one message in a recorded reply: both
have the same atoms (`threads.domain.formats.requests`).
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from contextstudio.accounts.domain.errors import Place
from threads.domain.formats.format import Heading
from threads.domain.formats.io import fields
from threads.domain.formats.requests import RequestForm, RequestPiece
from threads.domain.message import Message, Role
from threads.domain.part import JSON, Opaque, ToolResult

from .items import (
    COMPACTIONS,
    SEARCHES,
    AssistantTurn,
    message_of,
    read_item,
    read_usage,
)
from .items_writing import API, ItemWriter


def read_messages(items: JSON, *, at: Place = ("input",)) -> list[Message]:
    """The messages of a request's items. Raises Invalid at the place that is malformed."""
    found = fields.require(items, list, "a list of items", at)
    return [read_message(item, at=(*at, place)) for place, item in enumerate(found)]


def read_message(item: JSON, *, at: Place = ()) -> Message:
    """The message of one item; an item that isn't understood is kept whole."""
    read = read_item(item, at)
    if read is not None and read[1]:
        return message_of(read, item, ())
    role = read[0] if read is not None else Role.USER
    part = Opaque(fields.text(item, "type") or "item", item)
    return Message(role=role, parts=(part,))


def read_reply(response: JSON) -> list[Message]:
    """The messages of a response; empty if it says nothing.

    There are several if a tool run by the provider answered in between: the last one by the
    model has the response's id and tokens. Raises Invalid at the place of a malformed item.
    """
    found = list(_said(response))
    last = next((m for m in reversed(found) if m.role is Role.ASSISTANT), None)
    if last is None:
        return []
    usage = fields.mapping(response).get("usage")
    details = fields.mapping(usage, "input_tokens_details")
    found[found.index(last)] = replace(
        last,
        source_id=fields.word(response, "id") or last.source_id,
        usage=read_usage(usage, details),
    )
    return found


def _said(response: JSON) -> Iterator[Message]:
    """The messages of a response's items; consecutive items by the assistant are joined."""
    model = fields.word(response, "model")
    at = fields.moment(fields.mapping(response).get("created_at"))
    answer = AssistantTurn()
    for place, item in enumerate(fields.items(response, "output")):
        read = read_item(item, ("output", place))
        if read is None:
            continue
        if read[0] is Role.ASSISTANT:
            answer.add(read[1], item, "", at)
            continue
        yield from filter(None, [answer.message(model)])
        yield message_of(read, item, (), at)
        answer = AssistantTurn()
    yield from filter(None, [answer.message(model)])


def _pieces(message: Message, heading: Heading) -> Iterator[RequestPiece]:
    """The items of a single message, whose results answer calls in other messages."""
    writer = ItemWriter(heading, API)
    results = [part for part in message.parts if isinstance(part, ToolResult)]
    writer.expect(result.call_id for result in results)
    for _, items in writer.write([(0, message)]):
        yield from map(RequestPiece, items)


def _forms(pieces: Any) -> Iterator[dict[str, Any]]:
    return (piece.form for piece in pieces)


def _read_said(item: JSON) -> Message:
    """One item by its content; for some items, clients send back neither the id nor the status."""
    if fields.text(item, "type") in COMPACTIONS | SEARCHES:
        item = {k: v for k, v in item.items() if k not in ("id", "status")}
    return read_message(item)


REQUEST = RequestForm(
    read=_read_said, write=_pieces, join=_forms, has_system=True, has_ids=False
)
