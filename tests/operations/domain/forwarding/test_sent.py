import pytest
from hypothesis import given
from hypothesis import strategies as st

from operations.domain.forwarding.sent import (
    PassedMessages,
    PieceRun,
    SentBlock,
    SentMessage,
    change_between,
    numbers_of,
    runs_of,
)
from operations.domain.forwarding.splice import GivenRun

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


def test_a_block_that_grew_finds_the_numbers_of_its_new_messages_alone() -> None:
    messages = [SentMessage(GivenRun(at, at + 1), (f"m{at}",), at) for at in range(5)]
    block = SentBlock(tuple(messages[:3]))
    block.runs = [PieceRun(7, 9), PieceRun(2, 3)]
    grown, whole = block.extended(messages[3:]), SentBlock(tuple(messages))
    for name in ("messages", "pieces", "tokens"):
        assert getattr(grown, name) == getattr(whole, name)
    grown.number({messages[3]: 3, messages[4]: 9}.__getitem__)
    assert grown.runs == [PieceRun(7, 9), PieceRun(2, 4), PieceRun(9, 10)]
    assert block.runs == [PieceRun(7, 9), PieceRun(2, 3)]


def passed() -> PassedMessages:
    """Two blocks that went out as they came; the third message is made of two."""
    blocks = [
        SentBlock((SentMessage(b"a", ("m0",), 1), SentMessage(b"b", ("m1",), 2))),
        SentBlock((SentMessage(b"c", ("m2", "m3"), 3), SentMessage(b"d", ("m4",), 4))),
    ]
    blocks[0].runs, blocks[1].runs = [PieceRun(7, 9)], [PieceRun(2, 4)]
    return PassedMessages(blocks)


def test_messages_that_went_out_as_they_came_are_a_block_with_their_numbers() -> None:
    block = passed().block([0, 1], ["m0", "m1"])
    assert block is not None
    assert (block.tokens, block.pieces) == (3, (GivenRun(0, 2),))
    assert [(one.keys, number) for one, number in block.numbered()] == [
        (("m0",), 7),
        (("m1",), 8),
    ]


@pytest.mark.parametrize(
    ("places", "keys"),
    [
        ([0, 1], ["m0"]),
        ([0, 3], ["m0", "m4"]),
        ([0, 1], ["m0", "m4"]),
        ([2], ["m2"]),
        ([3, 4], ["m4", "m5"]),
    ],
    ids=["fewer", "not in a row", "of another", "of two", "past the end"],
)
def test_messages_that_are_not_each_made_of_one_key_are_no_block(
    places: list[int], keys: list[str]
) -> None:
    assert passed().block(places, keys) is None
