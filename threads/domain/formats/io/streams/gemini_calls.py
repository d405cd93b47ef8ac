"""Calls that Gemini streams piece by piece, if a client asks for that.

The first piece has the name. The following ones have no name and give values for places in the
arguments (`partialArgs`); a text may come in several of them. A piece without `willContinue` is the
last of its call.

Source: cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling.
"""

import re
from itertools import pairwise
from typing import Any

from .stream import JSONObject

_CALL, _PIECES, _MORE = "functionCall", "partialArgs", "willContinue"
_STEP = re.compile(r"""\.([^.\[\]]+)|\[(\d{1,5})\]|\[(['"])(.*?)\3\]""")
MAX_STEPS = 64
MAX_SKIPPED = 1_000
"""The most elements of a list that may be skipped before one that has a value."""
_VALUES = ("stringValue", "numberValue", "boolValue")


class GrowingCall:
    """A call assembled from its pieces."""

    def __init__(self, part: JSONObject) -> None:
        self._head, self._args = part, dict[str, Any]()
        self._is_open, self._goes_on = True, ""
        self._take(part[_CALL])

    @staticmethod
    def begins(part: JSONObject) -> bool:
        """Whether a part is the first piece of a call."""
        call = part.get(_CALL)
        return isinstance(call, dict) and (call.get(_MORE) is True or _PIECES in call)

    @property
    def part(self) -> JSONObject:
        """The call as without streaming, as far as it arrived."""
        call = self._head[_CALL]
        named = {one: call[one] for one in call if one not in (_PIECES, _MORE)}
        return {**self._head, _CALL: {**named, "args": self._args}}

    def take(self, part: JSONObject) -> bool:
        """Take one more piece; False if it does not belong to this call."""
        call = part.get(_CALL)
        if not self._is_open or not isinstance(call, dict) or call.get("name"):
            return False
        self._head = {**part, **self._head}
        self._take(call)
        return True

    def _take(self, call: JSONObject) -> None:
        self._is_open = call.get(_MORE) is True
        if isinstance(given := call.get("args"), dict):
            self._args |= given
        pieces = call.get(_PIECES)
        for piece in pieces if isinstance(pieces, list) else ():
            if isinstance(piece, dict) and isinstance(piece.get("jsonPath"), str):
                self._put(piece["jsonPath"], piece)

    def _put(self, path: str, piece: JSONObject) -> None:
        value = next((piece[name] for name in _VALUES if name in piece), None)
        steps = _steps(path)
        holder: Any = self._args
        for step, following in pairwise(steps):
            holder = _inside(holder, step, following)
        if steps and _has_room(holder, steps[-1]):
            before = holder[steps[-1]]
            is_more = self._goes_on == path and isinstance(before, str)
            if is_more and isinstance(value, str):
                value = before + value
            holder[steps[-1]] = value
        self._goes_on = path if piece.get(_MORE) is True else ""


def _steps(path: str) -> list[str | int]:
    """The names and indexes of a JSON path; empty for a path that isn't understood."""
    found: list[str | int] = []
    at = len("$") if path.startswith("$") else 0
    while at < len(path):
        step = _STEP.match(path, at)
        if step is None or len(found) == MAX_STEPS:
            return []
        name, index, _, quoted = step.groups()
        found.append(int(index) if index else name or quoted or "")
        at = step.end()
    return found


def _inside(holder: Any, step: str | int, following: str | int) -> Any:
    """The value at a step, created as a list or an object as the next step needs."""
    if not _has_room(holder, step):
        return None
    if holder[step] is None:
        holder[step] = [] if isinstance(following, int) else {}
    return holder[step]


def _has_room(holder: Any, step: str | int) -> bool:
    """Whether the holder can have a value at this step; a missing value is set to None."""
    if isinstance(step, str):
        if isinstance(holder, dict):
            holder.setdefault(step, None)
        return isinstance(holder, dict)
    if not isinstance(holder, list) or step - len(holder) > MAX_SKIPPED:
        return False
    holder += [None] * (step + 1 - len(holder))
    return True
