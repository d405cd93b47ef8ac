"""Images and files out of results, where only text may stand in them (R15)."""

from collections.abc import Sequence
from dataclasses import replace

from threads.domain.message import Role
from threads.domain.part import File, Image, Text, ToolResult

from . import findings
from .turn import Piece, Turn
from .work import Work

LEAD = "[What the tools above brought:]"


def without_media(turns: Sequence[Turn], work: Work) -> list[Turn]:
    """The turns with what results may not hold in a user's turn behind them (R15)."""
    kept: list[Turn] = []
    for turn in turns:
        kept.append(turn)
        if turn.role is Role.TOOL and (media := _taken_out(turn, work)):
            kept.append(Turn(Role.USER, [Piece(Text(LEAD)), *media]))
    return kept


def _taken_out(turn: Turn, work: Work) -> list[Piece]:
    """Takes images and files out of a turn's results."""
    rules = work.rules
    taken: list[Piece] = []
    for place, piece in enumerate(turn.pieces):
        part = piece.part
        assert isinstance(part, ToolResult)  # noqa: S101 - a tool's turn holds nothing else
        if rules.result_media and (rules.error_media or not part.is_error):
            continue
        media = [item for item in part.content if isinstance(item, Image | File)]
        if media:
            work.repaired(findings.MOVED_MEDIA, piece)
            texts = tuple(item for item in part.content if item not in media)
            turn.pieces[place] = piece._replace(part=replace(part, content=texts))
            taken += [piece._replace(part=item) for item in media]
    return taken
