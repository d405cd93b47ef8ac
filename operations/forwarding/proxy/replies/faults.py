"""Extracts a provider's error message, which the list of requests shows."""

from collections.abc import Iterable
from typing import Any

from threads.domain.formats.io.streams.stream import parse

_MARK = b'"error"'
_HIDDEN = "***"


def fault_in(body: bytes, secrets: Iterable[str] = ()) -> str:
    """The message of the error in a body or an event; empty if there is none.

    Providers repeat parts of the request, so the `secrets` in it are hidden.
    """
    if _MARK not in body:
        return ""
    sentence = _sentence(parse(body)).strip()
    for secret in secrets:
        sentence = sentence.replace(secret, _HIDDEN)
    return sentence


def _sentence(value: Any) -> str:
    if isinstance(value, list):  # a list of responses, as in Gemini's streams
        return next(filter(None, map(_sentence, value)), "")
    if not isinstance(value, dict):
        return ""
    error = value.get("error")
    if isinstance(error, str):
        return error
    if isinstance(error, dict):
        told = (error.get(name) for name in ("message", "type", "status", "code"))
        return next((one for one in told if one and isinstance(one, str)), "")
    if value.get("type") == "error" and isinstance(value.get("message"), str):
        return str(value["message"])
    response = value.get("response")  # a failed one, of the Responses API
    return _sentence(response) if isinstance(response, dict) else ""
