"""What can go wrong between a program and a server, as exceptions.

Everything is a `StudioError`: `NotSent` for what is no request, `Unreachable` without an answer,
`Unexpected` for an answer that isn't one of ContextStudio's, and `Refused` with a class for each
kind of refusal.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, ClassVar

import httpx

Place = tuple[str | int, ...]
"""Where in a request: `("messages", 3, "role")`."""


class StudioError(Exception):
    """ContextStudio couldn't be asked, or did not do what was asked."""


class NotSent(StudioError, ValueError):
    """Nothing was sent: what was given makes no request, or the client is closed."""


class Unwritable(NotSent):
    """Nothing was sent: what was given has no form in JSON, such as NaN."""


class Unreachable(StudioError):
    """No answer: no connection, or it broke or took too long. The cause is httpx's exception."""


class Unexpected(StudioError):
    """An answer that isn't in the form that ContextStudio's API promises."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One of several things that a refusal names."""

    code: str
    detail: str
    at: Place
    body: dict[str, Any]
    """All its members; what a provider would refuse has `keys` too."""


class Refused(StudioError):
    """The server's answer is a refusal (RFC 9457), or an HTTP error of what stands before it.

    `code` is for programs and never changes, `detail` is one sentence, `at` the place in the
    request, `faults` every place that is at fault, `body` the whole problem document and
    `retry_after` the seconds after which the same may go well, where the server says so.
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
        """By what it was made of: pools of processes and task queues pickle what is raised."""
        return type(self), (self.status, self.body, self.retry_after)


class Unauthenticated(Refused):
    """No key, or one that is wrong, revoked or expired."""

    statuses = (401,)


class Forbidden(Refused):
    """The key may see the object, but not do this."""

    statuses = (403,)


class NotFound(Refused):
    """What was named is not there, or not for this key to know of."""

    statuses = (404,)


class Conflict(Refused):
    """What is recorded stands in the way.

    `operations` are the keys of the operations in the way, `needs` the smallest set that would
    work (`keys`, and `first` and `last` where it is one range), `head` the last entry of the
    log where another was expected; each empty or None where the refusal is another.
    """

    statuses = (409, 412)

    @property
    def operations(self) -> list[str]:
        """The keys of the operations in the way."""
        return list(self.body.get("operations") or ())

    @property
    def needs(self) -> dict[str, Any]:
        """The smallest set of messages for which it would work."""
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
    """The server, or one that stands before it, can't answer now."""

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
    """The exception for an answer that isn't a success."""
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
    """The seconds that `Retry-After` asks for: a number, or a moment."""
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
