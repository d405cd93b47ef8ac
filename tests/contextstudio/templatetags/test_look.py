"""Numbers, times and ids as pages print them."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from contextstudio.templatetags import look
from contextstudio.web.static_files import version


def test_numbers_have_separated_thousands_and_true_signs():
    assert look.number(48310) == "48,310"
    assert look.number(None) == ""
    assert [look.signed(value) for value in (31, -25421, 0, None)] == [
        "+31",
        "−25,421",
        "±0",
        "",
    ]
    assert look.messages(1) == "1 message"
    assert look.messages(1204) == "1,204 messages"
    assert [look.tokens(count) for count in (0, 1, 1204)] == [
        "0 tokens",
        "1 token",
        "1,204 tokens",
    ]
    assert [look.more_tokens(count) for count in (-1, 0, 1, 1204)] == [
        "−1 token",
        "±0 tokens",
        "+1 token",
        "+1,204 tokens",
    ]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (100, 21, "−79%"),
        (100, 130, "+30%"),
        (100, 100, "±0%"),
        (100, 0, "−100%"),
        (234_161, 233_174, "−0.4%"),
        (234_161, 234_100, "−<0.1%"),
        (12_000, 14, "−99.8%"),
        (2, 40, "+1,900%"),
        (0, 12, ""),
        (None, 12, ""),
        (12, None, ""),
    ],
)
def test_a_change_is_told_in_per_cent_and_never_as_none_or_all_where_it_is_not(
    before: int | None, after: int | None, words: str
) -> None:
    assert look.percent_change(before, after) == words


def test_a_path_may_be_broken_behind_a_segment_and_is_escaped() -> None:
    assert look.breakable("src/app_1/a.py") == "src/<wbr>app_<wbr>1/<wbr>a.<wbr>py"
    assert look.breakable("../<b>/ ends.") == "../<wbr>&lt;b&gt;/ ends."


@pytest.mark.parametrize(
    ("passed", "words"),
    [
        (timedelta(seconds=5), "now"),
        (timedelta(minutes=8, seconds=20), "8 min"),
        (timedelta(hours=23, minutes=59), "23 h"),
        (timedelta(days=1), "1 day"),
        (timedelta(days=6, hours=1), "6 days"),
    ],
)
def test_a_recent_time_is_told_in_one_unit(passed, words):
    assert look.ago(timezone.now() - passed) == words


@pytest.mark.parametrize(
    ("passed", "words"),
    [
        (timedelta(seconds=5), "just now"),
        (timedelta(minutes=8), "8 min ago"),
        (timedelta(hours=2), "2 h ago"),
        (timedelta(days=1), "1 day ago"),
        (timedelta(days=3), "3 days ago"),
    ],
)
def test_in_a_sentence_a_recent_time_is_told_as_past(passed, words):
    assert look.time_ago(timezone.now() - passed) == words


def test_an_older_time_is_told_as_a_date():
    then = datetime(2026, 10, 5, 14, 38, tzinfo=UTC)
    assert look.ago(then) == look.time_ago(then) == "5 Oct 2026"
    assert look.ago(None) == look.time_ago(None) == ""


def test_the_id_of_a_node_is_its_key_without_dots():
    assert look.node_id("m12") == "n-m12"
    assert look.node_id("o7.0") == "n-o7_0"


def test_an_icon_points_into_the_sprite_and_is_not_read_out():
    assert look.icon("grip", "i--small") == (
        '<svg class="i i--small" aria-hidden="true"><use '
        f'href="/static/{version()}/icons.svg#grip"/></svg>'
    )


def test_a_moment_is_told_to_the_minute() -> None:
    assert look.moment(datetime(2026, 11, 5, 4, 2, 9, tzinfo=UTC)) == (
        "5 November 2026, 04:02 UTC"
    )
    assert look.moment(None) == ""
