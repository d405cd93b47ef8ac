"""Tiers of results: the older the shorter."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextstudio.accounts.domain.errors import Invalid
from operations.domain.context.truncation import (
    GAP,
    Keep,
    Tiers,
    bare_hint,
    cut,
    hint,
    truncate,
)
from operations.domain.providers.request import Outgoing
from tests.operations.domain.providers.outgoings import count, out, result
from threads.domain.part import Image, Text, ToolResult

TIERS = Tiers()


def lengths(
    messages: list[Outgoing], tiers: Tiers = TIERS, active: int = 2
) -> list[int]:
    """The characters that are left of each result, without gaps and hints."""
    kept, step, _ = truncate(messages, tiers, active, count)
    assert step.after == sum(message.tokens for message in kept)
    assert step.before - sum(one.tokens for one in step.left_out) == step.after
    return [
        len(part.content[0].text.replace(GAP, "").replace(hint(one.key), ""))  # type: ignore[union-attr]
        for one in kept
        for part in one.parts
        if isinstance(part, ToolResult)
    ]


def test_the_five_most_recent_of_the_active_group_are_kept_longest() -> None:
    old = [out(0, 1, result(9000)), out(1, 1, result(9000))]
    active = [out(index, 2, result(9000)) for index in range(2, 9)]
    assert lengths([*old, out(9, 2, "words"), *active]) == [
        *(300, 300, 1000, 1000, 5000, 5000, 5000, 5000, 5000),
    ]


def test_results_count_one_by_one_within_a_message() -> None:
    together = out(0, 2, result(9000), result(9000), result(9000))
    assert lengths([together, out(1, 2, result(9000))], Tiers(recent_results=2)) == [
        *(1000, 1000, 5000, 5000),
    ]


def test_what_fits_is_not_touched() -> None:
    fits = [out(0, 1, result(300)), out(1, 2, result(5000)), out(2, 2, "words" * 5000)]
    kept, step, _ = truncate(fits, Tiers(), 2, count)
    assert all(one is given for one, given in zip(kept, fits, strict=True))
    assert step.left_out == ()


def test_a_hint_names_the_recall_outside_of_the_limit() -> None:
    (kept,), step, _ = truncate([out(7, 1, result(301))], Tiers(), 2, count)
    (part,) = kept.parts
    assert isinstance(part, ToolResult)
    assert part.content == (
        Text(
            "x" * 60
            + GAP
            + "x" * 240
            + '\n... [TRUNCATED. Use recall(ref_id="m7") to see the full output]'
        ),
    )
    assert kept.changed
    assert step.left_out[0].why == "Cut to 300 of 301 characters."
    assert step.left_out[0].tokens < 0


def test_who_can_not_recall_is_told_how_much_was_cut() -> None:
    messages = [out(7, 1, result(1500))]
    recalls = truncate(messages, TIERS, 2, count)
    # What was cut for one that can is not taken again.
    (kept,), step, _ = truncate(
        messages, TIERS, 2, count, recalls.cuts, can_recall=False
    )
    (part,) = kept.parts
    assert isinstance(part, ToolResult)
    assert bare_hint(1500, 300) == (
        "\n... [TRUNCATED. 1,200 of 1,500 characters of this result left out]"
    )
    cut_short = cut("x" * 1500, 300, Keep.HEAD_TAIL)
    assert part.content == (Text(cut_short + bare_hint(1500, 300)),)
    assert step.after == kept.tokens


def test_images_of_a_result_stay() -> None:
    image = Image("image/png", "0" * 64)
    shown = ToolResult("c", (Text("a" * 200), image, Text("b" * 200)))
    (kept,), *_ = truncate([out(0, 1, shown)], Tiers(keep=Keep.HEAD), 2, count)
    (part,) = kept.parts
    assert isinstance(part, ToolResult)
    text, other = part.content
    assert other == image
    assert text == Text("a" * 200 + "\n" + "b" * 99 + hint("m0"))


def test_head_alone_keeps_the_head() -> None:
    assert cut("abcdefghij", 5, Keep.HEAD) == "abcde"
    assert cut("abcdefghij", 5, Keep.HEAD_TAIL) == f"a{GAP}ghij"


PAIR = "\ud83d\ude00"


@pytest.mark.parametrize(
    ("text", "limit", "head"),
    [
        (f"ab{PAIR}cd", 3, "ab"),
        ("ae\u0301b", 2, "a"),
        ("a\U0001f469\u200d\U0001f467b", 3, "a"),
        ("a\u2764\ufe0fb", 2, "a"),
        ("a\U0001f44d\U0001f3fdb", 2, "a"),
        ("a\r\nb", 2, "a"),
        (f"{PAIR}{PAIR}{PAIR}", 3, PAIR),
    ],
)
def test_no_character_is_cut_in_two(text: str, limit: int, head: str) -> None:
    assert cut(text, limit, Keep.HEAD) == head


def test_a_text_of_nothing_but_accents_is_cut_all_the_same() -> None:
    accents = "e" + "\u0301" * 200
    assert len(cut(accents, 100, Keep.HEAD)) == 68
    assert len(cut(accents, 100, Keep.HEAD_TAIL)) == len(GAP) + 48


@pytest.mark.parametrize("name", ["recent_results", "recent", "older", "inactive"])
def test_a_limit_below_zero_is_refused(name: str) -> None:
    with pytest.raises(Invalid) as refused:
        Tiers(**{name: -1})  # type: ignore[arg-type]
    assert refused.value.at == ("truncation", name)


alphabet = st.sampled_from(
    ["a", "\ud83d", "\ude00", "\u0301", "\u200d", "\ufe0f", "\U0001f469", "\r", "\n"]
)


@settings(max_examples=200)
@given(
    st.text(alphabet, min_size=1, max_size=80),
    st.integers(0, 60),
    st.sampled_from(list(Keep)),
)
def test_a_cut_text_keeps_to_its_limit_and_splits_no_pair(
    text: str, limit: int, keep: Keep
) -> None:
    if len(text) <= limit:
        return
    short = cut(text, limit, keep)
    head, _, tail = short.partition(GAP) if keep is Keep.HEAD_TAIL else (short, "", "")
    assert len(head) + len(tail) <= limit
    assert text.startswith(head)
    assert text.endswith(tail)
    for piece, rest in (
        (head, text[len(head) :]),
        (text[: len(text) - len(tail)], tail),
    ):
        if piece and rest:
            assert not (
                "\ud800" <= piece[-1] <= "\udbff" and "\udc00" <= rest[0] <= "\udfff"
            )


def test_what_was_cut_so_before_is_taken_again() -> None:
    old, new = out(0, 2, result(9000)), [out(1, 2, result(9000)) for _ in range(5)]
    first = truncate([old], Tiers(), 2, count)
    again = truncate([old], Tiers(), 2, count, first.cuts)
    assert again.kept[0] is first.kept[0]
    behind = [old, *(one._replace(key=f"m{k}") for k, one in enumerate(new, 1))]
    assert truncate(behind, Tiers(), 2, count, first.cuts) == truncate(
        behind, Tiers(), 2, count
    )
    other = [out(0, 2, result(8000))]
    assert truncate(other, Tiers(), 2, count, first.cuts) == truncate(
        other, Tiers(), 2, count
    )
