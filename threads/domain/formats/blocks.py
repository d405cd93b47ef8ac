"""Content blocks of OpenAI (Chat Completions, Responses) and Anthropic Messages, as parts.

Real files mix both families (proxies pass one provider's blocks in the other's envelope), and
the names do not collide, so one table reads both. A block of a type that is not in the table
is kept whole as `Opaque`. Members that belong only to requests (`cache_control`, `detail`) are
left out.

Sources: platform.openai.com/docs/api-reference/chat, docs.anthropic.com/en/api/messages,
docs.mistral.ai/capabilities/reasoning.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from contextstudio.accounts.domain.errors import Invalid, Place
from threads.domain.message import Role
from threads.domain.part import (
    JSON,
    File,
    Image,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

from .io import base64_text, fields, json_text

Block = dict[str, Any]

_OF_DOCUMENTS = ("context", "citations")
"""Members of Anthropic's documents that are kept: it refuses a request in which only some of the
documents are cited."""
_SURE_DEPTH = json_text.MAX_DEPTH - 20
RESULT_KINDS = (Text, Image, File, Opaque)
"""The kinds of parts that a tool result may hold."""


def read_role(
    record: JSON, roles: Mapping[str, Role], at: Place, what: str = "A message"
) -> Role:
    """The role of a record, by its name in `roles`. Raises Invalid if it is none of them."""
    role = roles.get(fields.text(record, "role"))
    if role is None:
        raise Invalid(
            f"{what}'s role must be one of {', '.join(roles)}.", at=(*at, "role")
        )
    return role


def read_content(content: JSON, at: Place) -> tuple[Part, ...]:
    """The parts of a message's `content`: null, a string, or a list of blocks.

    An empty text is not a part, so null, "" and [] are the same. Raises Invalid at the place of
    a value of the wrong type.
    """
    if content is None or content == "":
        return ()
    if isinstance(content, str):
        return (Text(content),)
    blocks = fields.require(content, list, "text or a list of blocks", at)
    parts: list[Part] = []
    for i, block in enumerate(blocks):
        if (part := _plain(block)) is not None:
            parts.append(part)
        else:
            parts += read_block(block, (*at, i))
    return tuple(parts)


def _plain(block: JSON) -> Part | None:
    """What `read_block` returns for the most frequent blocks, in a third of its time."""
    if type(block) is not dict:
        return None
    match block.get("type"):
        case "text" | "input_text" | "output_text":
            words = block.get("text")
            return Text(words) if words and type(words) is str else None
        case "tool_use":
            id_, name = block.get("id"), block.get("name")
            if id_ and type(id_) is str and type(name) is str:
                return ToolCall(id_, name, block.get("input", {}))
        case "tool_result":
            id_, words = block.get("tool_use_id"), block.get("content")
            if type(id_) is str and words and type(words) is str:
                is_error = block.get("is_error") is True
                return ToolResult(id_, (Text(words),), None, is_error)
    return None


def are_exact(parts: Iterable[Part]) -> bool:
    """Whether parts read from a roughly parsed value equal those read from the exact one.

    Also False if they are nested almost too deeply: whether they are too deep then depends on
    what contains them.
    """
    for part in parts:
        if type(part) is Text:  # the most frequent kind
            continue
        if isinstance(part, ToolCall):
            if not json_text.is_exact(part.arguments, _SURE_DEPTH):
                return False
        elif isinstance(part, Opaque):
            if not json_text.is_exact(part.data, _SURE_DEPTH):
                return False
        elif isinstance(part, ToolResult) and not are_exact(part.content):
            return False
    return True


def read_block(block: JSON, at: Place) -> tuple[Part, ...]:
    """The part of one block; none for an empty text. A bare string is a text block."""
    if isinstance(block, str):
        block = {"type": "text", "text": block}
    fields.require(block, dict, "a block", at)
    type_ = fields.require(block.get("type"), str, "a block's type", (*at, "type"))
    reader = _READERS.get(type_)
    part = reader(block, at) if reader else None
    if part is None:
        part = Opaque(type_, {k: v for k, v in block.items() if k != "cache_control"})
    return () if isinstance(part, Text) and not part.text else (part,)


def write_thinking(part: Thinking) -> Block:
    """Anthropic's block of reasoning."""
    if part.data is not None:
        return {"type": "redacted_thinking", "data": part.data}
    signature = part.signature or ""
    return {"type": "thinking", "thinking": part.text, "signature": signature}


def _text(block: Block, at: Place) -> Part:
    return Text(fields.require(block.get("text"), str, "text", (*at, "text")))


def _image_url(block: Block, at: Place) -> Part | None:
    """OpenAI: `{"image_url": {"url"}}`; in old files the value is the address itself."""
    holder, at = block.get("image_url"), (*at, "image_url")
    url = holder if isinstance(holder, str) else fields.text(holder, "url")
    if not url:
        raise Invalid("Expected the address of an image here.", at=at)
    if url.startswith("data:"):
        found = base64_text.split_data_uri(url)
        return Image(found[0], data=found[1]) if found else None
    return Image("image/*", url=url)


def _file(block: Block, _at: Place) -> Part | None:
    """OpenAI: `{"file": {"file_data", "filename"}}`; a block with only a `file_id` stays opaque."""
    holder = fields.mapping(block, "file")
    found = base64_text.split_data_uri(fields.text(holder, "file_data"))
    if not found:
        return None
    return File(found[0], fields.text(holder, "filename") or None, data=found[1])


def _input_image(block: Block, at: Place) -> Part | None:
    """OpenAI's Responses: the address itself; a block with only a `file_id` stays opaque."""
    return _image_url(block, at) if block.get("image_url") else None


def _input_file(block: Block, _at: Place) -> Part | None:
    """OpenAI's Responses: like `file` without the inner object, or by its address."""
    if url := fields.text(block, "file_url"):
        name = fields.text(block, "filename") or None
        return File("application/octet-stream", name, url=url)
    return _file({"file": block}, _at)


def _media(block: Block, _at: Place) -> Part | None:
    """Anthropic's image or document; None without readable bytes or an address."""
    source, is_image = fields.mapping(block, "source"), block["type"] == "image"
    media_type = fields.text(source, "media_type")
    data, url = None, None
    match source.get("type"):
        case "base64":
            data = base64_text.decode(source.get("data"))
        case "text" if isinstance(source.get("data"), str) and not is_image:
            media_type = "text/plain"
            data = source["data"].encode("utf-8", "surrogatepass")
        case "url":
            url = fields.text(source, "url") or None
    if data is None and url is None:
        return None
    if is_image:
        return Image(media_type or "image/*", data=data, url=url)
    name = fields.text(block, "title") or None
    members = {key: block[key] for key in _OF_DOCUMENTS if block.get(key)} or None
    return File(
        media_type or "application/pdf", name, data=data, url=url, members=members
    )


def _thinking(block: Block, at: Place) -> Part | None:
    """Anthropic's reasoning; Mistral's is a list of texts, opaque if it holds anything else."""
    given = block.get("thinking")
    if isinstance(given, list):
        said = (fields.mapping(piece).get("text") for piece in given)
        texts = [text for text in said if isinstance(text, str)]
        if len(texts) < len(given):
            return None
        given = "".join(texts)
    words = fields.require(given, str, "thinking", (*at, "thinking"))
    signature = fields.text(block, "signature") or None
    return Thinking(words, signature, signer="anthropic" if signature else None)


def _redacted_thinking(block: Block, at: Place) -> Part:
    data = fields.require(block.get("data"), str, "data", (*at, "data"))
    return Thinking("", data=data, signer="anthropic")


def _tool_use(block: Block, at: Place) -> Part:
    name = fields.require(block.get("name"), str, "the name of a tool", (*at, "name"))
    return ToolCall(fields.text(block, "id"), name, block.get("input", {}))


def _tool_result(block: Block, at: Place) -> Part:
    id_ = fields.require(block.get("tool_use_id"), str, "an id", (*at, "tool_use_id"))
    return read_result(block, id_, at)


def read_result(
    block: Block, call_id: str, at: Place, *, name: str | None = None
) -> ToolResult:
    """A tool's result, from the `content` and `is_error` of a block or a tool message."""
    parts = read_content(block.get("content"), (*at, "content"))
    for index, part in enumerate(parts):
        if not isinstance(part, RESULT_KINDS):
            raise Invalid(
                "A result can't hold a block of this type.",
                at=(*at, "content", index, "type"),
            )
    content = tuple(part for part in parts if isinstance(part, RESULT_KINDS))
    return ToolResult(call_id, content, name, block.get("is_error") is True)


_READERS: dict[str, Callable[[Block, Place], Part | None]] = {
    "text": _text,
    "input_text": _text,
    "output_text": _text,
    "image_url": _image_url,
    "input_image": _input_image,
    "file": _file,
    "input_file": _input_file,
    "image": _media,
    "document": _media,
    "thinking": _thinking,
    "redacted_thinking": _redacted_thinking,
    "tool_use": _tool_use,
    "tool_result": _tool_result,
}
