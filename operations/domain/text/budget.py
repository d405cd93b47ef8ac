"""Answers cut to so many tokens, and gone on with where they were cut: each text stands once.

An answer is walked in its order. Where the budget ends, the walk stops: in the middle of a text,
or before an element. Its path is the place to go on from. What goes on has the same shape: lists
begin with what was not shown yet, and objects repeat their short members (keys, indexes, roles),
so that a piece of a message still says which message it is of.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.domain.paging import encode_cursor

Count = Callable[[str], int]
Path = list[Any]
"""Members, elements and, in a text, a character: where a walk stopped."""
SHORT = 80
"""Characters of a text that is not cut."""
_REPEATED = 24
"""Characters of a text that is repeated in what goes on: a key or a role, not a title, which would
leave a small budget no room for anything new."""
_LEAST = 24
"""Tokens that are worth another element, or another piece of a text."""
_LONGEST_TOKEN = 24
"""Characters that a token has at most in nearly every text."""
_RESERVED = 100
"""Tokens kept for what is put beside a cut answer, and for what the walk counts too low: its
cursor, and brackets."""
_NAMES = 12
"""Tokens of the names that an answer and its cursor are given."""
_ADVANCE = 16
"""Tokens of a text that a page gives at least, so that it is worth its call: they are reserved."""
_WELL_FILLED = 16
"""A part of the budget: where more than that is spare, another walk is worth its time."""


class Fitted(NamedTuple):
    """As much of an answer as fits, and where to go on; None: all of it is there."""

    value: Any
    path: Path | None


def fitted(value: Any, most: int, count: Count, path: Sequence[Any] = ()) -> Fitted:
    """The part of an answer from a path on that has so many tokens at most, as JSON.

    Raises Invalid (`cursor`) where the answer has no such place. At least one piece is given.
    """
    left = max(_LEAST, most - _RESERVED)
    try:
        walk = _Walk(left, count)
        first = walk.taken(value, list(path))
        # Members are counted one by one, which is too much: of a small budget they leave nothing.
        spare = most - _size(first, count)
        if first.path is None or spare <= max(_LEAST, most // _WELL_FILLED):
            return first
        left += walk.overdrawn + spare
        second = _Walk(left, count).taken(value, list(path))
    except (KeyError, IndexError, TypeError):
        sentence = "This cursor does not belong to this answer."
        raise Invalid(sentence, at=["cursor"]) from None
    return second if _size(second, count) <= most else first


def _size(found: Fitted, count: Count) -> int:
    """The tokens of a cut answer with what is put beside it."""
    cursor = "" if found.path is None else encode_cursor([found.path])
    return count(json.dumps([found.value, cursor], ensure_ascii=False)) + _NAMES


class _Walk:
    """One walk through an answer; knows the tokens that are left."""

    def __init__(self, left: int, count: Count) -> None:
        self._left = left
        self._count = count
        self._has_any = False
        """Whether any text was taken: what is only cut must not be cut for ever."""
        self.overdrawn = 0
        """Tokens that were given to a text beyond those that were left."""

    def taken(self, value: Any, path: Path) -> Fitted:
        """As much of a value as fits, from a path in it on."""
        if isinstance(value, str):
            return self._text(value, path)
        if isinstance(value, list):
            return self._list(value, path)
        if isinstance(value, dict):
            return self._object(value, path)
        if path:
            raise KeyError
        self._left -= len(str(value)) // 2 + 1
        return Fitted(value, None)

    def _text(self, value: str, path: Path) -> Fitted:
        start = path[0] if path else 0
        if not isinstance(start, int) or not 0 <= start <= len(value):
            raise KeyError
        text = value[start:]
        room = self._left
        if room < _ADVANCE and not self._has_any:
            self.overdrawn, room = _ADVANCE - room, _ADVANCE
        kept = self._within(text, room)
        if kept < len(text) and start == 0 and len(text) <= SHORT:
            # A key that is cut would be another's.
            kept = 0 if self._has_any else len(text)
        if kept < len(text) and kept < _LEAST and self._has_any:
            return Fitted(None, [start])
        kept = kept or min(len(text), 1)
        self._left -= self._tokens(text[:kept])
        self._has_any = self._has_any or kept > SHORT
        stop = [start + kept] if kept < len(text) else None
        return Fitted(text[:kept], stop)

    def _within(self, text: str, left: int) -> int:
        """How many characters of a text fit into so many tokens."""
        high = min(len(text), max(0, left) * _LONGEST_TOKEN)
        if high == len(text) and self._tokens(text) <= left:
            return high
        low = 0
        while low < high:
            middle = (low + high + 1) // 2
            fits = self._tokens(text[:middle]) <= left
            low, high = (middle, high) if fits else (low, middle - 1)
        return low

    def _tokens(self, text: str) -> int:
        return self._count(json.dumps(text, ensure_ascii=False)) + 1

    def _list(self, value: list[Any], path: Path) -> Fitted:
        first = path[0] if path else 0
        if not isinstance(first, int) or not 0 <= first <= len(value):
            raise KeyError
        found: list[Any] = []
        for place in range(first, len(value)):
            if self._left < _LEAST and (found or self._has_any):
                return Fitted(found, [place])
            self._left -= 1
            item, stop = self.taken(value[place], path[1:] if place == first else [])
            if stop is not None and item is None:
                return Fitted(found, [place, *stop])
            found.append(item)
            if stop is not None:
                return Fitted(found, [place, *stop])
        return Fitted(found, None)

    def _object(self, value: dict[str, Any], path: Path) -> Fitted:
        names = list(value)
        first = names.index(path[0]) if path and path[0] in value else 0
        if path and path[0] not in value:
            raise KeyError
        found: dict[str, Any] = {}
        # What is short stands there whole wherever the walk stops, so that it is paid for first.
        most = _REPEATED if path else SHORT
        short = {one: item for one, item in value.items() if _is_short(item, most)}
        for one, item in short.items():
            self._left -= self._tokens(one) + self._tokens(str(item))
        for place, name in enumerate(names):
            member, behind = value[name], (place == first and path[1:]) or []
            if name in short and not behind:
                found[name] = member
                continue
            if place < first:
                continue
            self._left -= self._tokens(name)
            if self._left < _LEAST and self._has_any:
                return Fitted(found, [name, *behind])
            item, stop = self.taken(member, behind)
            if stop is not None and item is None:
                return Fitted(found, [name, *stop])
            found[name] = item
            if stop is not None:
                # What is short stands beside it, and is repeated in what goes on.
                found |= short
                return Fitted(found, [name, *stop])
        return Fitted(found, None)


def _is_short(value: Any, most: int) -> bool:
    return not isinstance(value, dict | list) and len(str(value)) <= most
