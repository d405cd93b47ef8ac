"""Keys name messages, folds and operations; nothing is named by its place.

`m<index>` is an original. `o<number>` is an entry of the log, and the fold that it makes.
`o<number>.<k>` is message k, from 0, that an operation made. Numbers have at most nine digits and
no leading zeros, so that every key has exactly one spelling.
"""

import re
from functools import lru_cache
from sys import intern

Key = str

_ORIGINAL = re.compile(r"m(0|[1-9][0-9]{0,8})").fullmatch
_MADE = re.compile(r"o([1-9][0-9]{0,8})(?:\.(0|[1-9][0-9]{0,8}))?").fullmatch


@lru_cache(maxsize=1 << 17)
def original_key(index: int) -> Key:
    """The key of the original at an index, from 0.

    Cached and interned, because it is asked for as often as `original_number`.
    """
    return intern(f"m{index}")


def entry_key(number: int) -> Key:
    """The key of an entry of the log, from 1, and of the fold that it makes."""
    return f"o{number}"


def made_key(number: int, place: int) -> Key:
    """The key of message number `place`, from 0, among those that an operation made."""
    return f"o{number}.{place}"


def original_index(key: Key) -> int | None:
    """The index of an original; None if the key isn't one of an original."""
    number = original_number(key)
    return number - 1 if number else None


@lru_cache(maxsize=1 << 17)
def original_number(key: Key) -> int:
    """The number of an original, counted from 1; 0 if the key isn't one of an original.

    Cached, because replay asks for the same keys each time, and parsing them is most of what
    small operations cost.
    """
    match = _ORIGINAL(key)
    return int(match[1]) + 1 if match else 0


@lru_cache(maxsize=1 << 15)
def parse_made_key(key: Key) -> tuple[int, int | None] | None:
    """Number and place of `o<number>.<place>`; place None for `o<number>`; None for other keys."""
    match = _MADE(key)
    if match is None:
        return None
    return int(match[1]), None if match[2] is None else int(match[2])


def entry_number(key: Key) -> int | None:
    """The number in `o<number>`; None if the key isn't one of an entry."""
    place = parse_made_key(key)
    return place[0] if place and place[1] is None else None
