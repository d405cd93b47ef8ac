"""Validates single parts of Gemini's contents.

https://ai.google.dev/api/caching#Part: exactly one of the members that hold data. Empty text
doesn't count (https://github.com/router-for-me/CLIProxyAPI/issues/1292) unless it carries a
signature (https://ai.google.dev/gemini-api/docs/thought-signatures). Images:
https://ai.google.dev/gemini-api/docs/image-understanding#supported-formats
(https://github.com/microsoft/vscode/issues/286628 on GIF).
"""

import re
from collections.abc import Iterator
from typing import Any

from .checks import is_base64, matches, members

NAME = "[a-zA-Z_][a-zA-Z0-9_.:-]*"
DATA = (
    *("text", "inlineData", "fileData", "functionCall", "functionResponse"),
    *("executableCode", "codeExecutionResult", "toolCall", "toolResponse"),
)
BESIDE = (
    *("thought", "thoughtSignature", "videoMetadata", "mediaResolution"),
    "partMetadata",
)
IMAGES = ("image/png", "image/jpeg", "image/webp", "image/heic", "image/heif")
OTHERS = re.compile(
    r"audio/\S+|video/\S+|application/pdf|text/(?:plain|html|css|csv|xml|rtf|markdown"
    r"|md|javascript)|application/(?:json|rtf|x-javascript|x-typescript|x-python-code)"
)


def camel(form: Any) -> Any:
    """An object with its own member names in camel case; nested values are unchanged."""
    if not isinstance(form, dict):
        return form
    return {
        re.sub("_([a-z])", lambda found: found[1].upper(), str(name)): value
        for name, value in form.items()
    }


def kind_of(part: dict[str, Any]) -> str | None:
    """The member of a part that holds its data."""
    return next((name for name in DATA if name in part), None)


def part_problems(given: Any, at: str, role: str) -> Iterator[str]:
    """What is wrong with a part."""
    if not isinstance(given, dict):
        yield f"{at}: expected an object."
        return
    part = camel(given)
    yield from members(part, (*DATA, *BESIDE), at)
    held = [name for name in DATA if name in part]
    if len(held) != 1:
        yield (
            f"GenerateContentRequest.{at}.data: required oneof field 'data' must have one"
            " initialized field."
        )
        return
    if "thoughtSignature" in part and not is_base64(
        part["thoughtSignature"], url_safe=True
    ):
        yield f"{at}.thought_signature: Base64 decoding failed."
    if held[0] == "text":
        yield from _text(part, at)
    else:
        yield from _data(held[0], part[held[0]], at, role)


def _text(part: dict[str, Any], at: str) -> Iterator[str]:
    """Check a text part; it may be empty if it only carries a signature, as models send it."""
    if not isinstance(part["text"], str):
        yield f"{at}.text: expected a string."
    elif not part["text"] and "thoughtSignature" not in part:
        yield f"{at}: Unable to submit request because it has an empty text parameter."


def _data(kind: str, value: Any, at: str, role: str) -> Iterator[str]:
    if kind == "inlineData":
        yield from _inline(camel(value), f"{at}.inline_data")
    elif kind == "fileData":
        known = ("mimeType", "fileUri", "displayName")
        file = camel(value)
        yield from members(file, known, f"{at}.file_data", required=("fileUri",))
        if isinstance(file, dict) and not file.get("fileUri"):
            yield f"{at}.file_data.file_uri: must not be empty."
    elif kind in _FUNCTIONS:
        yield from _function(kind, value, at, role)


def _function(kind: str, value: Any, at: str, role: str) -> Iterator[str]:
    said_by, holds, others = _FUNCTIONS[kind]
    if role != said_by:
        yield f"{at}: {kind} parts are only of role {said_by}."
    yield from members(value, ("id", "name", holds, *others), at, required=("name",))
    if not isinstance(value, dict):
        return
    yield from matches(value.get("name"), NAME, f"{at}.name", 128)
    if not isinstance(value.get(holds, {} if holds == "args" else None), dict):
        yield f"{at}.{kind}.{holds}: expected an object."


def _inline(blob: Any, at: str) -> Iterator[str]:
    known = ("mimeType", "data", "displayName")
    yield from members(blob, known, at, required=("mimeType", "data"))
    if not isinstance(blob, dict):
        return
    media_type = str(blob.get("mimeType"))
    if media_type not in IMAGES and not OTHERS.fullmatch(media_type):
        yield f"{at}.mime_type: Unsupported MIME type: {media_type}."
    if not is_base64(blob.get("data")):
        yield f"{at}.data: Base64 decoding failed."


_FUNCTIONS = {
    "functionCall": ("model", "args", ()),
    "functionResponse": ("user", "response", ("parts", "willContinue", "scheduling")),
}
