"""What a caller of the API expects: the head that they know of, the tags that are active."""

from enum import StrEnum
from functools import wraps
from typing import Any, Literal

from django.http import HttpRequest, QueryDict
from django.http.response import HttpResponseBase

from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.idempotency import Route
from operations.domain.log.expected import HeaderHead


def expected_head(request: HttpRequest, given: int | None) -> int | None:
    """The head that the caller knows of: a member of the body, or `If-Match`.

    Raises Invalid if the header isn't a head, or isn't the one in the body.
    """
    header = request.headers.get(HeaderHead.HEADER)
    if header is None:
        return given
    text = header.strip().removeprefix("W/").strip('"')
    # No log is so long; of very many digits Python makes no number at all.
    if not (text.isdecimal() and text.isascii() and len(text) < 19):
        raise Invalid(
            f"{HeaderHead.HEADER} must be the number of the last log entry that you know of, in "
            'quotes: "7".',
            at=[HeaderHead.HEADER],
        )
    if given not in (None, int(text)):
        raise Invalid(
            f"{HeaderHead.HEADER} says {text}, and expected_head {given}: send one of them.",
            at=[HeaderHead.HEADER],
        )
    return HeaderHead(text)


def takes_head(route: Route) -> Route:
    """Mark a route that compares the expected head itself, in its own time."""

    @wraps(route)
    def marked(request: HttpRequest, **values: Any) -> HttpResponseBase:
        return route(request, **values)

    marked.takes_head = True  # type: ignore[attr-defined]  # functions take any
    return marked


def tags_of(active_tags: str | None) -> frozenset[str] | None:
    """A request's own active tags, parted by commas; None where it leaves them to the session."""
    if active_tags is None:
        return None
    return frozenset(filter(None, active_tags.split(",")))


class View(StrEnum):
    """Which of the three threads is shown."""

    ANNOTATED = "annotated"
    EFFECTIVE = "effective"
    ORIGINAL = "original"


ViewName = Literal["annotated", "effective", "original"]
"""The views as the contract of the API lists them in place."""


def fields_of(request: HttpRequest) -> QueryDict:
    """What was sent, in the address or in the body."""
    return request.POST if request.method == "POST" else request.GET


def view_of(fields: QueryDict) -> View:
    """The view that is asked for. Raises Invalid."""
    try:
        return View(fields.get("view") or View.ANNOTATED)
    except ValueError as error:
        raise Invalid(
            "view must be annotated, effective or original.", at=["view"]
        ) from error


def number_of(fields: QueryDict, name: str, default: int | None = None) -> int:
    """A number that was sent. Raises Invalid where it is none, or missing without a default."""
    text = fields.get(name, "")
    if not text and default is not None:
        return default
    if not (text.isdecimal() and text.isascii() and len(text) < 10):
        raise Invalid(f"{name} must be a number.", at=[name])
    return int(text)
