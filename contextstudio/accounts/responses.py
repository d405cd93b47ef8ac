"""Responses: JSON, fast if possible and always lossless; streamed files; refusals."""

import json
import logging
from collections.abc import AsyncIterator, Iterator
from math import isfinite
from typing import Any

import orjson
from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect

from contextstudio.database.outages import RETRY_AFTER, is_outage

from .domain.errors import DomainError, Invalid, Unavailable, problem

logger = logging.getLogger(__name__)

JSON = "application/json; charset=utf-8"
PROBLEM = "application/problem+json"
CHUNK = 64 * 1024
"""How many bytes of a file are produced per chunk."""


def read_json(body: bytes) -> Any:
    """The value of a JSON text. Raises Invalid for anything else.

    NaN and Infinity aren't JSON; a number beyond a double would be read as Infinity.

    orjson refuses lone surrogates, which transcripts hold; the standard library reads them.
    """
    try:
        return orjson.loads(body)
    except ValueError:
        pass

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is not a JSON value")

    def finite(text: str) -> float:
        number = float(text)
        if not isfinite(number):
            raise ValueError(f"{text} is beyond a double")
        return number

    try:
        return json.loads(body, parse_constant=refuse, parse_float=finite)
    except RecursionError as error:
        raise too_deep() from error
    except ValueError as error:
        raise Invalid(f"The body is not JSON: {error}.", code="json_invalid") from error


def too_deep() -> Invalid:
    """The refusal of a body that is nested too deep."""
    return Invalid("The JSON of the body is nested too deeply.", code="json_too_deep")


def dump(value: Any) -> bytes:
    """Encode a value as JSON bytes.

    orjson refuses lone surrogates and large integers, which transcripts hold: the standard library
    then writes them as escapes.
    """
    try:
        return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS)
    except TypeError:
        return json.dumps(value, default=str).encode()


def json_response(value: Any, status: int = 200) -> HttpResponse:
    """A JSON response whose shape was checked where it was made, so no schema is applied."""
    return json_answer(dump(value), status)


def json_answer(body: bytes, status: int = 200) -> HttpResponse:
    """A response whose body is already JSON."""
    return HttpResponse(body, status=status, content_type=JSON)


def problem_response(error: DomainError) -> HttpResponse:
    """A refusal as `application/problem+json` (RFC 9457)."""
    body = dump(problem(error))
    answer = HttpResponse(body, content_type=PROBLEM, status=error.status)
    if error.status == 401:
        answer["WWW-Authenticate"] = "Bearer"
    if error.retry_after is not None:
        answer["Retry-After"] = str(error.retry_after)
    return answer


def outage(error: BaseException) -> Unavailable | None:
    """The refusal if the database or the disk is locked, down or full; None for other errors.

    The cause appears only in the log.
    """
    if not is_outage(error):
        return None
    of_disk = isinstance(error, OSError)
    what = "The server's disk" if of_disk else "The database"
    logger.warning("%s can't be used: %s", what, " ".join(str(error).split()))
    return Unavailable(
        f"{what} can't be used at the moment; nothing was changed. Try again soon.",
        code="disk_unavailable" if of_disk else "database_unavailable",
        retry_after=RETRY_AFTER,
    )


def go_to(request: HttpRequest, address: str) -> HttpResponse:
    """Redirect: by htmx's header for a script, by a redirect for a form."""
    if not request.headers.get("HX-Request"):
        return redirect(address)
    answer = HttpResponse(status=204)
    answer["HX-Redirect"] = address
    return answer


class Streamed(StreamingHttpResponse):
    """A file produced while it is sent, by code that waits for the database.

    Django's own response produces all of it before the first byte goes out: a session of 1 GB would
    be held in memory as a whole.
    """

    async def __aiter__(self) -> AsyncIterator[bytes]:
        pieces = iter(self.streaming_content)  # type: ignore[arg-type]  # never asynchronous
        while chunk := await sync_to_async(_next_chunk)(pieces):
            yield chunk


def _next_chunk(pieces: Iterator[bytes]) -> bytes:
    """The next pieces, together `CHUNK` bytes or more; empty at the end."""
    taken, size = [], 0
    while size < CHUNK and (piece := next(pieces, None)) is not None:
        taken.append(piece)
        size += len(piece)
    return b"".join(taken)
