"""What is cut out of a message for a recall."""

from hypothesis import given, settings
from hypothesis import strategies as st

from archive.domain.excerpt import at_location, lines_of, matching, within
from archive.domain.reference import Location
from threads.domain.part import File, Image, Text, ToolCall, ToolResult

FOUND_TEXT = "a.py:1: one\n\nb.py:2: two\nc.py:3: three"
FOUND = ToolResult("1", (Text(FOUND_TEXT),))


def test_without_a_location_all_of_a_message_is_recalled() -> None:
    call = ToolCall("1", "bash", {"command": "ls"})
    assert at_location((Text("I look."), call), None) == "I look.\nbash\nls"


def test_what_is_no_text_is_named_below_the_text() -> None:
    image, file = Image("image/png"), File("application/pdf", "plan.pdf")
    shown = "[An image (image/png) stands here; only text is recalled.]"
    screenshot = ToolResult("1", (image,))
    assert at_location((screenshot,), None) == shown
    assert at_location((screenshot,), Location("tool", 1, 1)) == shown
    assert at_location((Text("See this."), file), None) == (
        'See this.\n[The file "plan.pdf" (application/pdf) stands here; only text is recalled.]'
    )
    assert at_location((FOUND, screenshot), Location("tool", 1, 1)) == FOUND_TEXT


def test_a_match_is_a_line_that_is_not_blank() -> None:
    assert at_location((FOUND,), Location("match", 2, 2)) == "b.py:2: two"
    assert at_location((FOUND,), Location("match", 4, 4)) is None


def test_lines_are_cut_at_the_end_of_the_text() -> None:
    assert (
        at_location((FOUND,), Location("lines", 3, 9)) == "b.py:2: two\nc.py:3: three"
    )
    assert lines_of("one", Location("lines", 2, 2)) is None


def test_a_tool_is_the_nth_call_or_where_there_is_none_the_nth_result() -> None:
    calls = (Text("Both."), ToolCall("1", "a", {}), ToolCall("2", "b", {"x": "é"}))
    assert at_location(calls, Location("tool", 2, 2)) == 'b {\n "x": "é"\n}'
    assert at_location((FOUND,), Location("tool", 1, 1)) == FOUND_TEXT
    assert at_location(calls, Location("tool", 3, 3)) is None


def test_a_search_keeps_the_lines_that_hold_it() -> None:
    assert matching("One\ntwo\nnone", "ONE") == ["One", "none"]


@given(st.text(max_size=400), st.integers(1, 60))
@settings(max_examples=100)
def test_a_text_is_cut_to_the_tokens_that_it_may_have(text: str, most: int) -> None:
    def count(words: str) -> int:
        return -(-len(words) // 3)

    kept = within(text, most, count)
    assert text.startswith(kept)
    assert count(kept) <= most
    assert kept == text or count(text[: len(kept) + 1]) > most
