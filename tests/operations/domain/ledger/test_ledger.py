"""What a change costs once and saves each turn: the sums of docs/ledger.md."""

from dataclasses import replace
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from operations.domain.ledger.ledger import (
    PrefixChange,
    Price,
    PromptPiece,
    Tariff,
    bill,
    bill_of_saving,
    clear_at_least,
    combined_bill,
    first_change,
)

MILLION = 1_000_000


def price(token: str, write: str, read: str) -> Price:
    """In dollars for a million tokens."""
    return Price(*(Fraction(text) / MILLION for text in (token, write, read)))


CLAUDE = Tariff(tiers=((0, price("3", "3.75", "0.3")),), minimum=1024)
OPENAI = Tariff(tiers=((0, price("1.25", "1.25", "0.125")),), minimum=1024, block=128)
UNCACHED = Tariff(tiers=((0, price("3", "3", "3")),))


def test_the_sums_of_the_document() -> None:
    found = bill(100_000, 60_000, 20_000, CLAUDE)
    assert (found.prefix, found.kept, found.rewritten) == (20_000, 20_000, 40_000)
    assert (found.saved, found.uncached) == (40_000, 0)
    # 40,000 written at 3.75 instead of read at 0.30; 40,000 fewer read at 0.30.
    assert (float(found.once), float(found.per_turn)) == (0.138, 0.012)
    assert found.turns == 12  # 11.5, and the first counts


def test_changes_together_are_rewritten_once_from_the_first_on() -> None:
    """As one change of the same request, whether they were made or wait."""
    whole = bill(100_000, 60_000, 20_000, CLAUDE)
    waiting = [
        bill(100_000, 70_000, 50_000, CLAUDE),
        bill(100_000, 90_000, 20_000, CLAUDE),
    ]
    assert combined_bill(waiting, CLAUDE, waits=True) == whole
    made = [bill(90_000, 60_000, 20_000, CLAUDE), bill(70_000, 60_000, 50_000, CLAUDE)]
    assert combined_bill(made, CLAUDE, waits=False) == whole


def test_a_change_takes_no_more_from_a_request_than_stands_behind_it() -> None:
    """The thread counts text that a request cuts short or leaves out."""
    waiting = bill_of_saving(5_000, 90_000, 2_000, CLAUDE, waits=True)
    assert (waiting.before, waiting.after, waiting.saved) == (5_000, 2_000, 3_000)
    made = bill_of_saving(5_000, -90_000, 2_000, CLAUDE, waits=False)
    assert (made.before, made.after, made.saved) == (2_000, 5_000, -3_000)
    together = combined_bill([waiting, waiting], CLAUDE, waits=True)
    assert (together.after, together.saved) == (2_000, 3_000)


def test_a_change_that_saves_nothing_never_pays() -> None:
    assert bill(50_000, 50_000, 10_000, CLAUDE).turns is None
    assert bill(50_000, 50_500, 10_000, CLAUDE).turns is None
    assert bill(50_000, 50_500, 10_000, UNCACHED).turns is None


def test_what_is_cut_from_the_end_pays_at_once() -> None:
    found = bill(50_000, 40_000, 40_000, CLAUDE)
    assert (found.rewritten, found.once, found.turns) == (0, 0, 0)


def test_where_nothing_is_cached_what_is_saved_is_saved_at_the_full_price() -> None:
    found = bill(50_000, 40_000, 10_000, UNCACHED)
    assert (found.kept, found.rewritten, found.uncached) == (0, 0, 40_000)
    assert (float(found.per_turn), found.turns) == (0.03, 0)
    assert bill(900, 800, 0, CLAUDE).per_turn == Fraction(100 * 3, MILLION)


def test_to_fall_below_what_is_cached_makes_each_turn_dearer() -> None:
    found = bill(1100, 1000, 500, CLAUDE)
    assert found.per_turn == Fraction(33, 100_000) - Fraction(3, 1000)
    assert (found.turns, found.uncached) == (None, 1000)


def test_a_prefix_that_is_too_short_is_rewritten_with_the_rest() -> None:
    found = bill(3000, 2000, 1000, CLAUDE)
    assert (found.prefix, found.kept, found.rewritten) == (1000, 0, 2000)


def test_prefixes_are_kept_in_whole_blocks() -> None:
    found = bill(10_000, 5000, 2000, OPENAI)
    assert (found.kept, found.rewritten, found.uncached) == (1920, 3072, 8)


def test_a_request_is_billed_by_its_tier_whole() -> None:
    long = price("6", "7.5", "0.6")
    tariff = replace(CLAUDE, tiers=(*CLAUDE.tiers, (200_001, long)))
    found = bill(210_000, 150_000, 100_000, tariff)
    assert float(found.per_turn) == 0.081  # 210,000 at 0.60, then 150,000 at 0.30
    assert float(found.once) == 0.1725  # 50,000 written at the lower price
    assert tariff.price(200_000) != tariff.price(200_001) == long


def test_the_least_that_a_provider_should_clear_just_pays() -> None:
    tokens, prefix, turns = 100_000, 20_000, 10
    least = clear_at_least(tokens, prefix, turns, CLAUDE)
    assert least == 42_791
    assert bill(tokens, tokens - least, prefix, CLAUDE).turns == turns
    assert bill(tokens, tokens - least + 1, prefix, CLAUDE).turns == turns + 1
    assert clear_at_least(tokens, prefix, turns, UNCACHED) is None


def test_the_earliest_change_is_found_with_the_tokens_before_it() -> None:
    one, two, three = (PromptPiece(f"m{n}", n, 10 * n) for n in (1, 2, 3))
    other = two._replace(identity="other")
    assert first_change([one, two], [one, two]) is None
    assert first_change([one, two, three], [one, other, three]) == PrefixChange(
        "m2", 10
    )
    assert first_change([one, two, three], [one, three]) == PrefixChange("m3", 10)
    assert first_change([one, two], [one, two, three]) == PrefixChange("m3", 30)
    assert first_change([one, two], [one]) == PrefixChange("m2", 10)
    assert first_change([], []) is None


tokens = st.integers(0, 300_000)
parts = st.fractions(min_value=0, max_value=5, max_denominator=100)


@st.composite
def tariffs(draw: st.DrawFn) -> Tariff:
    """With a surcharge for writing and a discount for reading, as all have it."""
    tiers = []
    for least in (0, *draw(st.sampled_from(((), (200_001,))))):
        token = draw(parts) + Fraction(1, 100)
        write = token * (1 + draw(parts))
        tiers.append((least, Price(token, write, token / (1 + draw(parts)))))
    minimum = draw(st.none() | st.integers(1, 5000))
    return Tariff(
        tiers=tuple(tiers), minimum=minimum, block=draw(st.sampled_from((1, 64, 128)))
    )


@given(tokens, tokens, st.none() | tokens, tariffs())
def test_the_figures_of_any_change_agree(
    before: int, after: int, prefix: int | None, tariff: Tariff
) -> None:
    found = bill(before, after, prefix, tariff)
    assert found.kept + found.rewritten + found.uncached == after
    assert min(found.kept, found.rewritten, found.uncached, found.once) >= 0
    assert found.kept <= found.prefix <= min(before, after)
    if found.per_turn <= 0 < found.once or found.per_turn < 0:
        assert found.turns is None
    else:
        assert found.turns is not None
        assert found.turns * found.per_turn >= found.once
        assert found.turns == 0 or (found.turns - 1) * found.per_turn < found.once
    if prefix is None and before == after:
        assert (found.rewritten, found.once, found.turns) == (0, 0, 0)


@given(tokens, tokens, tariffs())
def test_the_earlier_a_change_the_more_is_rewritten(
    size: int, place: int, tariff: Tariff
) -> None:
    early, late = (bill(size, size, prefix, tariff) for prefix in (place // 2, place))
    assert early.rewritten >= late.rewritten
    assert early.once >= late.once
