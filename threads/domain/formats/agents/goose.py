"""Sessions of Goose: exports, output of runs, and the JSON Lines files used before its database.

`goose session export --format json` writes an object with the messages in `conversation`; `goose
run --output-format json` has them in `messages`, and `stream-json` has one per line. Up to 1.9, a
session was a file with a line of facts followed by one message per line. A tool's call and its
result are each `{"status": "success", "value"}` or an error, or `{"Ok"}` and `{"Err"}`. A
compaction hides messages from the model (`agentVisible`), and adds messages after them that only
the model sees.

Source: block/goose, crates/goose/src/conversation/message.rs, crates/goose/src/context_mgmt, and
tool_result_serde.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from threads.domain.formats import blocks
from threads.domain.formats.io import fields
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.kit.items import Item, attempt
from threads.domain.formats.kit.list_format import ListFormat, Values, per_element
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role, Usage
from threads.domain.part import JSON
from threads.domain.transcript import Compaction, Event, Parent, Relation, Warning

from .goose_blocks import CALLS, is_sent, read_parts

ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}
OWN = frozenset({*CALLS, "toolResponse", "systemNotification", "actionRequired"})
"""Blocks that only Goose has."""


class ItemsWithVisibility(NamedTuple):
    """The items read from a message, and who sees it."""

    items: Iterable[Item]
    by_model: bool
    by_people: bool


def visible_items(rows: Iterable[ItemsWithVisibility]) -> Iterator[Item]:
    """The items of a session; messages hidden from the model are replaced by a compaction's own.

    Without any, nothing stands in their place.
    """
    count = 0
    hidden: list[int] = []
    said: list[Message] = []
    place = ""

    def compaction() -> Iterator[Compaction]:
        if hidden:
            yield Compaction(
                replaces=tuple(hidden),
                messages=tuple(said),
                record=said[0].records[0] if said else place,
            )
            hidden.clear()
        said.clear()

    for row in rows:
        items = list(row.items)
        messages = [one for one in items if isinstance(one, Message)]
        if messages and row.by_model and not row.by_people and hidden:
            said += messages
            continue
        if said:
            yield from compaction()
        if messages and not row.by_model and not row.by_people:
            # The summary of a compaction, which the next compaction hid.
            yield from (Event("summary", one.records[0]) for one in messages)
            continue
        if messages and not row.by_model:
            hidden += range(count, count + len(messages))
            place = messages[-1].records[0]
        count += len(messages)
        yield from items
    yield from compaction()


def _listed(rows: Iterable[Element], warnings: list[Warning]) -> Iterator[Item]:
    """The messages of a list; an unreadable one becomes an event and a warning."""
    return visible_items(
        with_visibility(
            fields.mapping(row.value).get("metadata"),
            attempt(partial(_message, row), row, warnings),
        )
        for row in rows
    )


def with_visibility(metadata: JSON, items: Iterable[Item]) -> ItemsWithVisibility:
    """The items with their visibility, from the metadata of their message."""
    told = fields.mapping(metadata)
    return ItemsWithVisibility(
        items,
        told.get("agentVisible") is not False,
        told.get("userVisible") is not False,
    )


def _message(row: Element) -> Iterator[Item]:
    """A message of the session. Raises Invalid if it isn't one."""
    yield read_message(row.value, row.record)


def read_message(value: JSON, record: str) -> Message | Event:
    """The message in a value; an event if no model was sent it. Raises Invalid if it isn't one."""
    given = fields.require(value, dict, "a message", ())
    content = fields.require(
        given.get("content"), list, "a list of blocks", ("content",)
    )
    moment = fields.moment(given.get("created"))
    if content and not any(map(is_sent, content)):
        return Event(fields.text(content[0], "type") or "block", record, moment)
    told = fields.mapping(given, "metadata")
    inference = fields.mapping(told, "inference")
    return Message(
        role=blocks.read_role(given, ROLES, ()),
        parts=read_parts(content),
        model=fields.word(inference, "resolvedModel")
        or fields.word(inference, "requestedModel")
        or None,
        source_id=fields.word(given, "id") or None,
        created_at=moment,
        usage=_usage(told.get("usage")),
        records=(record,),
    )


def _usage(usage: JSON) -> Usage | None:
    """The tokens of an answer; the input includes what was cached."""
    found = Usage(
        input_tokens=fields.count(usage, "inputTokens"),
        output_tokens=fields.count(usage, "outputTokens"),
        cached_tokens=fields.count(usage, "cacheReadTokens"),
    )
    return found if found != Usage() else None


def parent_of(session: dict[str, Any]) -> Parent | None:
    """The session that started this one as a sub-agent; None if there is none."""
    id_ = fields.as_word(session.get("parent_session_id"), 200)
    return Parent(external_id=id_, relation=Relation.SUBAGENT) if id_ else None


def _line(row: Element) -> Iterator[Item]:
    """The item of a line: a message, a message printed by a run, or an event."""
    given = fields.mapping(row.value)
    if isinstance(given.get("message"), dict):
        yield from _message(row._replace(value=given["message"]))
    elif "role" in given:
        yield from _message(row)
    else:
        yield Event(fields.text(given, "type") or "session", row.record)


def _known(said: Values, _file_name: str) -> dict[str, Any]:
    model = fields.mapping(said["model_config"])
    return {
        "title": fields.text(
            {"name": said["name"], "description": said["description"]},
            "name",
            "description",
        ),
        "external_id": fields.as_word(said["id"], 200) or None,
        "model": fields.word(model, "model_name"),
        "strategy": "anthropic",
        "parent": parent_of({"parent_session_id": said["parent_session_id"]}),
    }


def score(sample: Sample) -> float:
    """By its own blocks, in a session or on lines; without any, by the session's working folder."""
    said = sample.object
    listed = fields.items(said, "conversation") or fields.items(said, "messages")
    rows = [fields.mapping(row.get("message")) or row for row in sample.records]
    kinds = {
        fields.text(block, "type")
        for row in (*listed, *rows)
        for block in fields.items(row, "content")
    }
    if kinds & OWN:
        return 0.95
    if "working_dir" in said and isinstance(said.get("conversation"), list):
        return 0.95
    begins = fields.mapping(next(iter(sample.records), None))
    return 0.95 if {"working_dir", "description"} <= begins.keys() else 0


EXPORTED = ListFormat(
    name="goose",
    label="a Goose session",
    score=score,
    lists={"conversation": _listed, "messages": _listed},
    known=_known,
    bare=per_element(_line),
)
