"""Canonical JSON: one form of every value, by which contents are compared; and JSON to be kept.

What is kept is the same but for keys, which stay in the order in which they came. Canonical are
sorted keys, no blanks, UTF-8 in which lone surrogates pass. The standard library defines it;
orjson writes it where it gives the same bytes, which is everywhere but in numbers that are no
integers of 64 bits, and in lone surrogates.
"""

import json
from typing import Any

import orjson

_ENCODERS = {
    is_sorted: json.JSONEncoder(
        ensure_ascii=False, sort_keys=is_sorted, separators=(",", ":")
    )
    for is_sorted in (False, True)
}
_ALIKE = frozenset({str, int, bool, type(None)})
"""Types that both write alike; an integer of more than 64 bits orjson refuses."""


def canonical(value: Any) -> bytes:
    """The canonical JSON of a value that the standard library's `json` can write."""
    if is_alike(value):
        try:
            return quickly(value)
        except TypeError:
            pass
    return slowly(value)


def quickly(value: Any, *, is_sorted: bool = True) -> bytes:
    """What `canonical` gives of a value that `is_alike`. Raises TypeError for a surrogate."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS if is_sorted else None)


def slowly(value: Any, *, is_sorted: bool = True) -> bytes:
    """What `canonical` gives, by the standard library alone."""
    return _ENCODERS[is_sorted].encode(value).encode("utf-8", "surrogatepass")


def is_alike(value: Any) -> bool:
    """Whether all that a value holds is written alike by both, lone surrogates apart."""
    kind = type(value)
    if kind is dict:
        value = value.values()
    elif kind is not list:
        return kind in _ALIKE
    for item in value:  # noqa: SIM110  # a generator takes twice as long
        if type(item) not in _ALIKE and not is_alike(item):
            return False
    return True
