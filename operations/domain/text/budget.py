"""Cuts answers to a number of tokens and resumes them where they were cut.

An answer is walked in its order. When the budget is used up, the walk stops, in the middle of a
text or before an element; its path is where to resume. The continuation has the same shape: lists
begin with what was not shown yet, and objects repeat their short members (keys, indexes, roles),
so that a piece of a message still says which message it belongs to. Every other text appears only
once.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.domain.paging import encode_cursor

Count = Callable[[str], int]
Path = list[Any]
"""Where a walk stopped: members, elements and, in a text, a character offset."""
SHORT = 80
"""Texts up to this many characters are not cut."""
_REPEATED = 24
"""Texts up to this many characters are repeated in a continuation: a key or a role, but not a
title, which would leave a small budget no room for anything new."""
_MIN_TOKENS = 24
"""The fewest tokens that are worth another element, or another piece of a text."""
_MAX_TOKEN_LENGTH = 24
"""The most characters per token in nearly every text."""
_RESERVED = 100
"""Tokens reserved for what is added beside a cut answer (its cursor, and brackets), and for what
the walk undercounts."""
_NAMES = 12
"""Tokens for the member names of an answer and its cursor."""
_ADVANCE = 16
"""The minimum tokens of a text in a page, so that a page is worth its call; they are reserved."""
_WELL_FILLED = 16
"""If more than this fraction of the budget is left, another walk is worth its time."""


class Fitted(NamedTuple):
    """As much of an answer as fits, and the path to resume from; None if it is complete."""

    value: Any
    path: Path | None


def fit_to_tokens(
    value: Any, most: int, count: Count, path: Sequence[Any] = ()
) -> Fitted:
    """The part of an answer, from a path on, that has at most `most` tokens as JSON.

    At least one piece is returned. Raises Invalid (`cursor`) if the answer has no such place.
    """
    left = max(_MIN_TOKENS, most - _RESERVED)
    try:
        walk = _Walk(left, count)
        first = walk.take(value, list(path))
        # Counting members one by one overestimates, which can use up a small budget.
        spare = most - _size(first, count)
        if first.path is None or spare <= max(_MIN_TOKENS, most // _WELL_FILLED):
            return first
        left += walk.overdrawn + spare
        second = _Walk(left, count).take(value, list(path))
    except (KeyError, IndexError, TypeError):
        sentence = "This cursor does not belong to this answer."
        raise Invalid(sentence, at=["cursor"]) from None
    return second if _size(second, count) <= most else first


def _size(found: Fitted, count: Count) -> int:
    """The tokens of a cut answer, including what is added beside it."""
    cursor = "" if found.path is None else encode_cursor([found.path])
    return count(json.dumps([found.value, cursor], ensure_ascii=False)) + _NAMES


class _Walk:
    """One walk through an answer; tracks the tokens that are left."""

    def __init__(self, left: int, count: Count) -> None:
        self._left = left
        self._count = count
        self._has_any = False
        """Whether any text was taken; if not, one must be, so that cutting makes progress."""
        self.overdrawn = 0
        """Tokens that a text was given beyond those that were left."""

    def take(self, value: Any, path: Path) -> Fitted:
        """As much of a value as fits, starting from a path in it."""
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
            # A cut key would be another key.
            kept = 0 if self._has_any else len(text)
        if kept < len(text) and kept < _MIN_TOKENS and self._has_any:
            return Fitted(None, [start])
        kept = kept or min(len(text), 1)
        self._left -= self._tokens(text[:kept])
        self._has_any = self._has_any or kept > SHORT
        stop = [start + kept] if kept < len(text) else None
        return Fitted(text[:kept], stop)

    def _within(self, text: str, left: int) -> int:
        """How many characters of a text fit into so many tokens."""
        high = min(len(text), max(0, left) * _MAX_TOKEN_LENGTH)
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
            if self._left < _MIN_TOKENS and (found or self._has_any):
                return Fitted(found, [place])
            self._left -= 1
            item, stop = self.take(value[place], path[1:] if place == first else [])
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
        # Short members are always included whole, wherever the walk stops, so they are paid
        # first.
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
            if self._left < _MIN_TOKENS and self._has_any:
                return Fitted(found, [name, *behind])
            item, stop = self.take(member, behind)
            if stop is not None and item is None:
                return Fitted(found, [name, *stop])
            found[name] = item
            if stop is not None:
                # Short members are included too, and are repeated in the continuation.
                found |= short
                return Fitted(found, [name, *stop])
        return Fitted(found, None)


def _is_short(value: Any, most: int) -> bool:
    return not isinstance(value, dict | list) and len(str(value)) <= most
