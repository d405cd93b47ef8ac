"""Lists of the AI SDK's messages, as programs store them: UIMessages and ModelMessages.

A file is a list of messages, has one per line, or consists of one or more objects with `messages`
(a stored chat, the body of a request). ModelMessages (CoreMessages in version 4) have OpenAI's
roles, with blocks of other names: `tool-call`, `tool-result`, `reasoning`.

Source: vercel/ai, packages/provider-utils/src/types.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, BinaryIO

from threads.domain.formats import blocks, emptiness
from threads.domain.formats.format import Format
from threads.domain.formats.io import fields, json_file
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.kit import list_format
from threads.domain.formats.kit.chats import chat, sessions
from threads.domain.formats.kit.chats.sessions import PlacedRow, SessionRows
from threads.domain.formats.kit.items import Item, Items
from threads.domain.formats.kit.list_format import ListFormat, Values, per_element
from threads.domain.formats.kit.transcripts import (
    require_transcripts,
    transcript_of,
    with_skipped_warnings,
)
from threads.domain.formats.sample import Sample
from threads.domain.formats.traces.shape_blocks import read_answer, read_blocks
from threads.domain.message import Message, Role
from threads.domain.part import JSON, Part, ToolResult
from threads.domain.transcript import Transcript, Warning

from . import ui

NAME = "ai_sdk"
LABEL = "messages of the AI SDK"
ROLES = ui.ROLES | {"tool": Role.TOOL, "data": Role.SYSTEM}
OF_MODELS = frozenset({"tool-call", "tool-result", "redacted-reasoning"})
"""Blocks that occur only in messages for models."""


def read_message(row: Element) -> Iterator[Message]:
    """The messages of an element. Raises Invalid if it isn't a message."""
    given = fields.require(row.value, dict, "a message", ())
    role = blocks.read_role(given, ROLES, ())
    if ui.is_ui(given):
        yield from ui.read(given, role, row)
        return
    parts = tuple(_parts(given.get("content")))
    if not parts:
        emptiness.require_content(given, (), ("toolInvocations", "parts"))
    yield Message(
        role=role,
        parts=parts,
        source_id=fields.word(given, "id") or None,
        created_at=fields.moment(given.get("createdAt")),
        records=(row.record,),
    )


def _parts(content: Any) -> Iterator[Part]:
    """The parts of a content. Raises Invalid if it is neither text nor blocks."""
    if content is None or isinstance(content, str):
        yield from blocks.read_content(content, ("content",))
        return
    for block in fields.require(
        content, list, "text or a list of blocks", ("content",)
    ):
        yield from _block(block)


def _block(block: Any) -> Iterator[Part]:
    kind = fields.text(block, "type")
    if kind == "reasoning":
        yield from ui.read_reasoning(block)
    elif kind in ("image", "file"):
        yield from ui.read_file(block)
    elif kind == "tool-result":
        yield _result(block)
    else:
        yield from read_blocks(block)


def _result(block: dict[str, Any]) -> ToolResult:
    """A result; since version 5 its `output` states its kind."""
    output = block.get("output", block.get("result"))
    kind = fields.text(output, "type")
    is_error = kind.startswith("error-") or block.get("isError") is True
    name = fields.text(block, "toolName") or None
    if kind == "execution-denied":
        denial = ui.read_denial(fields.mapping(output))
        return ToolResult(fields.text(block, "toolCallId"), denial, name, is_error=True)
    content = read_answer(block.get("experimental_content") or output)
    return ToolResult(fields.text(block, "toolCallId"), content, name, is_error)


def _known(said: Values, _file_name: str) -> dict[str, Any]:
    """The title and id of a stored chat."""
    return {
        "title": fields.text({"title": said["title"]}, "title"),
        "external_id": fields.as_word(said["chatId"] or said["id"], 200) or None,
    }


def _score(sample: Sample) -> float:
    """By the parts of UI messages, or by blocks that only this SDK has."""
    messages = chat.opening_messages(sample, ROLES)
    if not messages:
        return 0
    kinds = {
        fields.text(block, "type")
        for message in messages
        for block in fields.items(message, "content")
    }
    return 0.9 if any(map(ui.is_ui, messages)) or kinds & OF_MODELS else 0


def read(file: BinaryIO, name: str) -> list[Transcript]:
    """The conversations of a file; rows of several chats, as in a table, are separated.

    Raises Invalid if none holds a message.
    """
    is_bare = list_format.is_bare(file, LIST_FORMAT.lists)
    parted = sessions.split_rows(partial(_rows, file), _speakers) if is_bare else []
    if not parted:
        return LIST_FORMAT.read(file, name)
    skipped = list(sessions.separation_warnings(parted))
    found = [
        transcript_of(
            Items(partial(_items, file, one)),
            format=NAME,
            external_id=sessions.id_of(one.id),
        )
        for one in parted
    ]
    return with_skipped_warnings(require_transcripts(found, skipped, LABEL), skipped)


def _rows(file: BinaryIO) -> Iterator[PlacedRow]:
    for number, row in enumerate(json_file.rows(file, [])):
        yield PlacedRow(row.line or number, *row.span, row.value)


def _speakers(value: JSON) -> set[str]:
    role = ROLES.get(fields.text(value, "role"))
    return {str(role)} if role else set()


def _items(
    file: BinaryIO, session: SessionRows, warnings: list[Warning]
) -> Iterator[Item]:
    rows = (json_file.element(file, span, warnings) for _, span in session.places())
    yield from per_element(read_message)(rows, warnings)


LIST_FORMAT = ListFormat(
    name=NAME,
    label=LABEL,
    score=_score,
    lists={"messages": per_element(read_message)},
    known=_known,
    bare=per_element(read_message),
)
FORMAT = Format(NAME, LABEL, _score, read)
