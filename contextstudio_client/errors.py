"""Everything that can go wrong between a program and a server, as exceptions.

All of them are `StudioError`s: `NotSent` if nothing could be sent, `Unreachable` if there was no
answer, `Unexpected` if the answer is not one of ContextStudio's, and `Refused`, with a subclass for
each kind of refusal.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, ClassVar

import httpx

Place = tuple[str | int, ...]
"""A place in a request, such as `("messages", 3, "role")`."""


class StudioError(Exception):
    """The base class: ContextStudio couldn't be reached, or did not do what was asked."""


class NotSent(StudioError, ValueError):
    """Nothing was sent: the arguments make no valid request, or the client is closed."""


class Unwritable(NotSent):
    """Nothing was sent: the value can't be encoded as JSON, such as NaN."""


class Unreachable(StudioError):
    """No answer: no connection, a broken one, or a timeout. The cause is httpx's exception."""


class Unexpected(StudioError):
    """An answer that doesn't have the form that ContextStudio's API promises."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One of several faults in a refusal."""

    code: str
    detail: str
    at: Place
    body: dict[str, Any]
    """All of its members; what a provider would refuse has `keys` as well."""


class Refused(StudioError):
    """The server refused the request (RFC 9457), or a proxy before it returned an HTTP error.

    `code` is for programs and never changes, `detail` is one sentence, `at` the place in the
    request, `faults` lists every fault with its place, `body` is the whole problem document, and
    `retry_after` the number of seconds after which a retry may succeed, if the server tells.
    """

    statuses: ClassVar[tuple[int, ...]] = ()

    def __init__(
        self, status: int, body: dict[str, Any], retry_after: float | None
    ) -> None:
        self.status = status
        self.body = body
        self.code = str(body.get("code") or f"http_{status}")
        self.detail = str(body.get("detail") or f"The answer was HTTP {status}.")
        self.at = _place(body.get("at"))
        self.faults = _faults(body.get("errors"))
        self.retry_after = retry_after
        where = f" (at {'.'.join(map(str, self.at))})" if self.at else ""
        super().__init__(f"{self.detail}{where} [{status} {self.code}]")

    def __reduce__(self) -> tuple[Any, ...]:
        """Support pickling, as used by process pools and task queues."""
        return type(self), (self.status, self.body, self.retry_after)


class Unauthenticated(Refused):
    """No key, or one that is wrong, revoked or expired."""

    statuses = (401,)


class Forbidden(Refused):
    """The key may see the object, but not do this."""

    statuses = (403,)


class NotFound(Refused):
    """The object doesn't exist, or the key may not see it."""

    statuses = (404,)


class Conflict(Refused):
    """The request conflicts with what is recorded.

    `operations` are the keys of the conflicting operations, `needs` is the smallest set that would
    work (`keys`, and `first` and `last` if it is one range), and `head` is the last entry of the
    log if another was expected. Each is empty or None for other conflicts.
    """

    statuses = (409, 412)

    @property
    def operations(self) -> list[str]:
        """The keys of the conflicting operations."""
        return list(self.body.get("operations") or ())

    @property
    def needs(self) -> dict[str, Any]:
        """The smallest set of messages for which the operation would work."""
        return dict(self.body.get("needs") or {})

    @property
    def head(self) -> int | None:
        """The number of the last entry of the log."""
        head = self.body.get("head")
        return head if isinstance(head, int) else None


class Invalid(Refused):
    """The request is malformed, or its result would be refused by the provider."""

    statuses = (400, 413, 422)


class TooMany(Refused):
    """The key has sent too many requests."""

    statuses = (429,)


class Unavailable(Refused):
    """The server, or a proxy before it, can't answer now."""

    statuses = (502, 503, 504)


_KINDS = {
    status: kind
    for kind in (
        Unauthenticated,
        Forbidden,
        NotFound,
        Conflict,
        Invalid,
        TooMany,
        Unavailable,
    )
    for status in kind.statuses
}


def refusal(response: httpx.Response) -> Refused:
    """The exception for an unsuccessful response."""
    try:
        body = json.loads(response.content)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        text = response.text.strip().partition("\n")[0][:200]
        said = f"HTTP {response.status_code}"
        body = {"detail": f"{said}: {text}" if text else f"The answer was {said}."}
    kind = _KINDS.get(response.status_code, Refused)
    return kind(response.status_code, body, _retry_after(response))


def _retry_after(response: httpx.Response) -> float | None:
    """The seconds that `Retry-After` asks for, as a number or as a date."""
    header = response.headers.get("Retry-After", "").strip()
    if header.isdecimal():
        return float(header)
    try:
        moment = parsedate_to_datetime(header)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _place(value: Any) -> Place:
    return tuple(value) if isinstance(value, list) else ()


def _faults(value: Any) -> Sequence[Fault]:
    found = value if isinstance(value, list) else []
    return tuple(
        Fault(
            str(one.get("code", "")),
            str(one.get("detail", "")),
            _place(one.get("at")),
            one,
        )
        for one in found
        if isinstance(one, dict)
    )
