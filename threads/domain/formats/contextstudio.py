"""ContextStudio's own format: one JSON document that loses nothing of the messages.

`{"format": "contextstudio", "version": 1, "title", "external_id", "strategy", "model",
"messages": [...]}`, one message per line: `role`, `parts` as `threads.domain.body` encodes
them (keys in their original order, images and files with their bytes in base64), and, if
known, `name`, `model`, `source_id`, `created_at`, `usage`, `partial`.

`contextstudio-session` also holds the operations and the archive beside the messages:
`archive.transfer` writes it, and reads these in addition to what is read here.
"""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from typing import Any

from contextstudio.accounts.domain.errors import Invalid, Place
from threads.domain.body import encode_part
from threads.domain.message import Message, Role, Usage
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

from . import blocks
from .arguments import parsed, says_only
from .format import Format, Heading, Writer
from .io import base64_text, fields, json_text
from .kit.chats import chat
from .kit.chats.chat_items import ChatDialect
from .sample import Sample

NAME = "contextstudio"
SESSION = "contextstudio-session"
VERSION = 1
ROLES = {role.value: role for role in Role}


def write(messages: Iterable[Message], heading: Heading) -> Iterator[bytes]:
    """The document, one message at a time."""
    head = {
        "format": NAME,
        "version": VERSION,
        "title": heading.title,
        "external_id": heading.external_id,
        "strategy": heading.strategy,
        "model": heading.model,
    }
    forms = (write_message(message, heading) for message in messages)
    yield from json_text.dump_list(head, "messages", forms)


def write_message(message: Message, heading: Heading) -> dict[str, Any]:
    """One message with everything known about it except the place it was read from."""
    form = {
        "role": str(message.role),
        "parts": [write_part(part, heading) for part in message.parts],
        "name": message.name,
        "model": message.model,
        "source_id": message.source_id,
        "created_at": message.created_at.isoformat() if message.created_at else None,
        "usage": asdict(message.usage) if message.usage else None,
        "partial": message.partial or None,
    }
    return {name: value for name, value in form.items() if value is not None}


def write_part(part: Part, heading: Heading) -> dict[str, Any]:
    """One part; images and files include their bytes."""
    form = encode_part(part)
    if isinstance(part, ToolResult):
        form["content"] = [write_part(item, heading) for item in part.content]
    if isinstance(part, Image | File) and (data := heading.data(part)) is not None:
        form["data"] = base64_text.encode(data)
    return form


def read_message(
    message: JSON, *, at: Place = (), records: tuple[str, ...] = ()
) -> Message:
    """One message that `write_message` wrote. Raises Invalid with the place."""
    fields.require(message, dict, "a message", at)
    role = blocks.read_role(message, ROLES, at)
    found, inside = message.get("parts"), (*at, "parts")
    parts = fields.require(found, list, "a list of parts", inside)
    usage = message.get("usage")
    return Message(
        role=role,
        parts=tuple(read_part(part, (*inside, i)) for i, part in enumerate(parts)),
        name=fields.text(message, "name") or None,
        model=fields.word(message, "model") or None,
        source_id=fields.word(message, "source_id") or None,
        created_at=fields.moment(message.get("created_at")),
        usage=Usage(**{name: fields.count(usage, name) for name in asdict(Usage())})
        if isinstance(usage, dict)
        else None,
        partial=message.get("partial") is True,
        records=records,
    )


def read_part(part: JSON, at: Place) -> Part:
    """The part that `write_message` wrote. Raises Invalid with the place."""
    fields.require(part, dict, "a part", at)

    def member(name: str) -> str:
        value: str = fields.require(part.get(name), str, f"the {name}", (*at, name))
        return value

    def option(name: str) -> str | None:
        return None if part.get(name) is None else member(name)

    match part.get("type"):
        case "text":
            return Text(member("text"))
        case "thinking":
            signed = option("signature"), option("data")
            return Thinking(member("text"), *signed, option("signer"))
        case "tool_call":
            call = _call(part, member("id"), member("name"))
            return replace(call, namespace=option("namespace"))
        case "tool_result":
            return _result(part, member("call_id"), option("name"), (*at, "content"))
        case "image":
            return Image(member("media_type"), None, option("url"), _data(part, at))
        case "file":
            name, url = option("name"), option("url")
            members = fields.mapping(part, "members") or None
            return File(member("media_type"), name, None, url, _data(part, at), members)
        case "opaque":
            return Opaque(member("kind"), part.get("data"))
    raise Invalid("There is no such type of part.", at=(*at, "type"))


def _call(part: dict[str, Any], id_: str, name: str) -> ToolCall:
    """A call; a text that does not say exactly what the arguments say is dropped."""
    arguments, text = part.get("arguments"), part.get("text")
    if (
        isinstance(text, str)
        and parsed(text) == arguments
        and says_only(text, arguments)
    ):
        return ToolCall(id_, name, arguments, text)
    return ToolCall(id_, name, arguments)


def _result(
    part: dict[str, Any], call_id: str, name: str | None, at: Place
) -> ToolResult:
    items = fields.require(part.get("content"), list, "a list of parts", at)
    content = tuple(read_part(item, (*at, i)) for i, item in enumerate(items))
    if not all(isinstance(item, blocks.RESULT_KINDS) for item in content):
        raise Invalid("A result can't hold a part of this type.", at=at)
    is_error = part.get("is_error") is True
    return ToolResult(call_id, content, name, is_error)  # type: ignore[arg-type]  # as checked


def _data(part: dict[str, Any], at: Place) -> bytes | None:
    """The bytes of an image or a file; None if it has only an address. Raises Invalid otherwise."""
    if part.get("data") is None and part.get("url") is not None:
        return None
    data = base64_text.decode(part.get("data"))
    if data is None:
        raise Invalid("Expected bytes in base64 here.", at=(*at, "data"))
    return data


def _score(sample: Sample) -> float:
    return 1.0 if sample.object.get("format") == NAME else 0


def _dialect(name: str) -> ChatDialect:
    return ChatDialect(
        name, read_message, read_reply=lambda _response: None, strategy=""
    )


def _score_session(sample: Sample) -> float:
    return 1.0 if sample.object.get("format") == SESSION else 0


DIALECT = _dialect(NAME)
SESSION_DIALECT = _dialect(SESSION)
FORMAT = Format(
    name=NAME,
    label="a ContextStudio export",
    score=_score,
    read=lambda file, _name: chat.read(file, DIALECT),
)
WRITER = Writer("ContextStudio JSON", "json", "application/json", write)
SESSION_FORMAT = Format(
    name=SESSION,
    label="a ContextStudio session with its operations and archive",
    score=_score_session,
    read=lambda file, _name: chat.read(file, SESSION_DIALECT),
)
FORMATS = (FORMAT, SESSION_FORMAT)
WRITERS = {NAME: WRITER}
