"""The digest that is made by rule: it quotes and counts."""

from hypothesis import given, settings
from hypothesis import strategies as st

from operations.domain.text.outline import (
    LONGEST_LINE,
    MOST_REQUESTS,
    OutlinedMessage,
    outline,
)
from threads.domain.message import Role
from threads.domain.part import Part, Text, ToolCall, ToolResult


def said(*messages: tuple[Role, tuple[Part, ...]]) -> list[OutlinedMessage]:
    return [
        OutlinedMessage(index, role, parts)
        for index, (role, parts) in enumerate(messages, 4)
    ]


def test_an_outline_quotes_the_requests_the_tools_and_the_last_answer() -> None:
    call = ToolCall("1", "bash", {"command": "pytest tests/unit"})
    failed = ToolResult("1", (Text("no"),), is_error=True)
    found = outline(
        said(
            (Role.SYSTEM, (Text("You are careful."),)),
            (Role.USER, (Text("Why do the\ntests fail?"),)),
            (Role.ASSISTANT, (Text("I run them."), call)),
            (Role.TOOL, (failed,)),
            (Role.ASSISTANT, (Text("src/app/urls.py lacks a route."),)),
            (Role.USER, (Text("Thanks."),)),
        )
    )
    assert found.splitlines() == [
        "Messages 4 to 9, outlined by rule, without a model.",
        "Asked:",
        "- Why do the tests fail? (message 5)",
        "- Thanks. (message 9)",
        "Tools: bash ×1; 1 failed",
        "Files: tests/unit, src/app/urls.py",
        "Commands: pytest tests/unit",
        "Last answer (message 8): src/app/urls.py lacks a route.",
    ]


def test_what_only_results_say_leaves_a_single_line() -> None:
    result = ToolResult("1", (Text("found src/app/urls.py"),))
    assert len(outline(said((Role.TOOL, (result,)))).splitlines()) == 1


def test_long_words_are_cut_and_many_requests_counted() -> None:
    asked = [(Role.USER, (Text(f"{n} " + "long " * 99),)) for n in range(20)]
    lines = outline(said(*asked)).splitlines()
    assert len(lines) == 2 + MOST_REQUESTS + 1
    assert lines[-2] == "- … 8 more …"
    assert lines[-1].startswith("- 19 long")
    assert max(map(len, lines)) <= LONGEST_LINE + len("-  (message 23)")


def test_many_names_are_counted() -> None:
    calls = tuple(ToolCall(str(n), f"tool{n}", {}) for n in range(14))
    line = outline(said((Role.ASSISTANT, calls))).splitlines()[1]
    assert line.endswith("tool11 ×1, … 2 more")


@given(st.lists(st.text(max_size=300), min_size=1, max_size=30))
@settings(max_examples=100)
def test_an_outline_of_any_words_stays_short(texts: list[str]) -> None:
    messages = said(*[(Role.USER, (Text(text),)) for text in texts])
    assert len(outline(messages)) < 15_000
