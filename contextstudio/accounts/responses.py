"""JSON as the API writes it: fast where it can be, whole in any case."""

import json
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect


def dump(value: Any) -> bytes:
    """A value as JSON bytes.

    orjson refuses lone surrogates and great integers, which transcripts hold: the standard
    library then writes them as escapes.
    """
    try:
        return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS)
    except TypeError:
        return json.dumps(value, default=str).encode()


def json_response(value: Any, status: int = 200) -> HttpResponse:
    """An answer whose shape was checked where it was made, so that no schema runs over it."""
    return json_answer(dump(value), status)


def json_answer(body: bytes, status: int = 200) -> HttpResponse:
    """An answer that is JSON already."""
    return HttpResponse(
        body, status=status, content_type="application/json; charset=utf-8"
    )


def go_to(request: HttpRequest, address: str) -> HttpResponse:
    """Go there: by htmx's header for a script, by a redirect for a form."""
    if not request.headers.get("HX-Request"):
        return redirect(address)
    answer = HttpResponse(status=204)
    answer["HX-Redirect"] = address
    return answer
