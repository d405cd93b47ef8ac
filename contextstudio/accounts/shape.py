"""The bodies of requests: their base class, and what pydantic finds wrong with one."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from .domain.errors import Invalid, Place

_OWN_WORDS = "Value error, "
_OF_NO_KIND = frozenset({"union_tag_invalid", "union_tag_not_found"})


class RequestBody(BaseModel):
    """A request's body: unknown members are refused."""

    model_config = ConfigDict(extra="forbid")


def wrong_shape(
    faults: Sequence[Any],
    *,
    place: Callable[[Place], Place] = lambda place: place,
    fields: Sequence[str] = (),
) -> Invalid:
    """The refusal of what `ValidationError.errors()` lists: every fault with its place.

    Who sent a field that there is none of is told `fields`, those that there are.
    """
    refusals = []
    for fault in faults:
        words, code = sentence(fault["msg"]), fault["type"]
        if code == "extra_forbidden":
            known = fields if len(fault["loc"]) == 1 else ()
            words = _unknown(str(fault["loc"][-1]), known)
        at = tuple(fault["loc"])
        if code in _OF_NO_KIND:
            # A union that found no kind lacks the member that names it.
            at, words = (*at, "type"), _no_kind(fault["ctx"])
        refusals.append(Invalid(words, at=place(at), code=code))
    first = refusals[0]
    return Invalid(first.message, at=first.at, errors=refusals)


def _unknown(name: str, fields: Sequence[str]) -> str:
    known = f"; the fields are {', '.join(fields)}" if fields else ""
    return f"There is no field {name[:64]}{known}."


def _no_kind(context: Mapping[str, Any]) -> str:
    """Pydantic calls kinds tags, which are something else here."""
    if "tag" not in context:
        return "Give a type."
    return f"There is no type {context['tag']!s:.64}: take {context['expected_tags']}."


def sentence(words: str) -> str:
    """What a library says, with a capital and a full stop."""
    words = words.removeprefix(_OWN_WORDS).rstrip(".")
    return f"{words[:1].upper()}{words[1:]}."
