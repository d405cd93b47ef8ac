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
_ORJSON_TYPES = frozenset({str, int, bool, type(None)})
"""Types that both write alike; orjson refuses an integer of more than 64 bits."""


def canonical(value: Any) -> bytes:
    """The canonical JSON of a value that the standard library's `json` can write."""
    if suits_orjson(value):
        try:
            return encode_quickly(value)
        except TypeError:
            pass
    return encode_slowly(value)


def encode_quickly(value: Any, *, is_sorted: bool = True) -> bytes:
    """What `canonical` returns, by orjson; TypeError for a surrogate. See `suits_orjson`."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS if is_sorted else None)


def encode_slowly(value: Any, *, is_sorted: bool = True) -> bytes:
    """What `canonical` returns, by the standard library alone."""
    return _ENCODERS[is_sorted].encode(value).encode("utf-8", "surrogatepass")


def suits_orjson(value: Any) -> bool:
    """Whether orjson writes a value as the standard library does, lone surrogates aside."""
    kind = type(value)
    if kind is dict:
        value = value.values()
    elif kind is not list:
        return kind in _ORJSON_TYPES
    for item in value:  # noqa: SIM110  # a generator takes twice as long
        if type(item) not in _ORJSON_TYPES and not suits_orjson(item):
            return False
    return True
