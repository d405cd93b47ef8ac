"""What one message of a Claude.ai export is made of.

An answer with tools is one message there, its calls and their results in it; for the API it
was several, so it is taken apart at the results. Most blocks have no id: a result answers the
first open call of its name in its message, else the first open one.

The export is not published; the shapes are those that schemas inferred from real ones
describe (polylogue's `claude-ai`), and `docs/formats.md` lists them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats import blocks
from threads.domain.formats.io import fields
from threads.domain.part import (
    JSON,
    File,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

NO_CONTEXT = frozenset({"token_budget"})
"""Blocks that count and say nothing."""
PAGE = ("title", "url", "text")
"""Members of what a search found, in the order in which they are read."""


def read_runs(message: dict[str, Any]) -> list[tuple[Part, ...]]:
    """The parts of a message, in runs: results, and what is no result, by turns."""
    content = _Content(fields.text(message, "uuid") or "call")
    said = [
        part
        for block in fields.items(message, "content")
        if (part := content.read(block)) is not None
    ]
    if not said and fields.text(message, "text"):
        # A flattened copy of the blocks, with placeholders for what isn't text.
        said = [Text(message["text"])]
    runs = groupby(
        (*_attached(message), *said), key=lambda part: isinstance(part, ToolResult)
    )
    return [tuple(run) for _, run in runs]


@dataclass(slots=True)
class _Content:
    """Reads the blocks of one message, in order."""

    uuid: str
    count: int = 0
    open: list[ToolCall] = field(default_factory=list)

    def read(self, block: JSON) -> Part | None:
        """The part of a block; None where it holds nothing."""
        kind = fields.text(block, "type")
        if kind == "text":
            words = fields.text(block, "text")
            return Text(words) if words else None
        if kind == "thinking":
            signature = fields.text(block, "signature") or None
            return Thinking(fields.text(block, "thinking"), signature)
        if kind == "tool_use":
            return self._call(block)
        if kind == "tool_result":
            return self._result(block)
        return None if kind in NO_CONTEXT else _other(block)

    def _call(self, block: dict[str, Any]) -> ToolCall:
        self.count += 1
        id_ = fields.text(block, "id") or f"{self.uuid}/{self.count}"
        name = fields.text(block, "name") or "tool"
        call = ToolCall(id_, name, block.get("input", {}))
        self.open.append(call)
        return call

    def _result(self, block: dict[str, Any]) -> ToolResult:
        id_, name = fields.text(block, "tool_use_id"), fields.text(block, "name")
        exact = (call for call in self.open if call.id == id_)
        named = (call for call in self.open if call.name == name)
        call = next(exact, None) or next(named, None) or next(iter(self.open), None)
        if call is not None:
            self.open.remove(call)
        self.count += call is None
        call_id = call.id if call else id_ or f"{self.uuid}/{self.count}"
        content = tuple(_found(block.get("content")))
        is_error = block.get("is_error") is True
        return ToolResult(call_id, content, name or None, is_error)


def _found(content: JSON) -> Iterator[Text | File | Opaque | Any]:
    """What a result holds: its text, what a search found, images, else blocks kept whole."""
    for block in content if isinstance(content, list) else [content]:
        if isinstance(block, str) and block:
            yield Text(block)
        elif fields.text(block, "type") in ("text", "knowledge"):
            words = filter(None, (fields.text(block, name) for name in PAGE))
            if text := "\n".join(words):
                yield Text(text)
        elif isinstance(block, dict):
            yield _other(block)


def _other(block: JSON) -> Part:
    """A block of the API (an image, a document), else one that is kept whole."""
    kind = fields.text(block, "type") or "block"
    try:
        found = [*blocks.read_block(block, ())]
    except Invalid:
        found = []
    return found[0] if found else Opaque(kind, block)


def _attached(message: dict[str, Any]) -> Iterator[Part]:
    """Files by the text that was taken from them; those that the export lacks by their name."""
    names = set()
    for attached in fields.items(message, "attachments"):
        name = fields.text(attached, "file_name")
        names.add(name)
        if words := fields.text(attached, "extracted_content"):
            type_ = fields.text(attached, "file_type")
            media_type = type_ if type_.startswith("text/") else "text/plain"
            data = words.encode("utf-8", "surrogatepass")
            yield File(media_type, name or None, data=data)
        else:
            yield Opaque("attachment", attached)
    for listed in ("files", "files_v2"):
        for file in fields.items(message, listed):
            name = fields.text(file, "file_name")
            if not name or name not in names:
                names.add(name)
                yield Opaque("file", file)
