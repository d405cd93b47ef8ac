"""The order of speakers (R3, R4): alternating, a user first, and a user or a tool last."""

from collections.abc import Iterator

from operations.domain.providers.turns import Turn, TurnPart
from threads.domain.message import Role
from threads.domain.part import Text, ToolCall

from . import findings
from .work import Work

OPENER = "[The conversation so far follows.]"
CLOSER = "[This is where the conversation stands.]"
BRIDGE = "[The results above were read.]"


def alternate_speakers(turns: list[Turn], work: Work) -> list[Turn]:
    """The turns in an order that the provider allows; at least one."""
    if not turns:
        work.report(findings.NOTHING)
    if not work.rules.alternates:
        return turns or [_made_turn(Role.USER, OPENER)]
    begins = not turns or turns[0].role is not Role.USER
    if begins and not work.draft.follows:
        if turns:
            work.report(findings.FIRST, turns[0].pieces[0])
            work.break_from(0)
        turns = [_made_turn(Role.USER, OPENER), *turns]
    arranged = _join_speakers(turns, work)
    if work.rules.bridges:
        arranged = list(_with_bridges(arranged, work))
    if arranged[-1].role is Role.ASSISTANT and not work.draft.is_followed:
        work.report(findings.LAST, arranged[-1].pieces[0])
        arranged.append(_made_turn(Role.USER, CLOSER))
    return arranged


def _join_speakers(turns: list[Turn], work: Work) -> list[Turn]:
    joined: list[Turn] = []
    for turn in turns:
        if not joined or joined[-1].role is not turn.role:
            joined.append(turn)
            continue
        held = joined[-1]
        if held.keys != turn.keys and held.keys:
            is_read = work.rules.merges and not _is_call_moved(held, turn, work)
            finding = findings.MERGED if is_read else findings.IN_A_ROW
            work.report(finding, turn.pieces[0])
        joined[-1] = Turn(held.role, [*held.pieces, *turn.pieces], held.name)
    return joined


def _is_call_moved(held: Turn, turn: Turn, work: Work) -> bool:
    """Whether an operation brings calls behind an answer, in a way that the provider refuses.

    What its model itself said in pieces, it takes in pieces.
    """
    has_calls = any(isinstance(piece.part, ToolCall) for piece in turn.pieces)
    is_next = work.is_next(held.pieces[-1], turn.pieces[0])
    return work.rules.calls_apart and has_calls and not is_next


def _with_bridges(turns: list[Turn], work: Work) -> Iterator[Turn]:
    last = Role.USER
    for turn in turns:
        if last is Role.TOOL and turn.role is Role.USER:
            work.report(findings.BRIDGE, turn.pieces[0])
            yield _made_turn(Role.ASSISTANT, BRIDGE)
        last = turn.role
        yield turn


def _made_turn(role: Role, words: str) -> Turn:
    return Turn(role, [TurnPart(Text(words))])


def join_results(turns: list[Turn]) -> list[Turn]:
    """Combine results and the user's message after them into one user turn."""
    joined: list[Turn] = []
    last: Role | None = None
    for turn in turns:
        if last is Role.TOOL and turn.role is Role.USER:
            joined[-1] = Turn(Role.USER, [*joined[-1].pieces, *turn.pieces])
        else:
            is_result = turn.role is Role.TOOL
            joined.append(Turn(Role.USER, turn.pieces) if is_result else turn)
        last = turn.role
    return joined
