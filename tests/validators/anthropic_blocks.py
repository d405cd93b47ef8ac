"""Validates single content blocks of Anthropic's Messages API.

https://platform.claude.com/docs/en/api/messages and the types of the `anthropic` package
(`*_block_param`). "text content blocks must contain non-whitespace text":
https://github.com/home-assistant/core/issues/175637. "all content must be type `text` if `is_error`
is true": https://github.com/vellum-ai/vellum-assistant/pull/18387.
"""

from collections.abc import Iterator
from typing import Any

from .checks import IMAGES, is_base64, matches, members, text

IDS = "[a-zA-Z0-9_-]+"
NAME = "[a-zA-Z0-9_-]+"
SERVER_IDS = "srvtoolu_[a-zA-Z0-9_]+"
MEMBERS = {
    "text": ("text", "citations"),
    "image": ("source", "transformations"),
    "document": ("source", "citations", "context", "title"),
    "search_result": ("source", "title", "content", "citations"),
    "thinking": ("thinking", "signature"),
    "redacted_thinking": ("data",),
    "tool_use": ("id", "name", "input", "caller", "toolset_name"),
    "tool_result": ("tool_use_id", "content", "is_error", "toolset_name"),
    "server_tool_use": ("id", "name", "input", "caller"),
    "container_upload": ("file_id",),
    "tool_reference": ("tool_name",),
    "compaction": ("content",),
}
REQUIRED = {
    "text": ("text",),
    "image": ("source",),
    "document": ("source",),
    "search_result": ("source", "title", "content"),
    "thinking": ("thinking", "signature"),
    "redacted_thinking": ("data",),
    "tool_use": ("id", "name", "input"),
    "tool_result": ("tool_use_id",),
    "server_tool_use": ("id", "name", "input"),
    "compaction": ("content",),
}
SERVER_RESULTS = (
    *("web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result"),
    *("bash_code_execution_tool_result", "text_editor_code_execution_tool_result"),
    "tool_search_tool_result",
)
SAID_BY = {
    "user": (
        *("text", "image", "document", "search_result", "tool_result"),
        "container_upload",
    ),
    "assistant": (
        *("text", "thinking", "redacted_thinking", "tool_use", "server_tool_use"),
        *("compaction", *SERVER_RESULTS),
    ),
    "system": ("text",),
}
IN_RESULTS = ("text", "image", "document", "search_result", "tool_reference")
UNMARKED = ("thinking", "redacted_thinking")
"""Blocks that accept no `cache_control`."""


def is_blank(value: str) -> bool:
    """Whether a text is only whitespace."""
    return not value.strip()


def block(part: Any, at: str, role: str | None = None) -> Iterator[str]:
    """What is wrong with a block, including whether its role may use it."""
    kind = part.get("type") if isinstance(part, dict) else None
    if kind not in MEMBERS and kind not in SERVER_RESULTS:
        yield (
            f"{at}: input tag {kind!r} found using 'type' does not match any of the"
            " expected tags."
        )
        return
    if role is not None and kind not in SAID_BY[role]:
        yield f"{at}: `{kind}` blocks are not permitted in messages of role {role}."
    if kind in SERVER_RESULTS:
        yield from matches(
            part.get("tool_use_id"), SERVER_IDS, f"{at}.tool_use_id", 200
        )
        return
    marked = () if kind in UNMARKED else ("cache_control",)
    known = ("type", *MEMBERS[kind], *marked)
    yield from members(part, known, at, required=REQUIRED.get(kind, ()))
    yield from _CHECKS.get(kind, _nothing)(part, f"{at}.{kind}")


def _nothing(part: dict[str, Any], at: str) -> Iterator[str]:
    yield from ()


def _text(part: dict[str, Any], at: str) -> Iterator[str]:
    yield from text(part.get("text"), at, blank=False)


def _thinking(part: dict[str, Any], at: str) -> Iterator[str]:
    yield from text(part.get("thinking"), f"{at}.thinking")
    if not isinstance(part.get("signature"), str) or not part["signature"]:
        yield f"{at}.signature: Invalid `signature` in `thinking` block."


def _redacted(part: dict[str, Any], at: str) -> Iterator[str]:
    if not isinstance(part.get("data"), str) or not part["data"]:
        yield f"{at}.data: Invalid `data` in `redacted_thinking` block."


def _call(part: dict[str, Any], at: str) -> Iterator[str]:
    ids = SERVER_IDS if part["type"] == "server_tool_use" else IDS
    yield from matches(part.get("id"), ids, f"{at}.id", 1 << 20)
    yield from matches(part.get("name"), NAME, f"{at}.name", 200)
    if not isinstance(part.get("input"), dict):
        yield f"{at}.input: input should be a valid dictionary."


def _result(part: dict[str, Any], at: str) -> Iterator[str]:
    yield from matches(part.get("tool_use_id"), IDS, f"{at}.tool_use_id", 1 << 20)
    if not isinstance(part.get("is_error", False), bool):
        yield f"{at}.is_error: input should be a valid boolean."
    content = part.get("content", "")
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        yield f"{at}.content: input should be a valid list."
        return
    for k, item in enumerate(content):
        here = f"{at}.content.{k}"
        kind = item.get("type") if isinstance(item, dict) else None
        if kind not in IN_RESULTS:
            yield f"{here}: input tag {kind!r} does not match any of the expected tags."
            continue
        yield from block(item, here)
        if part.get("is_error") and kind != "text":
            yield f"{here}: all content must be type text if `is_error` is true."


def _image(part: dict[str, Any], at: str) -> Iterator[str]:
    source = part.get("source")
    kind = source.get("type") if isinstance(source, dict) else None
    if kind == "base64":
        yield from _encoded(source, at, IMAGES)
    else:
        yield from _elsewhere(source, at)


def _document(part: dict[str, Any], at: str) -> Iterator[str]:
    source = part.get("source")
    kind = source.get("type") if isinstance(source, dict) else None
    if kind == "base64":
        yield from _encoded(source, at, ("application/pdf",))
    elif kind == "text":
        known = ("type", "media_type", "data")
        yield from members(source, known, f"{at}.source", required=known)
        yield from text(source.get("data"), f"{at}.source.data", blank=False)
        if source.get("media_type") != "text/plain":
            yield f"{at}.source.media_type: input should be 'text/plain'."
    elif kind == "content":
        yield from members(source, ("type", "content"), f"{at}.source")
    else:
        yield from _elsewhere(source, at)


def _encoded(source: Any, at: str, media_types: tuple[str, ...]) -> Iterator[str]:
    known = ("type", "media_type", "data")
    yield from members(source, known, f"{at}.source", required=known)
    if source.get("media_type") not in media_types:
        expected = ", ".join(media_types)
        yield f"{at}.source.base64.media_type: input should be one of {expected}."
    if not is_base64(source.get("data")):
        yield f"{at}.source.base64.data: invalid base64 data."


def _elsewhere(source: Any, at: str) -> Iterator[str]:
    kind = source.get("type") if isinstance(source, dict) else None
    if kind == "url":
        yield from members(source, ("type", "url"), f"{at}.source", required=("url",))
        if not str(source.get("url")).startswith(("http://", "https://")):
            yield f"{at}.source.url: only HTTPS URLs are supported."
    elif kind == "file":
        yield from members(source, ("type", "file_id"), f"{at}.source")
    else:
        yield f"{at}.source: input tag {kind!r} does not match any of the expected tags."


_CHECKS = {
    "text": _text,
    "thinking": _thinking,
    "redacted_thinking": _redacted,
    "tool_use": _call,
    "server_tool_use": _call,
    "tool_result": _result,
    "image": _image,
    "document": _document,
}
