from hypothesis import given
from hypothesis import strategies as st

from operations.domain.forwarding.sent import (
    PieceRun,
    SentBlock,
    SentMessage,
    change_between,
    numbers_of,
    runs_of,
)

NUMBERS = st.lists(st.integers(0, 30), max_size=40)


@given(NUMBERS)
def test_runs_give_back_the_pieces_of_a_request(numbers: list[int]) -> None:
    assert numbers_of(runs_of(numbers)) == numbers


@given(st.integers(0, 5000), st.integers(1, 50))
def test_a_request_that_goes_on_is_one_run(length: int, more: int) -> None:
    assert runs_of(range(length + more)) == [PieceRun(0, length + more)]


@given(NUMBERS, NUMBERS)
def test_the_tokens_of_a_change_are_those_of_the_request(
    before: list[int], after: list[int]
) -> None:
    tokens = {number: number + 1 for number in {*before, *after}}
    found = change_between(before, after, tokens)
    assert found.kept + found.again + found.new == sum(tokens[one] for one in after)
    assert before[: found.place] == after[: found.place]
    assert found.extends == (after[: len(before)] == before)
    if found.extends:
        assert found.dropped == 0
    only = [one for one in before if one not in after]
    assert found.dropped == sum(tokens[one] for one in only)


def test_what_stands_behind_a_change_is_read_again() -> None:
    tokens = dict.fromkeys(range(6), 10)
    found = change_between([0, 1, 2, 3], [0, 4, 2, 3, 5], tokens)
    assert (found.place, found.kept, found.again, found.new) == (1, 10, 20, 20)
    assert (found.dropped, found.extends) == (10, False)


def test_a_block_knows_the_numbers_of_its_messages_once_it_is_kept() -> None:
    messages = tuple(SentMessage(piece, ("m0",), 1) for piece in (b"a", b"b", b"c"))
    block = SentBlock(messages)
    block.runs = [PieceRun(4, 6), PieceRun(1, 2)]
    assert list(block.numbered()) == list(zip(messages, (4, 5, 1), strict=True))
