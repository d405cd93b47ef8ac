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
    refusals = [
        Invalid(sentence(fault["msg"]), at=place(_place(fault)), code=fault["type"])
        for fault in faults
    ]
    first = refusals[0]
    return Invalid(first.message, at=first.at, errors=refusals)


def _place(fault: Any) -> Place:
    """Where the fault lies; a union that found no kind lacks the member that names it."""
    unkind = fault["type"] in _OF_NO_KIND
    return (*fault["loc"], "type") if unkind else tuple(fault["loc"])


def sentence(words: str) -> str:
    """What a library says, with a capital and a full stop."""
    words = words.removeprefix(_OWN_WORDS).rstrip(".")
    return f"{words[:1].upper()}{words[1:]}."
