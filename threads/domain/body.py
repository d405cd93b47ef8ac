"""The body of a message: its parts as bytes, and the digests that identify it."""

import hashlib
import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from . import canonical
from .message import Role
from .part import File, Image, Opaque, Part, Text, Thinking, ToolCall, ToolResult


def encode_part(part: Part) -> dict[str, Any]:
    """The stored and public JSON of a part: `{"type": kind, …}` without empty members."""
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Thinking():
            return _encode_thinking(part)
        case ToolCall(id_, name, arguments, text, namespace):
            form = {"id": id_, "name": name, "arguments": arguments}
            beside = _without_none(text=text, namespace=namespace)
            return {"type": "tool_call", **form, **beside}
        case ToolResult(call_id, content, name, is_error):
            return _without_none(
                type="tool_result",
                call_id=call_id,
                content=[encode_part(item) for item in content],
                name=name,
                is_error=is_error or None,
            )
        case Image(media_type, sha256, url):
            return _without_none(
                type="image", media_type=media_type, sha256=sha256, url=url
            )
        case File(media_type, name, sha256, url):
            return _without_none(
                type="file",
                media_type=media_type,
                name=name,
                sha256=sha256,
                url=url,
                members=part.members,
            )
        case Opaque(type_, data):
            return {"type": "opaque", "kind": type_, "data": data}


def decode_part(data: dict[str, Any]) -> Part:
    """The part that `encode_part` wrote. Raises KeyError or ValueError on anything else."""
    match data["type"]:
        case "text":
            return Text(data["text"])
        case "thinking":
            return Thinking(
                data["text"],
                data.get("signature"),
                data.get("data"),
                data.get("signer"),
            )
        case "tool_call":
            return ToolCall(
                data["id"],
                data["name"],
                data["arguments"],
                data.get("text"),
                data.get("namespace"),
            )
        case "tool_result":
            content = tuple(decode_part(item) for item in data["content"])
            return ToolResult(
                data["call_id"],
                content,  # type: ignore[arg-type]  # written from a ToolResult
                data.get("name"),
                data.get("is_error", False),
            )
        case "image":
            return Image(data["media_type"], data.get("sha256"), data.get("url"))
        case "file":
            return File(
                data["media_type"],
                data.get("name"),
                data.get("sha256"),
                data.get("url"),
                members=data.get("members"),
            )
        case "opaque":
            return Opaque(data["kind"], data["data"])
    raise ValueError(f"unknown part type {data['type']!r}")


def encode_parts(parts: Iterable[Part]) -> bytes:
    """The JSON of a message's parts, as a body stores it.

    This is canonical JSON with two exceptions: the members of arguments and of other providers'
    blocks keep their order, and the original text of arguments is stored beside them. It is
    UTF-8 in which lone surrogates pass (transcripts contain them, and a database's own JSON type
    would refuse them).
    """
    listed = tuple(parts)
    return _encode(listed, is_sorted=False, use_orjson=_suit_orjson(listed))


def canonical_parts(parts: Iterable[Part]) -> bytes:
    """The canonical JSON of a message's parts: their meaning, however it was written."""
    listed = tuple(parts)
    return _encode(listed, is_sorted=True, use_orjson=_suit_orjson(listed))


def decode_parts(content: bytes) -> tuple[Part, ...]:
    """The parts that `encode_parts` wrote."""
    return tuple(
        decode_part(item)
        for item in json.loads(content.decode("utf-8", "surrogatepass"))
    )


def digest(role: Role, parts: Iterable[Part]) -> bytes:
    """SHA-256 over the canonical JSON of role and parts: 32 bytes.

    Content given as a string has the digest of one text part, because parsers make it one.
    Images count by the hash of their bytes, so they must be stored (or hashed) first.
    """
    return digest_of(role, canonical_parts(parts))


def body_digest(role: Role, parts: Iterable[Part]) -> bytes:
    """The digest of the stored form of the parts; equals `digest` if that form is canonical."""
    return digest_of(role, encode_parts(parts))


def digest_of(role: Role, content: bytes) -> bytes:
    """The digest of a role and parts that are already encoded."""
    hashed = _HASH_PREFIXES[role].copy()  # faster than a new hash
    hashed.update(content)
    hashed.update(b"}")
    return hashed.digest()


class EncodedMessage(NamedTuple):
    """A message as it is stored."""

    content: bytes
    body_digest: bytes
    digest: bytes | None
    """The digest of the canonical form; None if it equals `body_digest`, as it usually does."""


def encode_message(role: Role, parts: tuple[Part, ...]) -> EncodedMessage:
    """A message's body and its digests."""
    use_orjson = _suit_orjson(parts)
    content = _encode(parts, is_sorted=False, use_orjson=use_orjson)
    own, said = digest_of(role, content), None
    for part in parts:
        if type(part) is not Text and not _is_canonical(part):
            said = digest_of(
                role, _encode(parts, is_sorted=True, use_orjson=use_orjson)
            )
            break
    return EncodedMessage(content, own, said)


def tombstone_of(digest: bytes) -> bytes:
    """The digest that a purged message keeps, by which it is recognised.

    It is not the digest of any content, so a new message that says the same is not given the
    empty body.
    """
    return hashlib.sha256(b"purged " + digest).digest()


def _encode_thinking(part: Thinking) -> dict[str, Any]:
    encoded = {"type": "thinking", "text": part.text}
    if part.signature is not None:
        encoded["signature"] = part.signature
    if part.data is not None:
        encoded["data"] = part.data
    if part.signer is not None:
        encoded["signer"] = part.signer
    return encoded


def _encode(parts: tuple[Part, ...], *, is_sorted: bool, use_orjson: bool) -> bytes:
    forms = [
        # Most parts are texts, and a call for each would cost as much as encoding a short one.
        {"text": part.text, "type": "text"}
        if type(part) is Text
        else _form(part, is_canonical=is_sorted)
        for part in parts
    ]
    if use_orjson:
        try:
            return canonical.encode_quickly(forms, is_sorted=is_sorted)
        except TypeError:
            pass
    return canonical.encode_slowly(forms, is_sorted=is_sorted)


def _form(part: Part, *, is_canonical: bool) -> dict[str, Any]:
    """What `encode_part` returns, with the part's own members sorted.

    The canonical form leaves out how arguments were written, who signed, and what belongs to a
    provider's form alone.
    """
    if isinstance(part, ToolCall):
        form = {"arguments": part.arguments, "id": part.id, "name": part.name}
        if part.namespace is not None and not is_canonical:
            form["namespace"] = part.namespace
        if part.text is not None and not is_canonical:
            form["text"] = part.text
        form["type"] = "tool_call"
        return form
    if isinstance(part, ToolResult):
        content = [
            {"text": item.text, "type": "text"}
            if type(item) is Text
            else _form(item, is_canonical=is_canonical)
            for item in part.content
        ]
        form = {"call_id": part.call_id, "content": content}
        if part.is_error:
            form["is_error"] = True
        if part.name is not None:
            form["name"] = part.name
        form["type"] = "tool_result"
        return form
    if isinstance(part, Thinking):
        return _form_of_thinking(part, is_canonical=is_canonical)
    form = encode_part(part)
    if is_canonical and isinstance(part, File):
        form.pop("members", None)
    return {name: form[name] for name in sorted(form)}


def _form_of_thinking(part: Thinking, *, is_canonical: bool) -> dict[str, Any]:
    form = {}
    if part.data is not None:
        form["data"] = part.data
    if part.signature is not None:
        form["signature"] = part.signature
    if part.signer is not None and not is_canonical:
        form["signer"] = part.signer
    form["text"] = part.text
    form["type"] = "thinking"
    return form


def _suit_orjson(parts: tuple[Part, ...]) -> bool:
    """Whether orjson and the standard library write the parts alike, lone surrogates aside."""
    for part in parts:  # noqa: SIM110  # a generator takes twice as long
        if type(part) is not Text and not _suits_orjson(part):
            return False
    return True


def _suits_orjson(part: Part) -> bool:
    if isinstance(part, ToolCall):
        return type(part.arguments) is str or canonical.suits_orjson(part.arguments)
    if isinstance(part, ToolResult):
        return _suit_orjson(part.content)
    if isinstance(part, File):
        return canonical.suits_orjson(part.members)
    return not isinstance(part, Opaque) or canonical.suits_orjson(part.data)


def _is_canonical(part: Part) -> bool:
    """Whether a part is stored as canonical JSON."""
    if isinstance(part, ToolCall):
        is_bare = part.text is None and part.namespace is None
        return is_bare and not _is_unsorted(part.arguments)
    if isinstance(part, ToolResult):
        for item in part.content:
            if type(item) is not Text and not _is_canonical(item):
                return False
        return True
    if isinstance(part, Thinking):
        return part.signer is None
    if isinstance(part, File):
        return part.members is None
    return not isinstance(part, Opaque) or not _is_unsorted(part.data)


def _is_unsorted(value: Any) -> bool:
    """Whether the members of any object are in an order other than the canonical one."""
    kind = type(value)
    if kind is dict:
        names = list(value)
        if len(names) > 1 and names != sorted(names):
            return True
        value = value.values()
    elif kind is not list:
        return False
    for item in value:  # noqa: SIM110  # as above
        if type(item) is not str and _is_unsorted(item):
            return True
    return False


_HASH_PREFIXES = {
    role: hashlib.sha256(f'{{"role":"{role}","parts":'.encode()) for role in Role
}


def _without_none(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}
