"""A request and everything needed to get its answer, without sending anything.

A *flow* is a generator that yields requests and receives the values read from their answers. It is
run by a transport (`transports`), which sends and waits: one for blocking programs, one for asyncio
and trio. So requests, retries and the reading of answers are implemented once.
"""

import json
import math
import random
import uuid
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import PurePath
from types import NoneType
from typing import Any, Generic, TypeVar
from urllib.parse import quote

import httpx

from .errors import (
    Conflict,
    NotSent,
    Place,
    Refused,
    StudioError,
    Unexpected,
    Unreachable,
    Unwritable,
    refusal,
)
from .shapes import decode

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(Generic[T]):
    """A request to the API, and how to read its answer."""

    method: str
    path: str
    """Relative to the server's address, without a leading slash, quoted."""
    read: Callable[[httpx.Response], T]
    query: Mapping[str, Any] = field(default_factory=dict)
    """Parameters; those that are None are left out."""
    body: Any = None
    """The body to send as JSON; None for no body."""
    is_keyed: bool = False
    """Whether it is sent with an Idempotency-Key, so that a repeat has no further effect."""


Flow = Generator[Request[Any], Any, T]


def ask(request: Request[T]) -> Flow[T]:
    """The typed flow of one request: `found = yield from ask(request)`."""
    answer: T = yield request
    return answer


@dataclass(frozen=True, slots=True)
class Wait:
    """An instruction to wait this many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a request is sent again, and the pauses between.

    A request is sent again if that may succeed: after a failed, broken or timed-out connection,
    429, 502, 503, 504, and 409 while the first try still runs. The pause is what the server asks
    for by `Retry-After`, or else doubles each time. If a server asks for more than `longest`
    seconds, the request is not sent again.
    """

    attempts: int = 4
    first: float = 0.25
    longest: float = 30.0

    def pause(self, error: StudioError, sent: int) -> float | None:
        """Seconds until the next try, after `sent` tries; None if there is none."""
        if sent >= self.attempts or not _is_transient(error):
            return None
        asked = error.retry_after if isinstance(error, Refused) else None
        if asked is not None:
            return asked if asked <= self.longest else None
        # Random, so that many requests refused together don't all return together.
        spread = random.uniform(0.5, 1.0)  # noqa: S311  # nothing secret
        return min(self.longest, self.first * 2.0 ** (sent - 1)) * spread


def _is_transient(error: StudioError) -> bool:
    if isinstance(error, Conflict):
        return error.code == "idempotency_key_in_use"
    if isinstance(error, Refused):
        return error.status in (429, 502, 503, 504)
    return isinstance(error, Unreachable) and not isinstance(
        error.__cause__, (httpx.UnsupportedProtocol, httpx.LocalProtocolError)
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """The server's address, the key, and what all requests have in common."""

    url: str
    key: str
    retries: Retries

    def build(self, request: Request[Any]) -> httpx.Request:
        """Build the request to send, with one Idempotency-Key for all tries. Raises NotSent."""
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        content = None
        if request.body is not None:
            headers["Content-Type"] = "application/json"
            content = encode(request.body)
        if request.is_keyed:
            headers["Idempotency-Key"] = str(uuid.uuid4())
        query = {
            name: _word(value)
            for name, value in request.query.items()
            if value is not None
        }
        address = f"{self.url}/{request.path}"
        try:
            return httpx.Request(
                request.method,
                address,
                params=query or None,
                headers=headers,
                content=content,
            )
        except httpx.InvalidURL as error:
            raise NotSent(f"{address!r} is not a valid address: {error}") from error


Step = httpx.Request | Wait
Outcome = httpx.Response | httpx.RequestError | None


def steps(flow: Flow[T], settings: Settings) -> Generator[Step, Outcome, T]:
    """Run a flow by telling a transport what to do: send this and return the outcome, or wait.

    Refusals are raised within the flow, which may catch them.
    """
    try:
        request = next(flow)
        while True:
            try:
                value = yield from _attempts(request, settings)
            except StudioError as error:
                request = flow.throw(error)
            else:
                request = flow.send(value)
    except StopIteration as done:
        result: T = done.value
        return result
    finally:
        flow.close()


def _attempts(request: Request[T], settings: Settings) -> Generator[Step, Outcome, T]:
    built, sent = settings.build(request), 0
    while True:
        outcome, sent = (yield built), sent + 1
        if isinstance(outcome, httpx.Response) and outcome.is_success:
            return request.read(outcome)
        error = _error(built, outcome)
        pause = settings.retries.pause(error, sent)
        if pause is None:
            raise error
        yield Wait(pause)


def _error(request: httpx.Request, outcome: Outcome) -> StudioError:
    if isinstance(outcome, httpx.Response):
        return refusal(outcome)
    kind = type(outcome).__name__
    where = f"{request.method} {request.url.copy_with(query=None)}"
    error = Unreachable(f"{where} had no answer: {outcome or kind} ({kind}).")
    error.__cause__ = outcome
    return error


_SIMPLE = (str, int, float, NoneType)
"""Types that JSON represents directly, and that names of members may have."""


def encode(value: Any) -> bytes:
    """Encode as JSON in UTF-8, with escapes for lone surrogates, which UTF-8 can't represent.

    Response objects of the providers' own SDKs are written in the form in which those send them
    again. Raises Unwritable with the place of a value that JSON can't represent, such as NaN.
    """
    options: dict[str, Any] = {
        "separators": (",", ":"),
        "allow_nan": False,
        "default": _to_json_types,
    }
    try:
        written = json.dumps(value, ensure_ascii=False, **options)
    except (TypeError, ValueError, RecursionError) as error:
        fault = _fault_in(value) or str(error)
        raise Unwritable(f"This can't be written as JSON: {fault}.") from error
    try:
        return written.encode()
    except UnicodeEncodeError:
        return json.dumps(value, **options).encode()


def _to_json_types(value: Any) -> Any:
    """Convert an object into JSON types. Raises TypeError if there is no conversion."""
    if hasattr(value, "model_dump"):
        unsaid = getattr(value, "__api_exclude__", None)
        return value.model_dump(mode="json", exclude_unset=True, exclude=unsaid)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (date, uuid.UUID, PurePath)):
        return str(value)
    raise TypeError(f"JSON has no {type(value).__name__}")


def _fault_in(value: Any) -> str | None:
    """The part of a value that isn't valid JSON, and its place; None if none is found."""
    try:
        found = next(_faults_in(value, ()), None)
    except RecursionError:
        return None
    if found is None:
        return None
    what, place = found
    return f"{what} (at {'.'.join(map(str, place))})"


def _faults_in(value: Any, at: Place) -> Iterator[tuple[str, Place]]:
    if isinstance(value, float) and not math.isfinite(value):
        yield str(value), at
    elif isinstance(value, (dict, list, tuple)):
        members = value.items() if isinstance(value, dict) else enumerate(value)
        for name, one in members:
            if not isinstance(name, _SIMPLE):
                yield f"a name of type {type(name).__name__}", at
            yield from _faults_in(one, (*at, name))
    elif not isinstance(value, _SIMPLE):
        try:
            plain = _to_json_types(value)
        except TypeError:
            yield f"a value of type {type(value).__name__}", at
        else:
            yield from _faults_in(plain, at)


def json_as(shape: type[T]) -> Callable[[httpx.Response], T]:
    """A function that decodes an answer as one of `shapes`, or any type that `decode` supports."""

    def read(response: httpx.Response) -> T:
        try:
            value = json.loads(response.content)
        except ValueError as error:
            kind = response.headers.get("Content-Type", "no type")
            sentence = f"{response.url} did not answer with JSON but with {kind}."
            raise Unexpected(sentence) from error
        try:
            decoded: T = decode(shape, value)
            return decoded
        except (TypeError, ValueError) as error:
            sentence = f"{response.url} answered in an unexpected form: {error}."
            raise Unexpected(sentence) from error

    return read


def path(*steps: object) -> str:
    """A path of quoted words, so that none can lead elsewhere. Raises NotSent."""
    words = [str(step) for step in steps]
    if not all(words) or {".", ".."} & set(words):
        raise NotSent(f"{words} is not a valid path.")
    return "/".join(quote(word, safe="") for word in words)


def _word(value: Any) -> str:
    """Format a value for a query: `true`, `a,b`, `3`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple, set, frozenset)):
        return ",".join(map(str, value))
    return str(value)
