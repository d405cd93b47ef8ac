"""Which memos matter for what was said."""

from datetime import UTC, datetime

from archive.domain.excerpt import summary_of
from archive.domain.memo import ReadableMemo, keywords, layer_text, relevant, tagged
from threads.domain.part import Text, ToolCall, ToolResult


def note(content: str, *tags: str, day: int = 1) -> ReadableMemo:
    return ReadableMemo(
        id=content,
        content=content,
        tags=tags,
        project="demo",
        session_id=None,
        actor="key:1",
        actor_name="agent",
        created_at=datetime(2026, 1, day, tzinfo=UTC),
    )


CLOCKS = note("Moments are stored in UTC: clocks differ.", "time", "arch-decision")
HOLDS = note("Seat holds end after 20 minutes.", "gotcha", day=2)
LATER = note("Clocks of terminals are wrong.", day=3)


def test_keywords_are_words_that_say_something() -> None:
    assert keywords("Okay, and now continue with the CLOCKS, please") == {"clocks"}
    assert keywords("Yes. Go on!") == set()


def found(said: str, most: int = 5) -> list[ReadableMemo]:
    notes = [CLOCKS, HOLDS, LATER]
    return [match.note for match in relevant(notes, keywords(said), most)]


def test_document_2_memos_with_more_of_the_words_come_first_then_newer_ones() -> None:
    assert found("Are moments and clocks in UTC?") == [CLOCKS, LATER]
    assert found("the clocks") == [LATER, CLOCKS]
    assert found("the clocks", 1) == [LATER]
    assert found("any decision on arch") == [CLOCKS]
    assert found("bananas") == []


def test_a_memo_says_by_which_words_it_was_found() -> None:
    (first, second) = relevant([CLOCKS, LATER], keywords("clocks in terminals"), 5)
    assert first.why == 'Shares "clocks", "terminals" with the last question.'
    assert second.why == 'Shares "clocks" with the last question.'
    (many,) = relevant(
        [note("three four five six seven eight", day=1)],
        keywords("three four five six seven, and EIGHT"),
        5,
    )
    assert many.why == (
        'Shares "eight", "five", "four", "seven", "six" and 1 more with the last question.'
    )


def test_memos_are_found_by_any_of_their_tags() -> None:
    notes = [LATER, HOLDS, CLOCKS]
    assert tagged(notes, ["GOTCHA"]) == [HOLDS]
    assert tagged(notes, ["gotcha", "time", "arch-decision"]) == [CLOCKS, HOLDS]


def test_memos_are_read_as_a_list() -> None:
    assert layer_text([]) == ""
    assert layer_text([HOLDS, LATER]).splitlines() == [
        "## Memos",
        "",
        "- Seat holds end after 20 minutes. [gotcha]",
        "- Clocks of terminals are wrong.",
    ]


def test_a_summary_is_the_first_words_on_one_line() -> None:
    parts = (Text("x"), ToolCall("1", "Read", {}), ToolResult("1", (), "Grep"))
    assert summary_of(parts) == "x"
    assert summary_of((ToolResult("1", (Text("out\nput"),)),)) == "out put"
    assert len(summary_of((Text("word " * 99),))) == 80
