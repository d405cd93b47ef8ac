"""Results and a user's words behind them in one message, where a provider has no tool's role."""

from collections.abc import Iterator, Sequence

from threads.domain.message import Role

from .turn import Turn


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
