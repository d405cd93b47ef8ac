"""Refusals in the form of each provider: our problem document with their `error`."""

from collections.abc import Mapping
from typing import Any

from contextstudio.accounts.domain.errors import DomainError, problem
from contextstudio.accounts.responses import dump
from operations.forwarding.upstreams.services import WireProvider

from .replies import MAX_BYTES
from .replies.unpacking import UNREADABLE, unpacking

_HIDDEN = b"***"
_BEHIND = 1 << 31
"""A sequence number after all others, because nobody knows how many events came."""
_ANTHROPIC: Mapping[int, str] = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
}
_GEMINI: Mapping[int, str] = {
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


def refusal_body(provider: WireProvider, error: DomainError) -> bytes:
    """A problem document (RFC 9457) that a provider's SDK understands too."""
    return dump(problem(error) | {"error": _error(provider, error)})


def _error(provider: WireProvider, error: DomainError) -> dict[str, Any]:
    status = error.status
    match provider:
        case WireProvider.ANTHROPIC:
            usual = "invalid_request_error" if status < 500 else "api_error"
            kind = _ANTHROPIC.get(status, usual)
            details = {"error_code": error.code}
            return {"type": kind, "message": error.message, "details": details}
        case WireProvider.GEMINI:
            usual = "INVALID_ARGUMENT" if status < 500 else "INTERNAL"
            word = _GEMINI.get(status, usual)
            return {"code": status, "message": error.message, "status": word}
    kind = "invalid_request_error" if status < 500 else "server_error"
    return {"message": error.message, "type": kind, "param": None, "code": error.code}


def error_event(provider: WireProvider, form: str, sentence: str) -> bytes:
    """The last event of a stream that broke off; what precedes it may be half an event."""
    failed = DomainError(sentence, code="upstream_broke_off")
    failed.status = 502  # type: ignore[misc]  # as if nothing had come yet
    error = _error(provider, failed)
    name = b"event: error\n"
    event: dict[str, Any] = {"type": "error", "error": error}
    if form == "openai-responses":
        # Some clients read the members of the event, others the error in it.
        event = {**error, **event, "sequence_number": _BEHIND}
    elif provider is not WireProvider.ANTHROPIC:
        name, event = b"", {"error": error}
    return b"\n\n" + name + b"data: " + dump(event) + b"\n\n"


def unpacked_error(body: bytes, encoding: str) -> bytes:
    """A provider's error uncompressed, if possible."""
    unpack = unpacking(encoding, MAX_BYTES)
    try:
        return unpack(body) if unpack else body
    except UNREADABLE:
        return body


def without_secret(plain: bytes, secret: bytes) -> bytes | None:
    """A provider's error with a secret removed; None if it doesn't contain the secret."""
    return plain.replace(secret, _HIDDEN) if secret in plain else None
