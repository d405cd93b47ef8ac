"""Searching for regular expressions: what a hostile one may take."""

import subprocess
import sys
from pathlib import Path

import pytest

from contextstudio.accounts.domain.errors import Invalid
from operations.domain.text.pattern import MAX_MATCHES, Stretch
from operations.messages import expressions
from operations.messages.expressions import HARMLESS, SearchExpression

NESTED = "(" * 200 + r"\w|\s" + ")" * 200 + "+$(?!)"
"""An expression that remembers two hundred groups of each letter."""
PEAK = f"""
import re
from pathlib import Path
from operations.messages.expressions import SearchExpression
try:
    list(SearchExpression({NESTED!r}, "").find("word foo bar 1234 " * 50_000))
except Exception as refusal:
    print(refusal.code)
status = Path("/proc/self/status").read_text()
print(int(re.search(r"VmHWM:\\s+([0-9]+)", status)[1]) >> 10)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the peak")
def test_a_hostile_expression_takes_no_memory_of_the_server() -> None:
    told = subprocess.run(  # this Python
        [sys.executable, "-c", PEAK],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=True,
    )
    refusal, peak = told.stdout.split()
    assert refusal == "too_large"
    assert int(peak) < 150


def test_what_a_search_may_take_is_bounded_for_each_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "word foo bar 1234 " * 5_000
    monkeypatch.setattr(expressions, "MEMORY", 16 << 20)
    with pytest.raises(Invalid, match="too much memory"):
        SearchExpression(NESTED, "").find(text)


def test_a_replacement_that_repeats_groups_without_measure_is_refused() -> None:
    for text in ("a" * 2_000, "a" * 200_000):
        search = SearchExpression("(?s)(.+)", r"\1" * 20_000)
        with pytest.raises(Invalid, match="too much memory"):
            search.find(text)


def test_what_other_threads_take_of_the_processor_is_not_the_search_s(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The package's limit counts them: what is given up by it is searched where it is alone."""

    def given_up(*_: object, **__: object) -> None:
        raise TimeoutError

    monkeypatch.setattr(expressions, "search", given_up)
    found = SearchExpression(r"(\w+) boats", r"\1").find("Two boats")
    assert list(found) == [Stretch(0, 9, "Two")]


def test_a_long_text_is_searched_as_a_short_one() -> None:
    long = "x" * HARMLESS
    text = f"{long} key=abc {long} key=😀\udcff {long}"
    found = list(SearchExpression(r"key=(\S+)", r"\1!").find(text))
    assert found == [
        Stretch(len(long) + 1, len(long) + 8, "abc!"),
        Stretch(2 * len(long) + 10, 2 * len(long) + 16, "😀\udcff!"),
    ]
    again = SearchExpression("x", "").find(text)
    assert len(list(again)) == MAX_MATCHES + 1


def test_a_process_that_was_killed_is_replaced() -> None:
    text = "x" * HARMLESS
    assert list(SearchExpression("xx$", "y").find(text))
    [process] = expressions._idle
    process.end()
    assert list(SearchExpression("xx$", "y").find(text))
