"""Logs of Copilot Chat's requests, exported from its debug view (`.chatreplay.json`).

A file is `{"prompts": [{"prompt", "logs"}]}`, or one such prompt. A log is a request to a model,
with all messages sent and the answer's text, or a tool call. Each request repeats the one before it
and adds what came since, so the last request of a chain is the conversation. The others are events,
as are tool calls, which the requests repeat. Without requests, the calls are read.

Roles and kinds of content are numbers. Sources: microsoft/vscode-copilot-chat,
src/extension/log/vscode-node/requestLogTree.ts; microsoft/vscode-prompt-tsx,
src/base/output/rawTypes.ts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, BinaryIO, NamedTuple

from threads.domain.body import digest
from threads.domain.formats.arguments import read_call
from threads.domain.formats.format import Format
from threads.domain.formats.io import base64_text, fields, json_file, json_text
from threads.domain.formats.io.source import ByteSpan
from threads.domain.formats.kit.calls import OpenCalls
from threads.domain.formats.kit.items import Item, Items
from threads.domain.formats.kit.transcripts import (
    require_transcripts,
    transcript_of,
    with_skipped_warnings,
)
from threads.domain.formats.openai import messages as openai
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role
from threads.domain.part import (
    JSON,
    Image,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from threads.domain.transcript import Event, Transcript, Warning

NAME = "copilot_replay"
LABEL = "a log of Copilot Chat's requests (.chatreplay.json)"
ROLES: dict[Any, Role] = {
    0: Role.SYSTEM,
    1: Role.USER,
    2: Role.ASSISTANT,
    3: Role.TOOL,
    **{role.value: role for role in Role},
}
TEXT, WHOLE, CACHED = 1, 2, 3
"""Kinds of content: text, an opaque value, and a cache breakpoint."""


class _Log(NamedTuple):
    """A log: its kind, name and place."""

    kind: str
    name: str
    span: ByteSpan


@dataclass(slots=True)
class _Chain:
    """A conversation: its last request, and digests of the messages sent."""

    prompt: str
    last: _Log
    marks: Sequence[bytes]
    others: list[_Log] = field(default_factory=list)
    """Logs that become events: earlier requests that it repeats, and tool calls."""


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """The conversations in a file's requests. Raises Invalid if there are none."""
    skipped: list[Warning] = []
    chains: list[_Chain] = []
    bare: list[Transcript | None] = []
    for span in json_file.held_objects(file, "prompts", skipped):
        members = json_file.members(file, span.start, skipped)
        prompt = fields.text({"p": json_file.get(file, members, "prompt")}, "p")
        logs = _logs(file, members, skipped)
        waiting = [log for log in logs if not _take(file, log, prompt, chains, skipped)]
        if waiting and len(waiting) == len(logs):
            items = Items(partial(_called, file, prompt, span, logs))
            bare.append(transcript_of(items, format=NAME, title=prompt))
        elif waiting:
            chains[-1].others += waiting
    made = [_transcript(file, chain) for chain in chains]
    return with_skipped_warnings(
        require_transcripts([*made, *bare], skipped, LABEL), skipped
    )


def _logs(
    file: BinaryIO, members: dict[str, ByteSpan], warnings: list[Warning]
) -> list[_Log]:
    held = members.get("logs")
    if held is None or not json_file.is_list(file, held):
        return []
    found = json_file.elements(file, held.start, warnings)
    return [
        _Log(
            fields.text(row.value, "kind"),
            fields.text(row.value, "name", "tool"),
            row.span,
        )
        for row in found
    ]


def _take(
    file: BinaryIO, log: _Log, prompt: str, chains: list[_Chain], skipped: list[Warning]
) -> bool:
    """Add a log to the chain that it continues, or to a new one; False if it isn't a request."""
    value = fields.mapping(json_file.known_value(file, log.span, skipped))
    sent = list(_sent(value)) if log.kind == "request" else []
    if not sent:
        return False
    marks = [digest(message.role, message.parts) for message in sent]
    for chain in chains:
        if list(chain.marks) == marks[: len(chain.marks)]:
            chain.others.append(chain.last)
            chain.last, chain.marks = log, marks
            return True
    chains.append(_Chain(prompt, log, marks))
    return True


def _transcript(file: BinaryIO, chain: _Chain) -> Transcript | None:
    items = Items(partial(_items, file, chain))
    value = fields.mapping(json_file.known_value(file, chain.last.span, []))
    model = fields.word(fields.mapping(value, "metadata"), "model")
    return transcript_of(items, format=NAME, title=chain.prompt, model=model)


def _items(file: BinaryIO, chain: _Chain, warnings: list[Warning]) -> Iterator[Item]:
    """The messages of the last request, its answer, and events for other logs."""
    value = fields.mapping(json_file.known_value(file, chain.last.span, warnings))
    records = (chain.last.span.record,)
    for message in _sent(value):
        yield replace(message, records=records)
    metadata = fields.mapping(value, "metadata")
    if parts := tuple(_answer(fields.mapping(value).get("response"))):
        yield Message(
            role=Role.ASSISTANT,
            parts=parts,
            model=fields.word(metadata, "model") or None,
            usage=openai.read_usage(metadata.get("usage")),
            created_at=fields.moment(metadata.get("endTime")),
            records=records,
        )
    for log in chain.others:
        yield Event("/".join(filter(None, (log.kind, log.name))), log.span.record)


def _answer(response: JSON) -> Iterator[Part]:
    """The text of an answer; anything else, such as an error, is kept whole."""
    said = fields.mapping(response).get("message", response)
    for words in said if isinstance(said, list) else [said]:
        if isinstance(words, str):
            yield from (Text(words),) if words else ()
        elif words is not None:
            yield Opaque("response", words)


# Messages as they were sent


def _sent(value: dict[str, Any]) -> Iterator[Message]:
    """The messages of a request; other values remain only in the request's record."""
    held = value.get("requestMessages")
    listed = held if isinstance(held, list) else fields.items(held, "messages")
    for given in listed:
        role = ROLES.get(fields.mapping(given).get("role"))
        if role is not None and (parts := _parts(given, role)):
            yield Message(role=role, parts=parts)


def _parts(given: dict[str, Any], role: Role) -> tuple[Part, ...]:
    content = given.get("content")
    pieces = content if isinstance(content, list) else [content]
    said = tuple(part for piece in pieces for part in _piece(piece))
    if role is Role.TOOL:
        id_ = fields.text(given, "toolCallId", "tool_call_id")
        return (ToolResult(id_, tuple(p for p in said if isinstance(p, _HELD))),)
    calls = fields.items(given, "toolCalls") or fields.items(given, "tool_calls")
    return (*said, *filter(None, map(_call, calls)))


def _piece(piece: JSON) -> Iterator[Part]:
    if isinstance(piece, str):
        yield from (Text(piece),) if piece else ()
        return
    given, kind = fields.mapping(piece), fields.mapping(piece).get("type")
    value = fields.mapping(given, "value")
    if kind in (TEXT, "text"):
        yield from (Text(words),) if (words := fields.text(given, "text")) else ()
    elif url := fields.text(fields.mapping(given, "imageUrl"), "url"):
        found = base64_text.split_data_uri(url)
        yield (Image(found[0], data=found[1]) if found else Image("image/*", url=url))
    elif kind == WHOLE and value.get("type") == "thinking":
        yield from _thought(value.get("thinking"))
    elif call := _call(value.get("toolCall")):
        yield call
    elif given and kind != CACHED:
        yield Opaque(fields.text(value, "type") or "content", piece)


def _thought(thinking: JSON) -> Iterator[Thinking]:
    words = fields.text(thinking, "text")
    if words:
        sealed = fields.mapping(thinking).get("encrypted")
        is_sealed = sealed is True
        data = words if is_sealed else (sealed if isinstance(sealed, str) else None)
        yield Thinking("" if is_sealed else words, data=data)


def _call(call: JSON) -> ToolCall | None:
    function = fields.mapping(call, "function") or fields.mapping(call)
    name = fields.text(function, "name")
    if not name:
        return None
    given = function.get("arguments", function.get("input", {}))
    return read_call(fields.text(call, "id"), name, given)


_HELD = (Text, Image, Opaque)


# Logs without requests


def _called(
    file: BinaryIO,
    prompt: str,
    span: ByteSpan,
    logs: Sequence[_Log],
    warnings: list[Warning],
) -> Iterator[Item]:
    """The prompt, then each call with its reasoning and its result."""
    if prompt:
        yield Message(role=Role.USER, parts=(Text(prompt),), records=(span.record,))
    calls = OpenCalls()
    for log in logs:
        value = fields.mapping(json_file.known_value(file, log.span, warnings))
        name, records = fields.text(value, "tool"), (log.span.record,)
        if not name:
            yield Event(log.kind or "log", log.span.record)
            continue
        id_ = calls.begin(fields.text(value, "id"), name)
        call = read_call(id_, name, value.get("args", {}))
        thought = tuple(_thought(value.get("thinking")))
        at = fields.moment(value.get("time"))
        yield Message(
            role=Role.ASSISTANT, parts=(*thought, call), created_at=at, records=records
        )
        answer = value.get("response")
        pieces = answer if isinstance(answer, list) else [answer]
        texts = [
            Text(one if isinstance(one, str) else json_text.dump(one).decode())
            for one in pieces
            if one not in (None, "")
        ]
        result = ToolResult(id_, tuple(texts), name)
        yield Message(role=Role.TOOL, parts=(result,), records=records)


def _score(sample: Sample) -> float:
    """By prompts with logs; a single prompt by its own members."""
    prompts = fields.items(sample.object, "prompts") or [sample.object]
    first = fields.mapping(next(iter(prompts), None))
    if "prompts" in sample.object and "logs" in first:
        return 0.95
    if "totalLogEntries" in sample.object:
        return 0.95
    return 0.95 if {"prompt", "promptId", "logs"} <= first.keys() else 0


FORMAT = Format(NAME, LABEL, _score, read)
