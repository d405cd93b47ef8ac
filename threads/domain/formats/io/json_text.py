"""Reads JSON that somebody else wrote: any bytes give a value or `Invalid`.

The standard reader accepts text that is not JSON, and fails in its own ways on hostile input.
Here, nesting is measured before parsing (a deep document would exhaust the stack). NaN, Infinity
and numbers beyond a double read as null; integers too long for Python stay text; of duplicate
keys, the last counts; lone surrogates pass, because transcripts contain them.

orjson reads first, three times as fast. The standard library reads whatever orjson refuses or may
have read differently, so that the value never depends on which of the two read it.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Any

import orjson

from contextstudio.accounts.domain.errors import Invalid, Place
from threads.domain.part import JSON

UNSURE = object()
"""Sentinel for a value that the standard library has to read."""
parse_roughly = orjson.loads
"""The value of a JSON text, the fastest way; see `is_exact`. Raises ValueError."""
MAX_DEPTH = 200
"""Levels of nesting; real transcripts stay below 40, Python's stack ends near 1,000."""

_LONG_NUMBER = b"0" * 19
"""As many digits as the smallest integer beyond 64 bits has, each replaced by a zero."""
_SHAPE = bytes.maketrans(b"123456789{", b"000000000[")
_PLAIN = frozenset({int, bool, type(None)})
_BEYOND_INTEGERS = float(1 << 63)
"""A double of this magnitude or above may have been an integer that orjson doesn't preserve."""
BOM = b"\xef\xbb\xbf"
AS_TABS = bytes.maketrans(b"\r\n", b"\t\t")
"""Turns line breaks into tabs, which are as blank between values, and as invalid inside a text."""
STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_STRINGS = re.compile(STRING + rb"?+", re.DOTALL)
"""Also matches an unterminated string; else each quote in it would be tried as a new start."""
WRITER = json.JSONEncoder(ensure_ascii=False)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def parse(data: bytes) -> JSON:
    """The value of one JSON text. Raises Invalid: `json_too_deep` or `json_invalid`."""
    value = parse_quickly(data)
    return parse_slowly(data) if value is UNSURE else value


def place_without_utf8(value: JSON) -> Place:
    """The place of the first text in a value that UTF-8 can't encode: it has a lone surrogate.

    Programs that cut a text inside a character (an emoji) produce such texts. Empty if there is
    none.
    """
    return _first_place(value, lambda one: isinstance(one, str) and not _has_utf8(one))


def place_not_finite(value: JSON) -> Place:
    """The place of the first NaN or Infinity in a value, which JSON lacks; empty if none."""
    return _first_place(
        value, lambda one: isinstance(one, float) and not math.isfinite(one)
    )


def _first_place(value: JSON, is_wanted: Callable[[JSON], bool]) -> Place:
    waiting: list[tuple[Place, JSON]] = [((), value)]
    while waiting:
        at, one = waiting.pop()
        if is_wanted(one):
            return at
        inner = (
            one.items()
            if isinstance(one, dict)
            else enumerate(one if isinstance(one, list) else ())
        )
        waiting += reversed([((*at, step), held) for step, held in inner])
    return ()


def _has_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def parse_quickly(data: bytes) -> JSON:
    """What `parse` returns, by orjson alone; `UNSURE` if orjson refuses or may differ."""
    try:
        value = orjson.loads(data)
    except ValueError:
        return UNSURE
    shape = data.translate(_SHAPE)
    is_simple = _LONG_NUMBER not in shape and shape.count(b"[") <= MAX_DEPTH
    return value if is_simple or is_exact(value) else UNSURE


def is_exact(value: JSON, levels: int = MAX_DEPTH) -> bool:
    """Whether a value from `parse_roughly` is the one that `parse` returns.

    `parse_roughly` reads an integer of more than 64 bits as a double, and accepts nesting deeper
    than `levels`. Wherever else the two differ, it raises.
    """
    kind = type(value)
    if kind is dict:
        value = value.values()
    elif kind is not list:
        return kind is not float or -_BEYOND_INTEGERS < value < _BEYOND_INTEGERS
    if not levels:
        return False
    for item in value:  # a generator takes twice as long
        kind = type(item)
        if kind is not str and kind not in _PLAIN and not is_exact(item, levels - 1):
            return False
    return True


def parse_slowly(data: bytes) -> JSON:
    """What `parse` returns, by the standard library alone."""
    if is_deep(data):
        raise too_deep()
    try:
        text = decode(data)
        try:
            return _DECODER.decode(text)
        except json.JSONDecodeError:
            raise
        except ValueError:  # an integer of more digits than Python converts
            return _SLOW_DECODER.decode(text)
    except ValueError as error:
        reason = getattr(error, "msg", "not UTF-8 text")
        raise Invalid(f"It isn't JSON: {reason}.", code="json_invalid") from None


def too_deep() -> Invalid:
    """The refusal of JSON that is nested too deep."""
    return Invalid(
        f"It is nested more than {MAX_DEPTH} levels deep.", code="json_too_deep"
    )


def parse_strictly(text: str) -> JSON:
    """The value of JSON that every reader understands alike. Raises ValueError for anything else.

    For tool arguments: text that would not be written back as the same value doesn't count as JSON.
    """
    try:
        value = parse_roughly(text)
        if is_exact(value):
            return value
    except ValueError:
        pass
    if is_deep(text.encode("utf-8", "surrogatepass")):
        raise ValueError("too deep")
    return _STRICT_DECODER.decode(text)


def is_deep(data: bytes) -> bool:
    """Whether the nesting of a JSON text exceeds `MAX_DEPTH`, found without parsing it."""
    if data.count(b"[") + data.count(b"{") <= MAX_DEPTH:
        return False
    brackets = _STRINGS.sub(b"", data).translate(None, _NO_BRACKETS)
    return max(accumulate(map(_STEP.__getitem__, brackets)), default=0) > MAX_DEPTH


def decode(data: bytes) -> str:
    """Decode UTF-8 text, without its byte order mark; lone surrogates pass.

    A pair of surrogates that were encoded one by one becomes the character it stands for. Raises
    ValueError (UnicodeDecodeError) on any other bytes.
    """
    try:
        return data.removeprefix(BOM).decode()
    except UnicodeDecodeError:
        pairs = (
            data.removeprefix(BOM)
            .decode("utf-8", "surrogatepass")
            .encode("utf-16-le", "surrogatepass")
        )
        return pairs.decode("utf-16-le", "surrogatepass")


def dump(value: JSON, **options: Any) -> bytes:
    """JSON in UTF-8, keys in their original order; a lone surrogate is written as its escape."""
    text = (
        json.dumps(value, ensure_ascii=False, **options)
        if options
        else WRITER.encode(value)
    )
    return text.encode("utf-8", "backslashreplace")


def dump_list(
    members: Mapping[str, JSON], name: str, items: Iterable[JSON]
) -> Iterator[bytes]:
    """An object in pieces: these members, then the list `name` with one item per line."""
    head = dump(members)[1:-1]
    yield b"{" + head + (b", " if head else b"") + dump(name) + b": ["
    separator = b"\n"
    for item in items:
        yield separator + dump(item)
        separator = b",\n"
    yield b"\n]}\n"


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is beyond a double")
    return number


def _finite_or_none(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


def _int_or_text(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return text


_LENIENT: dict[str, Any] = {
    "parse_constant": lambda _constant: None,
    "parse_float": _finite_or_none,
}
_DECODER = json.JSONDecoder(**_LENIENT)
_SLOW_DECODER = json.JSONDecoder(**_LENIENT, parse_int=_int_or_text)
_STRICT_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite)
"""Created once: creating a decoder costs more than reading a short line."""
