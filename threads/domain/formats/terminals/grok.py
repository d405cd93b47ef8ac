"""xAI's Grok in the terminal: `~/.grok/sessions/**/chat_history.jsonl`, beside a `summary.json`.

The type of a line is its speaker. Reasoning is on lines of its own, before the answer that it is
part of. Calls that the provider ran itself (`backend_tool_call`) are kept whole in that answer.

Sources: github.com/Piebald-AI/splitrail, `src/analyzers/grok.rs`;
github.com/jazzyalex/agent-sessions, `Resources/Fixtures/stage0/agents/grok`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from threads.domain.formats import blocks
from threads.domain.formats.arguments import read_call
from threads.domain.formats.io import fields, json_file
from threads.domain.formats.io.folder import Folder, Gathered, Member
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.io.source import ByteSpan
from threads.domain.formats.kit.items import Item, items_in
from threads.domain.formats.kit.row_format import RowFormat, event
from threads.domain.formats.openai import items as responses
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role
from threads.domain.part import JSON, Opaque, Part, ToolCall
from threads.domain.transcript import Event, Warning

HISTORY = "chat_history.jsonl"
_OWN = frozenset({"synthetic_reason", "prompt_index", "model_fingerprint", "model_id"})


@dataclass(slots=True)
class GrokLines:
    """Makes messages from lines; reasoning is held until its answer."""

    _held: list[Part] = field(default_factory=list)
    _records: list[str] = field(default_factory=list)

    def take(self, row: Element) -> Iterator[Item]:
        """The items of a line. Raises Invalid if it is malformed."""
        given = fields.require(row.value, dict, "a line of Grok's history", ())
        kind = fields.text(given, "type")
        if kind == "reasoning":
            read = responses.read_item(given)
            self._hold(read[1] if read else (), row)
        elif kind == "backend_tool_call":
            self._hold((Opaque(kind, given),), row)
        elif kind == "assistant":
            yield self._answer(given, row)
        elif kind in ("system", "user", "tool_result"):
            message = _said(given, kind, row)
            yield from self.rest()
            yield message or event(row, "type")
        else:
            yield event(row, "type")

    def rest(self) -> Iterable[Item]:
        """Reasoning that was not followed by an answer."""
        if self._held:
            yield Message(
                role=Role.ASSISTANT,
                parts=tuple(self._held),
                records=tuple(self._records),
                partial=True,
            )
        else:
            yield from (Event("reasoning", record) for record in self._records)
        self._held, self._records = [], []

    def _hold(self, parts: tuple[Part, ...], row: Element) -> None:
        self._held += parts
        self._records.append(row.record)

    def _answer(self, given: dict[str, Any], row: Element) -> Message:
        words = blocks.read_content(_content(given.get("content")), ("content",))
        calls = tuple(map(_call, fields.items(given, "tool_calls")))
        parts = (*self._held, *words, *calls)
        records = (*self._records, row.record)
        self._held, self._records = [], []
        return Message(
            role=Role.ASSISTANT,
            parts=parts,
            model=fields.word(given, "model_id") or None,
            records=records,
        )


def _call(call: JSON) -> ToolCall:
    at = ("tool_calls", "name")
    fields.require(call, dict, "a tool call", at[:1])
    name = fields.require(call.get("name"), str, "the name of a tool", at)
    return read_call(fields.text(call, "id"), name, call.get("arguments", ""))


def _said(given: dict[str, Any], kind: str, row: Element) -> Message | None:
    content = _content(given.get("content"))
    if kind == "tool_result":
        call_id = fields.text(given, "tool_call_id")
        result = blocks.read_result({**given, "content": content}, call_id, ())
        return Message(role=Role.TOOL, parts=(result,), records=(row.record,))
    role = Role.SYSTEM if kind == "system" else Role.USER
    parts = blocks.read_content(content, ("content",))
    return Message(role=role, parts=parts, records=(row.record,)) if parts else None


def _content(content: JSON) -> JSON:
    """The content with images in the form of OpenAI's Responses."""
    if not isinstance(content, list):
        return content
    return [
        {"type": "input_image", "image_url": block["url"]}
        if fields.text(block, "type") == "image" and fields.text(block, "url")
        else block
        for block in content
    ]


def gather(folder: Folder) -> list[Gathered]:
    """Sessions with their summary files, which have their ids, titles and models."""
    found = []
    for member in folder.named(HISTORY):
        place = member.name.removesuffix(HISTORY)
        if place and not place.endswith("/"):
            continue
        summary = folder.members.get(f"{place}summary.json")
        if summary is not None and (one := _session(member, summary)):
            found.append(one)
    return found


def _session(member: Member, summary: Member) -> Gathered | None:
    with summary.open() as file:
        span = ByteSpan(0, summary.size)
        told = fields.mapping(json_file.known_value(file, span, []))
    note = Event("sidecar", f"{summary.name}#bytes:0-{summary.size}")

    def items(file: BinaryIO, warnings: list[Warning]) -> Iterator[Item]:
        yield note
        yield from HISTORY_FORMAT.items(file, warnings)

    made = HISTORY_FORMAT.transcript(
        items_in(member.open, items),
        [],
        title=fields.text(told, "generated_title", "session_summary"),
        external_id=fields.word(fields.mapping(told, "info"), "id", limit=255),
        model=fields.word(told, "current_model_id"),
        member=member.name,
    )
    return Gathered([made], frozenset({member.name, summary.name})) if made else None


def _score(sample: Sample) -> float:
    """By lines whose type is the speaker, with content beside it."""
    rows = [row for row in sample.records if "content" in row and "role" not in row]
    kinds = {fields.text(row, "type") for row in rows}
    if not kinds <= {"system", "user", "assistant", "tool_result"}:
        return 0
    if any(row.keys() & _OWN for row in rows):
        return 0.93
    return 0.92 if {"assistant"} < kinds and kinds & {"system", "tool_result"} else 0


HISTORY_FORMAT = RowFormat(
    name="grok",
    label="a Grok session",
    score=_score,
    reader=GrokLines,
    strategy="openai",
    gather=gather,
)
FORMAT = HISTORY_FORMAT.format
