"""Blocks of content of Bedrock's Converse, each by itself.

The service model of `botocore` (`bedrock-runtime`: ContentBlock and what it holds). Bytes are
base64 in the JSON of a request. Names of documents:
https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_DocumentBlock.html
"""

from collections.abc import Iterator
from typing import Any

from .checks import is_base64, matches, members

IDS = "[a-zA-Z0-9_-]+"
NAME = "[a-zA-Z0-9_-]+"
KINDS = (
    *("text", "image", "document", "video", "audio", "toolUse", "toolResult"),
    *("guardContent", "cachePoint", "reasoningContent", "citationsContent"),
    "searchResult",
)
SAID_BY_USER = ("image", "document", "video", "audio", "toolResult", "searchResult")
SAID_BY_ASSISTANT = ("toolUse", "reasoningContent", "citationsContent")
IN_RESULTS = ("json", "text", "image", "document", "video", "searchResult")
FORMATS = {
    "image": ("png", "jpeg", "gif", "webp"),
    "document": ("pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"),
}


def blocks(content: Any, role: str, at: str) -> Iterator[str]:
    """What is wrong with the blocks of a message."""
    if not isinstance(content, list):
        yield f"{at}: expected an array."
        return
    for k, part in enumerate(content):
        here = f"{at}.{k}"
        kind = yield from _kind(part, KINDS, here)
        if kind is None:
            continue
        if kind in SAID_BY_USER and role != "user":
            yield f"{here}: {kind} blocks are only supported in messages of role user."
        if kind in SAID_BY_ASSISTANT and role != "assistant":
            yield f"{here}: {kind} blocks are only supported in messages of assistants."
        yield from _block(kind, part[kind], here)


def _kind(part: Any, kinds: tuple[str, ...], at: str) -> Any:
    """Returns the one member of a union, by `yield from`; None if there isn't exactly one."""
    if not isinstance(part, dict) or len(part) != 1:
        yield f"{at}: invalid number of parameters set for tagged union structure."
        return None
    kind = next(iter(part))
    if kind not in kinds:
        yield f"{at}: unknown parameter {kind!r} in a tagged union structure."
        return None
    return kind


def _block(kind: str, value: Any, at: str) -> Iterator[str]:
    if kind == "text":
        if not isinstance(value, str):
            yield f"{at}.text: expected a string."
        elif not value.strip():
            yield f"The text field in the ContentBlock object at {at} is blank."
    elif kind in FORMATS:
        yield from _media(kind, value, f"{at}.{kind}")
    elif kind == "toolUse":
        known = ("toolUseId", "name", "input")
        yield from members(value, (*known, "type"), f"{at}.toolUse", required=known)
        if isinstance(value, dict):
            yield from matches(value.get("toolUseId"), IDS, f"{at}.toolUseId", 64)
            yield from matches(value.get("name"), NAME, f"{at}.toolUse.name", 64)
            if not isinstance(value.get("input"), dict):
                yield f"{at}.toolUse.input: the value is not a JSON object."
    elif kind == "toolResult":
        yield from _result(value, f"{at}.toolResult")
    elif kind == "reasoningContent":
        yield from _reasoning(value, f"{at}.reasoningContent")


def _result(value: Any, at: str) -> Iterator[str]:
    known = ("toolUseId", "content", "status", "type")
    yield from members(value, known, at, required=("toolUseId", "content"))
    if not isinstance(value, dict):
        return
    yield from matches(value.get("toolUseId"), IDS, f"{at}.toolUseId", 64)
    if value.get("status", "success") not in ("success", "error"):
        yield f"{at}.status: member must satisfy enum value set: [success, error]."
    content = value.get("content")
    if not isinstance(content, list):
        yield f"{at}.content: expected an array."
        return
    for k, part in enumerate(content):
        here = f"{at}.content.{k}"
        kind = yield from _kind(part, IN_RESULTS, here)
        if kind == "json":
            if not isinstance(part["json"], dict):
                yield f"{here}.json: the value is not a JSON object."
        elif kind is not None:
            yield from _block(kind, part[kind], here)


def _reasoning(value: Any, at: str) -> Iterator[str]:
    kind = yield from _kind(value, ("reasoningText", "redactedContent"), at)
    if kind == "reasoningText":
        said = value[kind]
        yield from members(said, ("text", "signature"), at, required=("text",))
        if isinstance(said, dict) and not said.get("signature"):
            yield f"{at}.reasoningText.signature: Field required."
    elif kind == "redactedContent" and not is_base64(value[kind]):
        yield f"{at}.redactedContent: invalid base64."


def _media(kind: str, value: Any, at: str) -> Iterator[str]:
    needed = ("format", "source") if kind == "image" else ("name", "source")
    known = ("format", "source", "name", "context", "citations", "error")
    yield from members(value, known, at, required=needed)
    if not isinstance(value, dict):
        return
    if "format" in value and value["format"] not in FORMATS[kind]:
        expected = ", ".join(FORMATS[kind])
        yield f"{at}.format: member must satisfy enum value set: [{expected}]."
    if kind == "document":
        name = value.get("name")
        yield from matches(
            name, r"[a-zA-Z0-9()\[\]-]+(?: [a-zA-Z0-9()\[\]-]+)*", at, 200
        )
    source = value.get("source")
    sources = ("bytes", "s3Location", "text", "content")
    which = yield from _kind(source, sources, f"{at}.source")
    if which == "bytes" and not is_base64(source["bytes"]):
        yield f"{at}.source.bytes: invalid base64, minimum length 1."
