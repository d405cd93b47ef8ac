"""Amazon Bedrock's Converse.

Source: docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html.
"""

import base64
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Any

from threads.domain.message import Role
from threads.domain.part import File, Image, Part, Text, Thinking, ToolCall, ToolResult

from .passes import findings
from .passes.work import Work
from .request import Written
from .rules import IDS, PDF, PICTURES, Alphabet, Reasoning, Rules
from .tools import definitions, with_called_tools
from .turns import Turn, TurnPart, without_blank_texts

Block = dict[str, Any]
EMPTY = "(no output)"
"""Stands for a result without text: Bedrock allows no blank text."""
RULES = Rules(
    strategies=frozenset({"bedrock", "anthropic"}),
    ids=Alphabet(legal=IDS.legal, longest=64),
    results_by_user=True,
    reasoning=Reasoning.SIGNED,
    encoded_signatures=frozenset({"data"}),
    images=PICTURES,
    files=PDF,
)


def write_bedrock(turns: list[Turn], work: Work, prompt: str) -> Written:
    """The body of `POST /model/{modelId}/converse`, which names no model."""
    documents = count(1)
    messages: list[Block] = []
    for turn in turns:
        _text_first(turn, work)
        turn.pieces = _with_words(turn.pieces)
        role = "assistant" if turn.role is Role.ASSISTANT else "user"
        content = [block for part in turn.parts for block in _block(part, documents)]
        messages.append({"role": role, "content": content})
    system = [{"text": prompt}] if prompt else None
    request: Block = {"system": system} if system else {}
    request["messages"] = messages
    if tools := with_called_tools(definitions(work), turns, work):
        request["toolConfig"] = {
            "tools": [
                {"toolSpec": tool.form(inputSchema={"json": tool.schema})}
                for tool in tools
            ]
        }
    return Written(request, messages, system, [turn.pieces for turn in turns])


def _text_first(turn: Turn, work: Work) -> None:
    """Moves an answer's calls after its text (R14)."""
    if turn.role is not Role.ASSISTANT:
        return
    ordered = sorted(turn.pieces, key=lambda piece: isinstance(piece.part, ToolCall))
    if ordered != turn.pieces:
        work.report(findings.CALL_FIRST, turn.pieces[0])
        turn.pieces = ordered


def _with_words(pieces: list[TurnPart]) -> list[TurnPart]:
    """Give every result a text that isn't blank, and every document a text beside it."""
    found: list[TurnPart] = []
    for piece in map(without_blank_texts, pieces):
        part = piece.part
        if isinstance(part, ToolResult) and not part.content:
            piece = piece._replace(part=replace(part, content=(Text(EMPTY),)))
        found.append(piece)
    parts = [piece.part for piece in found]
    has_text = any(isinstance(part, Text) for part in parts)
    if not has_text and any(isinstance(part, File) for part in parts):
        found.append(TurnPart(Text("[A document.]")))
    return found


def _block(part: Part, documents: Iterator[int]) -> Iterator[Block]:
    """The content blocks of a part. Documents are numbered, because their names must be unique."""
    match part:
        case Text(text):
            yield {"text": text}
        case Thinking(data=str(data)):
            yield {"reasoningContent": {"redactedContent": data}}
        case Thinking(text, signature):
            reasoning = {"text": text, "signature": signature}
            yield {"reasoningContent": {"reasoningText": reasoning}}
        case ToolCall(id_, name, arguments):
            yield {"toolUse": {"toolUseId": id_, "name": name, "input": arguments}}
        case ToolResult():
            yield {"toolResult": _result(part)}
        case Image(media_type, data=bytes(data)):
            kind = media_type.removeprefix("image/")
            yield {"image": {"format": kind, "source": {"bytes": _base64(data)}}}
        case File(data=bytes(data)):
            name = f"document {next(documents)}"
            source = {"bytes": _base64(data)}
            form = {"format": "pdf", "name": name, "source": source}
            yield {"document": form}


def _result(part: ToolResult) -> Block:
    texts = [item for item in part.content if isinstance(item, Text)]
    content = [{"text": item.text} for item in texts]
    form: Block = {"toolUseId": part.call_id, "content": content}
    return form | ({"status": "error"} if part.is_error else {})


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
