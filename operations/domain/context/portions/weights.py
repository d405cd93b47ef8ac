"""The tokens of messages that go out, as their provider reads them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from operations.domain.context.compiling import joining_tokens
from operations.domain.context.step import Count
from operations.domain.providers.request import Compiled, Outgoing
from operations.domain.providers.turns import MADE, TurnPart
from operations.domain.tree.key import Key
from threads.domain.part import Text, ToolResult


def added_tokens(
    compiled: Compiled, messages: Sequence[Outgoing], count: Count
) -> Iterator[int]:
    """For each of `Compiled.messages`, the tokens that the compiler added.

    These are the prompt, bridges, stubs for missing results, and blank lines between joined texts,
    which count with the first message of their turn.
    """
    turns = {id(piece): turn for turn in compiled.turns for piece in turn.pieces}
    counted: set[int] = set()
    for pieces in compiled.sources:
        if not pieces:
            yield count((Text(compiled.prompt),))
            continue
        new = [piece for piece in pieces if id(piece) not in counted]
        turn = turns[id(pieces[0])]
        joining = 0 if id(turn) in counted else joining_tokens(turn, count)
        counted |= {id(turn), *map(id, new)}
        made = [one.part for one in new if one.place == MADE or _is_stub(one, messages)]
        yield joining + (count(made) if made else 0)


def stub_tokens(
    compiled: Compiled, messages: Sequence[Outgoing], count: Count
) -> Mapping[Key, int]:
    """The tokens of the stubs for missing results, by the message with the calls."""
    found: Counter[Key] = Counter()
    for turn in compiled.turns:
        for piece in turn.pieces:
            if _is_stub(piece, messages):
                found[messages[piece.place].key] += count((piece.part,))
    return found


def _is_stub(piece: TurnPart, messages: Sequence[Outgoing]) -> bool:
    return (
        isinstance(piece.part, ToolResult)
        and piece.place != MADE
        and not messages[piece.place].result_ids
    )
