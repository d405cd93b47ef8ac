"""Calls that Anthropic ran itself, and what they brought: both in one answer, or neither (R15)."""

from typing import Any

from operations.domain.providers.turns import Turn
from threads.domain.message import Role
from threads.domain.part import Opaque, Text

from . import findings
from .unsupported import describe
from .work import Work

_CALL = "server_tool_use"
_RESULT = "_tool_result"


def with_whole_blocks(turns: list[Turn], work: Work) -> list[Turn]:
    """The turns, in which words stand for a half that is alone."""
    if _CALL not in work.rules.opaque.get(Role.ASSISTANT, ()):
        return turns
    for turn in turns:
        for place in _lone(turn):
            piece = turn.pieces[place]
            assert isinstance(piece.part, Opaque)  # noqa: S101 - `_lone` names no others
            work.repaired(findings.SPLIT_BLOCK, piece)
            turn.pieces[place] = piece._replace(part=Text(describe(piece.part)))
    return turns


def _lone(turn: Turn) -> list[int]:
    """The places of calls without a result, and of results without a call before them."""
    waiting: dict[str, int] = {}
    lone: list[int] = []
    for place, piece in enumerate(turn.pieces):
        if not isinstance(piece.part, Opaque):
            continue
        type_, data = piece.part.type, piece.part.data
        if type_ == _CALL:
            if waiting.setdefault(str(data.get("id")), place) != place:
                lone.append(place)
        elif type_.endswith(_RESULT) and _answered(waiting, data) is None:
            lone.append(place)
    return [*lone, *waiting.values()]


def _answered(waiting: dict[str, int], data: dict[str, Any]) -> int | None:
    return waiting.pop(str(data.get("tool_use_id")), None)
