"""A message as one text, and again with other words."""

from hypothesis import given
from hypothesis import strategies as st

from operations.domain.text.wording import (
    CAPPED,
    LINE,
    SHOWN,
    condensed,
    first_lines,
    reworded,
    words_of,
)
from threads.domain.part import Image, Text, Thinking, ToolCall, ToolResult

CALL = ToolCall("1", "bash", {"command": "ls"})
PICTURE = Image("image/png", sha256="0" * 64)


def test_the_words_are_those_of_all_texts() -> None:
    assert words_of((Thinking("hm"), Text("a"), CALL, Text("b"))) == "a\n\nb"


def test_without_texts_the_words_are_those_of_results() -> None:
    assert words_of((ToolResult("1", (Text("out"), PICTURE)),)) == "out"


def test_other_words_leave_calls_pictures_and_reasoning_alone() -> None:
    parts = (Thinking("hm", "seal"), Text("a"), CALL, Text("b"), PICTURE)
    assert reworded(parts, "c") == (Thinking("hm", "seal"), Text("c"), CALL, PICTURE)


def test_a_result_keeps_its_id_and_its_pictures() -> None:
    parts = (ToolResult("1", (PICTURE, Text("out")), "bash", True),)
    assert reworded(parts, "short") == (
        ToolResult("1", (PICTURE, Text("short")), "bash", True),
    )


def test_of_several_results_none_goes() -> None:
    parts = (ToolResult("1", (Text("a"),)), ToolResult("2", (Text("b"),)))
    assert reworded(parts, "c") == (ToolResult("1", (Text("c"),)), ToolResult("2", ()))


def test_a_message_without_words_gets_some() -> None:
    assert reworded((CALL,), "why") == (CALL, Text("why"))
    assert reworded((CALL,), "") == (CALL,)


def test_what_is_condensed_keeps_its_calls_and_the_ids_of_its_results() -> None:
    assert condensed((Thinking("hm"), Text("a"), PICTURE), "c") == (Text("c"),)
    assert condensed((CALL,), "c") == (Text("c"), CALL)
    results = (
        ToolResult("1", (Text("out"), PICTURE), "bash", True),
        ToolResult("2", ()),
    )
    assert condensed((*results, Text("b")), "c") == (
        ToolResult("1", (Text("c"),), "bash", True),
        ToolResult("2", ()),
    )


@given(st.text(min_size=1))
def test_words_that_were_put_in_are_read_back(text: str) -> None:
    assert words_of(reworded((Text("old"), CALL), text)) == text


def test_of_many_lines_the_first_are_given_and_all_are_counted() -> None:
    texts = ["one\n\ntwo", *["more"] * CAPPED]
    lead, lines = first_lines(texts)
    assert lines == CAPPED + 2
    assert lead.splitlines() == ["one", "two", *["more"] * (SHOWN - 2)]


def test_a_long_line_counts_as_many_and_is_cut() -> None:
    lead, lines = first_lines(["x" * (LINE * 20 + 1)])
    assert lines == 21
    assert len(lead) == LINE * SHOWN


def test_few_lines_may_all_be_shown() -> None:
    assert first_lines(["short"] * CAPPED) == ("", CAPPED)
