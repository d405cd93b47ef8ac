"""Open WebUI's export of chats: `[{"chat": {"history": {"messages", "currentId"}}, …}]`.

A message of the history names its parent; regenerated answers are branches. Reasoning and calls are
in an answer as `<details>`, from which newer versions rebuild requests.

Source: github.com/open-webui/open-webui, `backend/open_webui/models/chats.py`,
`backend/open_webui/utils/middleware.py`.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any, BinaryIO

from threads.domain.formats.arguments import read_call
from threads.domain.formats.io import base64_text, fields, json_file, json_text
from threads.domain.formats.io.source import ByteSpan
from threads.domain.formats.openai import messages as openai
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role, Usage
from threads.domain.part import (
    JSON,
    File,
    Image,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolResult,
)
from threads.domain.transcript import Event, Warning

from .conversations import ConversationTree, ExportFormat
from .trees import TreeNode, conversation_of, list_objects, with_root

ROLES = {role.value: role for role in (Role.SYSTEM, Role.USER, Role.ASSISTANT)}
_DETAILS = re.compile(r'<details type="(reasoning|tool_calls)"([^<>]{0,2000000})>')
_ATTRIBUTE = re.compile(r'(?<![a-z])([a-z]+)="([^"]*)"')
_SUMMARY = re.compile(r"(?<!\s)\s*+<summary>[^<]{0,1000}</summary>\n?")
_END = "</details>"


def _index(
    file: BinaryIO,
    span: ByteSpan,
    said: dict[str, Any],
    _beside: Any,
    _skipped: list[Warning],
) -> ConversationTree | None:
    """The messages of a chat, from its history, else from its list."""
    outer = json_file.members(file, span.start, [])
    chat = fields.mapping(said, "chat") or said
    inner = (
        json_file.members(file, outer["chat"].start, []) if "chat" in said else outer
    )
    models = [one for one in fields.items(chat, "models") if isinstance(one, str)]
    history = fields.mapping(chat, "history")
    nodes = _of_history(file, inner, history) or _of_list(file, inner, chat)
    params = fields.mapping(chat, "params")
    if nodes and fields.text(params, "system"):
        nodes = with_root(TreeNode("params", "", inner["params"], params), nodes)
    return conversation_of(
        nodes,
        read_message,
        id=fields.word(said, "id", limit=200) or fields.word(chat, "id", limit=200),
        title=fields.text(said, "title") or fields.text(chat, "title"),
        model=models[0] if models and len(models[0]) <= 128 else "",
        leaf=fields.text(history, "currentId"),
        beside=[
            Event(name, place.record) for name, place in inner.items() if name in _KEPT
        ],
    )


_KEPT = ("params", "files", "system")
"""Members of a chat with its settings; they become events."""


def _of_history(
    file: BinaryIO, members: dict[str, ByteSpan], history: dict[str, Any]
) -> list[TreeNode]:
    messages = fields.mapping(history, "messages")
    if not messages:
        return []
    inside = json_file.members(file, members["history"].start, [])
    places = json_file.members(file, inside["messages"].start, [])
    return [
        TreeNode(id_, fields.text(value, "parentId"), places[id_], value)
        for id_, value in messages.items()
        if isinstance(value, dict) and id_ in places
    ]


def _of_list(
    file: BinaryIO, members: dict[str, ByteSpan], chat: dict[str, Any]
) -> list[TreeNode]:
    if "messages" not in members:
        return []
    nodes: list[TreeNode] = []
    for place, value in list_objects(
        file, members["messages"], fields.items(chat, "messages")
    ):
        id_ = fields.text(value, "id") or f"@{place.start}"
        nodes.append(TreeNode(id_, nodes[-1].id if nodes else "", place, value))
    return nodes


def read_message(given: dict[str, Any], record: str) -> list[Message]:
    """The messages made from one: an answer is split at the results of its calls."""
    if "role" not in given and (prompt := fields.text(given, "system")):
        return [Message(role=Role.SYSTEM, parts=(Text(prompt),), records=(record,))]
    role = ROLES.get(fields.text(given, "role"))
    parts = [*_attached(given), *_content(given.get("content"), role)]
    if role is None or not parts:
        return []
    usage = _usage(given)
    found: list[Message] = []
    for is_result, run in groupby(parts, key=lambda part: isinstance(part, ToolResult)):
        found.append(
            Message(
                role=Role.TOOL if is_result else role,
                parts=tuple(run),
                model=_model(given)
                if role is Role.ASSISTANT and not is_result
                else None,
                source_id=_source_id(given, len(found)),
                created_at=fields.moment(given.get("timestamp")),
                records=(record,),
            )
        )
    found[-1] = replace(found[-1], usage=usage)
    return found


def _source_id(given: dict[str, Any], nth: int) -> str | None:
    id_ = fields.word(given, "id", limit=120)
    return (f"{id_}/{nth}" if nth and id_ else id_) or None


def _model(given: dict[str, Any]) -> str | None:
    return fields.word(given, "model", "modelName") or None


def _usage(given: dict[str, Any]) -> Usage | None:
    told = fields.mapping(given, "usage") or fields.mapping(given, "info")
    found = openai.read_usage(told) if "prompt_tokens" in told else None
    if found is None and "prompt_eval_count" in told:  # Ollama's
        found = Usage(
            input_tokens=fields.count(told, "prompt_eval_count"),
            output_tokens=fields.count(told, "eval_count"),
        )
    return found


def _content(content: JSON, role: Role | None) -> Iterator[Part]:
    words = content if isinstance(content, str) else ""
    if content is not None and not isinstance(content, str):
        words = json_text.decode(json_text.dump(content))
    if role is not Role.ASSISTANT:
        if words:
            yield Text(words)
        return
    end = 0
    for match in _DETAILS.finditer(words):
        if match.start() < end:
            continue
        close = words.find(_END, match.end())
        if close < 0:
            break
        if before := words[end : match.start()].strip("\n"):
            yield Text(before)
        told = dict(_ATTRIBUTE.findall(match[2]))
        body = _SUMMARY.sub("", words[match.end() : close], count=1)
        yield from _thought(body) if match[1] == "reasoning" else _called(told)
        end = close + len(_END)
    if rest := words[end:].strip("\n") if end else words:
        yield Text(rest)


def _thought(body: str) -> Iterator[Part]:
    """Reasoning, which is written as a quotation."""
    lines = (
        line.removeprefix(">").removeprefix(" ")
        for line in body.strip("\n").split("\n")
    )
    if words := html.unescape("\n".join(lines)):
        yield Thinking(words)


def _called(told: dict[str, str]) -> Iterator[Part]:
    """A call and its result, both written as JSON in attributes."""
    id_, name = html.unescape(told.get("id", "")), html.unescape(told.get("name", ""))
    yield read_call(id_, name or "tool", _opened(told.get("arguments", "")) or {})
    if "result" in told:
        result = _opened(told["result"])
        if result is not None and not isinstance(result, str):
            result = json_text.decode(json_text.dump(result))
        yield ToolResult(id_, (Text(result),) if result else (), name or None)


def _opened(attribute: str) -> JSON:
    """The value in an attribute; its text if it isn't JSON."""
    words = html.unescape(attribute)
    try:
        return json_text.parse_strictly(words)
    except ValueError:
        return words


def _attached(given: dict[str, Any]) -> Iterator[Part]:
    for one in fields.items(given, "files"):
        url = fields.text(one, "url")
        held = base64_text.split_data_uri(url)
        if fields.text(one, "type") == "image" and url:
            yield Image(held[0], data=held[1]) if held else Image("image/*", url=url)
            continue
        inner = fields.mapping(one, "file")
        words = fields.text(fields.mapping(inner, "data"), "content")
        if words:
            name = fields.text(one, "name") or fields.text(inner, "filename") or None
            yield File("text/plain", name, data=words.encode("utf-8", "surrogatepass"))
        else:
            yield Opaque("file", one)


def score(sample: Sample) -> float:
    """By a chat's history, or by its messages beside a user's id."""
    for row in sample.rows:
        chat = fields.mapping(row, "chat") or row
        history = fields.mapping(chat, "history")
        if "currentId" in history and "messages" in history:
            return 0.95
        if chat is not row and "messages" in chat and "user_id" in row:
            return 0.9
    return 0


EXPORT = ExportFormat(
    name="open_webui",
    label="an Open WebUI chat",
    score=score,
    index=_index,
    untitled="Open WebUI chat",
    strategy="openai",
)
