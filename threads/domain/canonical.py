"""Canonical JSON, for comparing contents, and stored JSON, which keeps the order of keys.

Canonical JSON has sorted keys, no white space, and is UTF-8 in which lone surrogates pass. Stored
JSON differs only in its keys, which keep the order in which they came. The standard library
defines both. orjson writes them wherever it gives the same bytes: everywhere except for numbers
other than 64-bit integers, and for lone surrogates.
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
"""Types that both write alike; orjson refuses an integer of more than 64 bits."""


def canonical(value: Any) -> bytes:
    """The canonical JSON of a value that the standard library's `json` can write."""
    if is_alike(value):
        try:
            return quickly(value)
        except TypeError:
            pass
    return slowly(value)


def quickly(value: Any, *, is_sorted: bool = True) -> bytes:
    """What `canonical` returns for a value that `is_alike`. Raises TypeError for a surrogate."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS if is_sorted else None)


def slowly(value: Any, *, is_sorted: bool = True) -> bytes:
    """What `canonical` returns, by the standard library alone."""
    return _ENCODERS[is_sorted].encode(value).encode("utf-8", "surrogatepass")


def is_alike(value: Any) -> bool:
    """Whether both write a value alike, with everything in it, lone surrogates aside."""
    kind = type(value)
    if kind is dict:
        value = value.values()
    elif kind is not list:
        return kind in _ALIKE
    for item in value:  # noqa: SIM110  # a generator takes twice as long
        if type(item) not in _ALIKE and not is_alike(item):
            return False
    return True
