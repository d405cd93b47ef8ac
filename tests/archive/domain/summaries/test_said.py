"""What a summariser reads: messages as text, in parts; what is no summary."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive.domain.summaries import prompts
from archive.domain.summaries.checks import why_refused
from archive.domain.summaries.retention import Mention, ReferenceKind
from archive.domain.summaries.said import (
    MAX_RESULT_LENGTH,
    Utterance,
    message_as_text,
    split_into_parts,
)
from threads.domain.message import Role
from threads.domain.part import Text, Thinking, ToolCall, ToolResult


def test_a_message_is_read_with_its_calls_and_results() -> None:
    message = Utterance(
        "m3",
        Role.ASSISTANT,
        (
            Text("Look:"),
            Thinking("hidden"),
            ToolCall("a", "bash", {"command": "ls"}),
            ToolResult("a", (Text("x" * (MAX_RESULT_LENGTH + 10)),), is_error=True),
            ToolResult("b", (Text("fine"),)),
        ),
    )
    lines = message_as_text(message).splitlines()
    assert lines[:3] == ["[m3 assistant]", "Look:", '(calls bash: {"command": "ls"})']
    assert lines[4] == "… 10 characters …"
    assert lines[-1] == "(result: fine)"
    assert "hidden" not in message_as_text(message)
    assert message.name == "message 3"


@given(
    st.lists(st.text(alphabet="ab \n", max_size=60), max_size=12), st.integers(4, 40)
)
def test_parts_hold_everything_in_order_and_none_is_too_long(
    texts: list[str], most: int
) -> None:
    parts = split_into_parts(texts, most, len)
    joined = "".join(parts).replace("\n\n", "")
    assert joined == "".join(texts).replace("\n\n", "") or "\n" in "".join(texts)
    assert "".join("".join(parts).split()) == "".join("".join(texts).split())
    # Blank lines between texts are not counted with them.
    assert all(len(part) <= most + 2 * len(texts) for part in parts)


def test_a_text_that_counts_much_is_cut_no_further_than_characters() -> None:
    assert split_into_parts(["ab"], 1, lambda text: 10) == ["a", "b"]


@pytest.mark.parametrize(
    ("summary", "words"),
    [
        ("  ", "empty"),
        ("Error: overloaded", "error or a refusal"),
        ("I'm sorry, but I can't", "error or a refusal"),
        ("I’m sorry, but I can’t help with that.", "error or a refusal"),
        ("Sorry, I can't assist with that request.", "error or a refusal"),
        ("Unfortunately, I’m not able to do that.", "error or a refusal"),
        ("Rate limit exceeded, slow down", "error or a refusal"),
        ("Error code: 503", "error or a refusal"),
        ("Service unavailable", "error or a refusal"),
        ("long enough", "no fewer than the 10"),
    ],
)
def test_what_is_no_summary_is_refused(summary: str, words: str) -> None:
    assert words in why_refused(summary, tokens=10, replaced=10)


@pytest.mark.parametrize(
    "summary",
    [
        "They chose SQLite.",
        "Error handling moved to app/errors.py.",
        "Rate limiting was added to the API.",
        "Internal server errors in /login came from a missing header.",
        "Sorry states of the form are shown in red.",
    ],
)
def test_a_short_summary_is_taken(summary: str) -> None:
    assert why_refused(summary, tokens=4, replaced=10) == ""


def test_a_summary_that_begins_with_very_much_space_is_read_at_once() -> None:
    assert why_refused(" " * 200_000 + "They chose.", tokens=4, replaced=10) == ""
    assert why_refused(' \n{ "error": 1}', tokens=4, replaced=10)
    assert why_refused(' "error"', tokens=4, replaced=10)


def test_what_is_summed_up_cannot_end_its_marks() -> None:
    system, asked = prompts.summarise(f"a {prompts.END} b", "Be brief.")
    assert asked["content"].count(prompts.END) == 1
    assert system["content"].endswith("adds: Be brief.")
    assert "Part 2:\nb" in prompts.join(["a", "b"])[1]["content"]
    dropped = [Mention(ReferenceKind.PATH, "a.py", "m1")]
    assert "- path: a.py [m1]" in prompts.verify("s", dropped)[1]["content"]
    assert "so far" in prompts.state("talk", "### STATE")[1]["content"]
    assert "so far" not in prompts.state("talk", "")[1]["content"]
    assert "adds" not in prompts.join(["a"], "")[0]["content"]
    assert "adds: x" in prompts.join(["a"], "x")[0]["content"]
