"""The bodies of requests: their base class, and what pydantic finds wrong with one."""

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from .domain.errors import Invalid, Place

_OWN_WORDS = "Value error, "
_OF_NO_KIND = frozenset({"union_tag_invalid", "union_tag_not_found"})


class RequestBody(BaseModel):
    """A request's body: unknown members are refused."""

    model_config = ConfigDict(extra="forbid")


def wrong_shape(
    faults: Sequence[Any], *, place: Callable[[Place], Place] = lambda place: place
) -> Invalid:
    """The refusal of what `ValidationError.errors()` lists: every fault with its place."""
    refusals = []
    for fault in faults:
        words, code = sentence(fault["msg"]), fault["type"]
        # A union that found no kind lacks the member that names it.
        at = (*fault["loc"], "type") if code in _OF_NO_KIND else tuple(fault["loc"])
        refusals.append(Invalid(words, at=place(at), code=code))
    first = refusals[0]
    return Invalid(first.message, at=first.at, errors=refusals)


def sentence(words: str) -> str:
    """What a library says, with a capital and a full stop."""
    words = words.removeprefix(_OWN_WORDS).rstrip(".")
    return f"{words[:1].upper()}{words[1:]}."
