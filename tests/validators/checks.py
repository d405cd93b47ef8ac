"""Checks for any request: JSON that can be sent, names, images, members.

Every check yields sentences that begin with the place, in the words of the provider's own refusal
if these are known.
"""

import base64
import binascii
import json
import re
from collections.abc import Callable, Collection, Iterator
from functools import wraps
from typing import Any

DATA_URI = re.compile(r"data:([\w.+/-]+);base64,(.*)", re.DOTALL)
WEB = re.compile(r"https?://\S+")
IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
IDENTIFIER = re.compile(r"[a-zA-Z0-9_-]+")


def named(words: str) -> frozenset[str]:
    """The names in a text."""
    return frozenset(words.split())


def validator(
    problems: Callable[[dict[str, Any]], Iterator[str]],
) -> Callable[[Any], list[str]]:
    """Wrap a provider's checks: first the request as JSON, then what the provider finds."""

    @wraps(problems)
    def validate(request: Any) -> list[str]:
        found = list(body(request))
        return [*found, *problems(request)] if isinstance(request, dict) else found

    return validate


def body(request: Any) -> Iterator[str]:
    """Check that a request can be sent at all: an object whose JSON is UTF-8 and has no NaN.

    A lone surrogate is refused by every provider's JSON parser:
    https://github.com/anthropics/claude-code/issues/2108
    """
    if not isinstance(request, dict):
        yield "The request body is not a JSON object."
        return
    try:
        json.dumps(request, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        yield "The request body is not valid JSON: no low surrogate in string."
    except (TypeError, ValueError) as error:
        yield f"The request body is not valid JSON: {error}."


def members(
    value: Any, allowed: Collection[str], at: str, required: Collection[str] = ()
) -> Iterator[str]:
    """Check that a value is an object with all required members, and nothing unknown."""
    if not isinstance(value, dict):
        yield f"{at}: expected an object."
        return
    for name in value:
        if name not in allowed:
            yield f"{at}.{name}: unknown member, extra inputs are not permitted."
    for name in required:
        if name not in value:
            yield f"{at}.{name}: field required."


def filled(value: Any, at: str) -> Iterator[str]:
    """Check that a value is a non-empty list."""
    if not isinstance(value, list):
        yield f"{at}: expected an array."
    elif not value:
        yield f"{at}: empty array. Expected an array with minimum length 1."


def text(value: Any, at: str, *, blank: bool = True) -> Iterator[str]:
    """Check that a value is a string and, unless `blank`, more than whitespace."""
    if not isinstance(value, str):
        yield f"{at}: expected a string."
    elif not blank and not value.strip():
        yield f"{at}: text content blocks must be non-empty."


def matches(value: Any, pattern: str, at: str, limit: int) -> Iterator[str]:
    """Check that a value is a string that matches a pattern, no longer than a limit."""
    if not isinstance(value, str):
        yield f"{at}: expected a string."
    elif not re.fullmatch(pattern, value):
        yield f"{at}: string should match pattern '^{pattern}$'."
    elif len(value) > limit:
        yield f"{at}: string too long. Expected a string with maximum length {limit}."


def is_base64(value: Any, *, url_safe: bool = False) -> bool:
    """Whether a value is base64 of at least one byte."""
    if not isinstance(value, str) or not value:
        return False
    if url_safe:
        value = value.translate(str.maketrans("-_", "+/"))
        value += "=" * (-len(value) % 4)
    try:
        base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def address(value: Any, at: str, media_types: Collection[str] | None) -> Iterator[str]:
    """Check that a value is a web address, or a `data:` URI of an accepted media type."""
    if not isinstance(value, str):
        yield f"{at}: expected a string."
        return
    data = DATA_URI.fullmatch(value)
    if data is None:
        if not WEB.fullmatch(value):
            yield f"{at}: invalid image URL, expected http, https or base64 data."
    elif not is_base64(data[2]):
        yield f"{at}: the base64 data is not valid."
    elif media_types is not None and data[1] not in media_types:
        yield f"{at}: unsupported image {data[1]}, expected one of {', '.join(media_types)}."


def positive(value: Any, at: str) -> Iterator[str]:
    """Check that a value is an integer of at least 1."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        yield f"{at}: expected an integer of at least 1."
