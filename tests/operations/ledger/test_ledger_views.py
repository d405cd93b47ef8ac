"""What operations cost and save, as the drawer says it."""

from dataclasses import replace
from fractions import Fraction
from unittest.mock import patch

import pytest

from operations.context.model_catalog import Prices, prices_of
from operations.context.services import assemble_session
from operations.domain.ledger.ledger import Price, Tariff, bill
from operations.domain.log.operation import Digest, Edit, Insert, Redact, Revise
from operations.ledger.rows import LedgerRow, is_to_save
from operations.ledger.services import LedgerEstimate
from operations.ledger.views import line_of, note_of
from tests.operations.conftest import Page

SONNET = Price(*(Fraction(text) / 1_000_000 for text in ("3", "3.75", "0.3")))
TARIFF = Tariff(tiers=((0, SONNET),), minimum=1024)
KNOWN, UNKNOWN = (
    Prices(tariff=TARIFF, model=model, estimated=()) for model in ("sonnet", "")
)


def said(
    before: int, after: int, prefix: int, prices: Prices = KNOWN, *seals: str
) -> str:
    row = LedgerRow(
        operation="o1",
        bill=bill(before, after, prefix, TARIFF),
        first="m1",
        seals=seals,
        exact=True,
    )
    return line_of(row, prices).text


def test_a_line_says_what_is_rewritten_saved_and_when_it_pays() -> None:
    assert said(100_000, 60_000, 20_000) == (
        "Rewrites 40,000 tokens once ($0.14), saves 40,000 per turn ($0.012),"
        " breaks even after 12 turns"
    )
    assert said(100_000, 60_000, 20_000, UNKNOWN, "m9") == (
        "Rewrites 40,000 tokens once, saves 40,000 per turn, breaks even after 12 turns,"
        " drops signed thinking from 1 answer"
    )
    assert said(50_000, 40_000, 40_000) == (
        "Saves 10,000 per turn ($0.0030), breaks even at once"
    )
    assert said(50_000, 50_200, 50_000) == (
        "Rewrites 200 tokens once ($0.00069), adds 200 per turn (under $0.0001), never breaks even"
    )
    assert said(50_000, 50_000, 40_000).endswith("saves nothing, never breaks even")
    assert said(1100, 1000, 500) == (
        "Saves 100 per turn, but is then too short to cache ($0.0027), never breaks even"
    )
    assert said(800, 700, 500) == "Saves 100 per turn ($0.00030), breaks even at once"


def test_a_line_says_in_one_pair_of_brackets_what_a_turn_costs_and_how_it_differs() -> (
    None
):
    row = LedgerRow(
        operation="o1",
        bill=bill(50_000, 40_000, 40_000, TARIFF),
        first="m1",
        seals=(),
        exact=True,
        frame=29,
    )
    known, unknown = line_of(row, KNOWN).text, line_of(row, UNKNOWN).text
    assert "10,000 per turn ($0.0030; 29 less than in the thread), breaks" in known
    assert "10,000 per turn (29 less than in the thread), breaks" in unknown
    more = line_of(replace(row, frame=-6_163), UNKNOWN).text
    assert "10,000 per turn (6,163 more than in the thread), breaks" in more
    none = replace(row, bill=bill(50_000, 50_000, 40_000, TARIFF), frame=4_689)
    assert "saves nothing (4,689 less than in the thread)" in line_of(none, KNOWN).text


def test_what_is_not_there_to_save_has_its_cost_alone(page: Page) -> None:
    page.edit("insert", after="m0", role="user", text="Keep it short.")
    page.edit("resequence", moved="m8", number="3")
    page.edit("digest", targets="m12", summary="Much longer than it was. " * 20)
    lines = page.get("ledger").content.decode().split("<p ")
    inserted, moved, digest = lines[1:4]
    assert "Adds" in inserted
    assert "dds nothing per turn" in moved
    for line in (inserted, moved):
        assert "never" not in line
        assert "saves" not in line
        assert "icons.svg#warn" not in line
    assert "never breaks even" in digest


@pytest.mark.parametrize(
    ("edit", "saved", "expected"),
    [
        (Digest(targets=("m1",), messages=()), -5, True),
        (Revise(targets=("m1",), messages=()), -5, False),
        (Revise(targets=("m1",), messages=()), 5, True),
        (Insert(after="m1", messages=()), -5, False),
        (Redact(spans=()), 5, False),
    ],
)
def test_what_saves_is_there_to_save(edit: Edit, saved: int, expected: bool) -> None:
    assert is_to_save(edit, saved) is expected


@pytest.mark.parametrize(
    ("provider", "model", "note"),
    [
        (
            "anthropic",
            "claude-sonnet-4-5",
            "Estimated for Anthropic, claude-sonnet-4-5: $3.00 per million tokens, $3.75"
            " to write them to its cache, $0.30 to read them from it.",
        ),
        (
            "openai",
            "gpt-4",
            "$30.00 to write them to its cache, $3.00 to read them from it (es",
        ),
        ("openai", "", "the price of its model is unknown, turns assume"),
        ("mistral", "own", "the price of own is unknown, no caching is assumed."),
    ],
)
def test_the_drawer_says_with_which_prices_it_estimates(
    provider: str, model: str, note: str
) -> None:
    prices = prices_of(provider, model)
    assert note in note_of(LedgerEstimate(provider, model, prices, (), {}, None))


def test_the_lines_are_estimated_once_for_what_they_depend_on(page: Page) -> None:
    """As long as nothing changes, looking again costs no context."""
    page.edit("snip", targets="m10 m11")
    with patch(
        "operations.ledger.services.assemble_session", wraps=assemble_session
    ) as made:
        for _ in range(2):
            assert "Saves" in page.get("ledger").content.decode()
        assert made.call_count == 1
        page.edit("snip", targets="m1", stage="1")
        page.get("ledger")
        assert made.call_count == 2


def test_a_long_thread_is_estimated_when_somebody_asks(page: Page) -> None:
    page.edit("snip", targets="m10 m11")
    with patch("operations.ledger.views.MAX_UNASKED", 10):
        first = page.get("ledger").content.decode()
        second = page.get("ledger", asked="1").content.decode()
    assert 'data-action="estimate"' in first
    assert "Saves" not in first
    assert "Saves" in second
    assert 'data-action="estimate"' not in second


def test_the_drawer_asks_for_a_line_of_each_operation(page: Page) -> None:
    page.edit("digest", targets="m5 m6 m7", summary="Much longer than it was. " * 20)
    page.edit("tag", targets="m1", tags="x")
    page.edit("snip", targets="m10 m11", propose="1")
    answer = page.client.get(f"/sessions/{page.session.pk}/ledger").content.decode()
    assert 'data-late="o1"' in answer
    assert "icons.svg#warn" in answer
    assert "never breaks even" in answer
    assert 'data-late="o2"' not in answer  # it changes nothing that is sent
    assert 'data-late="o3"' in answer
    assert "If applied: saves" in answer
    panel = page.client.get(f"/sessions/{page.session.pk}/panel").content.decode()
    assert panel.count('class="op-cost" data-late=') == 3
    assert panel.count("data-awaited") == 2  # a tag will have no line
    page.edit("tag", targets="m2", tags="y", propose="1")
    panel = page.client.get(f"/sessions/{page.session.pk}/panel").content.decode()
    assert panel.count("data-awaited") == 2  # nor has a proposed one
    with patch("operations.editor.panels.drawer.MAX_UNASKED", 10):
        panel = page.client.get(f"/sessions/{page.session.pk}/panel").content.decode()
    assert "data-awaited" not in panel
