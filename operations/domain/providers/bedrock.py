"""Amazon Bedrock's Converse.

Source: docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html.
"""

import base64
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from operations.domain.tree.key import Key
from threads.domain.message import Role
from threads.domain.part import File, Image, Part, Text, Thinking, ToolCall, ToolResult

from .passes import findings
from .passes.preparing import prepared, system_of
from .passes.turn_order import joined_results
from .passes.work import Work
from .request import Compiled, Draft
from .rules import IDS, PDF, PICTURES, Alphabet, Reasoning, Rules
from .tools import Definition, definitions, with_called
from .turns import Piece, Turn, without_blank_texts

Block = dict[str, Any]
EMPTY = "(no output)"
"""Stands for a result without words: no text may be blank here."""
RULES = Rules(
    strategies=frozenset({"bedrock", "anthropic"}),
    ids=Alphabet(legal=IDS.legal, longest=64),
    reasoning=Reasoning.SIGNED,
    encoded_signatures=frozenset({"data"}),
    images=PICTURES,
    files=PDF,
)


def compile_bedrock(draft: Draft) -> Compiled:
    """The body of `POST /model/{modelId}/converse`, which names no model."""
    turns, work = prepared(draft, RULES)
    writer = _Writer()
    messages: list[Block] = []
    origins: list[tuple[Key, ...]] = []
    turns = list(joined_results(turns))
    for turn in turns:
        _text_first(turn, work)
        turn.pieces = _with_words(turn.pieces)
        role = "assistant" if turn.role is Role.ASSISTANT else "user"
        messages.append({"role": role, "content": writer.blocks(turn.parts)})
        origins.append(turn.keys)
    prompt = system_of(draft)
    system = [{"text": prompt}] if prompt else None
    request: Block = {"system": system} if system else {}
    request["messages"] = messages
    if tools := with_called(definitions(work), turns, work):
        request["toolConfig"] = {"tools": [_specification(tool) for tool in tools]}
    issues = work.findings.issues()
    return Compiled(
        request, messages, system, tuple(origins), issues, tuple(turns), prompt
    )


def _text_first(turn: Turn, work: Work) -> None:
    """Moves an answer's calls behind its words (R14)."""
    if turn.role is not Role.ASSISTANT:
        return
    ordered = sorted(turn.pieces, key=lambda piece: isinstance(piece.part, ToolCall))
    if ordered != turn.pieces:
        work.found(findings.CALL_FIRST, turn.pieces[0])
        turn.pieces = ordered


def _with_words(pieces: list[Piece]) -> list[Piece]:
    """The pieces, where results have words, none of them blank, and documents a text beside."""
    found = [_with_text(without_blank_texts(piece)) for piece in pieces]
    parts = [piece.part for piece in found]
    has_text = any(isinstance(part, Text) for part in parts)
    if not has_text and any(isinstance(part, File) for part in parts):
        found.append(Piece(Text("[A document.]")))
    return found


def _with_text(piece: Piece) -> Piece:
    part = piece.part
    if not isinstance(part, ToolResult) or part.content:
        return piece
    return piece._replace(part=replace(part, content=(Text(EMPTY),)))


class _Writer:
    """Writes the parts of one request; documents have names that no other has."""

    def __init__(self) -> None:
        self._documents = 0

    def blocks(self, parts: Sequence[Part]) -> list[Block]:
        """The content of one message."""
        return [block for part in parts for block in self._block(part)]

    def _block(self, part: Part) -> Iterator[Block]:
        match part:
            case Text(text):
                yield {"text": text}
            case Thinking():
                yield {"reasoningContent": _reasoning(part)}
            case ToolCall(id_, name, arguments):
                yield {"toolUse": {"toolUseId": id_, "name": name, "input": arguments}}
            case ToolResult():
                yield {"toolResult": _result(part)}
            case Image(media_type, data=bytes(data)):
                kind = media_type.removeprefix("image/")
                yield {"image": {"format": kind, "source": {"bytes": _base64(data)}}}
            case File(data=bytes(data)):
                self._documents += 1
                name = f"document {self._documents}"
                source = {"bytes": _base64(data)}
                form = {"format": "pdf", "name": name, "source": source}
                yield {"document": form}


def _reasoning(part: Thinking) -> Block:
    if part.data is not None:
        return {"redactedContent": part.data}
    return {"reasoningText": {"text": part.text, "signature": part.signature}}


def _result(part: ToolResult) -> Block:
    texts = [item.text for item in part.content if isinstance(item, Text)]
    content = [{"text": text} for text in texts]
    form: Block = {"toolUseId": part.call_id, "content": content}
    return form | ({"status": "error"} if part.is_error else {})


def _specification(tool: Definition) -> Block:
    form: Block = {"name": tool.name, "inputSchema": {"json": tool.schema}}
    if tool.description:
        form["description"] = tool.description
    return {"toolSpec": form}


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
