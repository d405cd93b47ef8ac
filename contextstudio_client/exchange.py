"""One request and all that it takes to get its answer, without sending anything.

A *flow* is a generator that yields requests and is given what they read from their answers. It
is run by a transport (`transports`), which sends and waits: once for programs that block, once
for asyncio and trio. So what is asked, what is retried and how answers are read stand here once.
"""

import json
import random
import uuid
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import quote

import httpx

from .errors import Conflict, Refused, StudioError, Unexpected, Unreachable, refusal
from .shapes import decode

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(Generic[T]):
    """What is asked of the API, and how its answer is read."""

    method: str
    path: str
    """Below the server's address, without a leading slash, quoted."""
    read: Callable[[httpx.Response], T]
    query: Mapping[str, Any] = field(default_factory=dict)
    """Parameters; those that are None are left out."""
    body: Any = None
    """What is sent as JSON; None for nothing."""
    is_keyed: bool = False
    """Whether it is sent with an Idempotency-Key, so that a repeat has no further effect."""


Flow = Generator[Request[Any], Any, T]


def ask(request: Request[T]) -> Flow[T]:
    """The flow of one request, typed: `found = yield from ask(request)`."""
    answer: T = yield request
    return answer


@dataclass(frozen=True, slots=True)
class Wait:
    """Let this many seconds pass."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a request is sent again, and what passes between.

    What is sent again is what may go well then: no connection, one that broke or timed out, 429,
    502, 503, 504, and 409 while the first try still runs. The pause is what the server asks for
    by `Retry-After`, else it doubles; a server that asks for more than `longest` seconds is not
    waited for.
    """

    attempts: int = 4
    first: float = 0.25
    longest: float = 30.0

    def pause(self, error: StudioError, sent: int) -> float | None:
        """Seconds until the next try after `sent` tries; None where there is none."""
        if sent >= self.attempts or not _may_pass(error):
            return None
        asked = error.retry_after if isinstance(error, Refused) else None
        if asked is not None:
            return asked if asked <= self.longest else None
        # Spread, so that many that were refused at once don't come again at once.
        spread = random.uniform(0.5, 1.0)  # noqa: S311  # nothing secret
        return min(self.longest, self.first * 2.0 ** (sent - 1)) * spread


def _may_pass(error: StudioError) -> bool:
    if isinstance(error, Conflict):
        return error.code == "idempotency_key_in_use"
    if isinstance(error, Refused):
        return error.status in (429, 502, 503, 504)
    return isinstance(error, Unreachable) and not isinstance(
        error.__cause__, (httpx.UnsupportedProtocol, httpx.LocalProtocolError)
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """Where the server is, the key, and what every request has in common."""

    url: str
    key: str
    retries: Retries

    def build(self, request: Request[Any]) -> httpx.Request:
        """The request as it is sent, each time with the same Idempotency-Key."""
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
        return httpx.Request(
            request.method,
            f"{self.url}/{request.path}",
            params=query or None,
            headers=headers,
            content=content,
        )


Step = httpx.Request | Wait
Outcome = httpx.Response | httpx.RequestError | None


def steps(flow: Flow[T], settings: Settings) -> Generator[Step, Outcome, T]:
    """What a transport does to run a flow: send this and say what came, or wait.

    What a request is refused with is raised within the flow, which may catch it.
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


def encode(value: Any) -> bytes:
    """JSON in UTF-8; with escapes where a text has lone surrogates, which UTF-8 can't hold.

    Raises ValueError for NaN and Infinity, which JSON has not.
    """
    options: dict[str, Any] = {
        "separators": (",", ":"),
        "allow_nan": False,
        "default": str,
    }
    try:
        return json.dumps(value, ensure_ascii=False, **options).encode()
    except UnicodeEncodeError:
        return json.dumps(value, **options).encode()


def json_as(shape: type[T]) -> Callable[[httpx.Response], T]:
    """Reads an answer as one of `shapes`, or as any type that `decode` knows."""

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
            sentence = f"{response.url} answered in another form: {error}."
            raise Unexpected(sentence) from error

    return read


def path(*steps: object) -> str:
    """A path of words, each quoted, so that none can lead elsewhere."""
    words = [str(step) for step in steps]
    if not all(words) or {".", ".."} & set(words):
        raise ValueError(f"{words} can't be a path.")
    return "/".join(quote(word, safe="") for word in words)


def _word(value: Any) -> str:
    """A value as a query takes it: `true`, `a,b`, `3`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple, set, frozenset)):
        return ",".join(map(str, value))
    return str(value)
