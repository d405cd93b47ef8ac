"""Who speaks when (R3, R4): speakers in turn, a user first, and none but a user or tool last."""

from collections.abc import Iterable, Iterator, Sequence

from operations.domain.providers.turns import Piece, Turn
from threads.domain.message import Role
from threads.domain.part import Text

from . import findings
from .findings import Finding
from .work import Work

OPENER = "[The conversation so far follows.]"
CLOSER = "[This is where the conversation stands.]"
BRIDGE = "[The results above were read.]"


def alternated(turns: list[Turn], work: Work) -> list[Turn]:
    """The turns as the provider lets them follow one another; at least one."""
    if not turns:
        work.found(findings.NOTHING)
    if not work.rules.alternates:
        return turns or [_made(Role.USER, OPENER)]
    return list(_ended(_bridged(_joined(_opened(turns, work), work), work), work))


def _opened(turns: list[Turn], work: Work) -> Iterator[Turn]:
    if not turns or turns[0].role is not Role.USER:
        if turns:
            _report(findings.FIRST, turns[0], work)
            work.breaks(0)
        yield _made(Role.USER, OPENER)
    yield from turns


def _joined(turns: Iterable[Turn], work: Work) -> Iterator[Turn]:
    held: Turn | None = None
    for turn in turns:
        if held is not None and held.role is turn.role:
            if held.keys != turn.keys and held.keys:
                finding = findings.MERGED if work.rules.merges else findings.IN_A_ROW
                _report(finding, turn, work)
            held = Turn(held.role, [*held.pieces, *turn.pieces], held.name)
            continue
        if held is not None:
            yield held
        held = turn
    if held is not None:
        yield held


def _bridged(turns: Iterable[Turn], work: Work) -> Iterator[Turn]:
    last = Role.USER
    for turn in turns:
        if work.rules.bridges and last is Role.TOOL and turn.role is Role.USER:
            _report(findings.BRIDGE, turn, work)
            yield _made(Role.ASSISTANT, BRIDGE)
        last = turn.role
        yield turn


def _ended(turns: Iterable[Turn], work: Work) -> Iterator[Turn]:
    last: Turn | None = None
    for turn in turns:
        last = turn
        yield turn
    if last is not None and last.role is Role.ASSISTANT:
        _report(findings.LAST, last, work)
        yield _made(Role.USER, CLOSER)


def _report(finding: Finding, turn: Turn, work: Work) -> None:
    work.found(finding, turn.pieces[0])


def _made(role: Role, words: str) -> Turn:
    return Turn(role, [Piece(Text(words))])


def joined_results(turns: Sequence[Turn]) -> Iterator[Turn]:
    """The turns with results and the user's words behind them as one user's turn."""
    held: Turn | None = None
    for turn in turns:
        if held is not None and turn.role is Role.USER:
            yield Turn(Role.USER, [*held.pieces, *turn.pieces])
            held = None
            continue
        if held is not None:
            yield held
            held = None
        if turn.role is Role.TOOL:
            held = Turn(Role.USER, turn.pieces)
        else:
            yield turn
    if held is not None:
        yield held
