"""The structural digest: what can be said of a range without a model."""

import re

from markdown_it import MarkdownIt

from archive.domain.summaries.said import Utterance
from archive.domain.summaries.structural import MAX_LISTED, structural_digest
from threads.domain.message import Role
from threads.domain.part import Part, Text, ToolCall, ToolResult


def said(index: int, role: Role, *parts: Part) -> Utterance:
    return Utterance(f"m{index}", role, parts)


THREAD = [
    said(3, Role.USER, Text("Why does\nlogin fail? See docs/login.md.")),
    said(4, Role.ASSISTANT, ToolCall("a", "Read", {"file_path": "src/auth.py"})),
    said(5, Role.TOOL, ToolResult("a", (Text("KeyError: 'user'"),))),
    said(
        6,
        Role.ASSISTANT,
        Text("We decided to use a session. We decided to use a session."),
        ToolCall("b", "Edit", {"file_path": "src/login.py", "old_string": "x"}),
        ToolCall("c", "Bash", {"command": "pytest -q"}),
    ),
    said(7, Role.TOOL, Text("We agreed."), ToolResult("b", (Text("ok"),))),
    said(8, Role.ASSISTANT, Text("It works now.")),
]


def test_it_says_what_was_asked_done_failed_and_decided() -> None:
    assert structural_digest(THREAD).splitlines() == [
        "Messages 3 to 8, summed up by rule, without a model.",
        "Asked:",
        "- Why does login fail? See docs/login.md. (message 3)",
        "",
        "Changed: src/login.py",
        "Read: src/auth.py",
        "Files: docs/login.md",
        "Commands:",
        "- `pytest -q`",
        "",
        "Tools: Read ×1, Edit ×1, Bash ×1",
        "Failed:",
        "- KeyError: 'user' (message 5)",
        "",
        "Decided:",
        "- We decided to use a session. (message 6)",
        "",
        "Last answer (message 8): It works now.",
    ]


def test_what_follows_a_list_is_not_read_as_a_part_of_its_last_line() -> None:
    shown = MarkdownIt().render(structural_digest(THREAD))
    assert re.findall("<li>(.*?)</li>", shown, re.DOTALL) == [
        "Why does login fail? See docs/login.md. (message 3)",
        "<code>pytest -q</code>",
        "KeyError: 'user' (message 5)",
        "We decided to use a session. (message 6)",
    ]


def test_lines_that_were_headings_or_in_lists_are_quoted_as_plain_lines() -> None:
    notes = "- We decided on SQLite.\n> * agreed: no cache\n-1 was chosen"
    thread = [said(0, Role.USER, Text("# Plan")), said(1, Role.ASSISTANT, Text(notes))]
    lines = structural_digest(thread).splitlines()
    assert lines[2] == "- Plan (message 0)"
    assert lines[5:8] == [
        "- We decided on SQLite. (message 1)",
        "- agreed: no cache (message 1)",
        "- -1 was chosen (message 1)",
    ]


def test_one_message_and_inserted_ones_are_named() -> None:
    one = said(0, Role.USER, Text("Hello"))
    assert structural_digest([one]).startswith("Message 0, summed up by rule")
    made = Utterance("o2.0", Role.USER, (Text("x" * 500),))
    first, *_, last = structural_digest([one, made]).splitlines()
    assert first.startswith("Message 0 to o2.0, ")
    assert last.endswith("… (o2.0)")  # a long message is cut
    assert "without a model" in first


def test_long_sections_are_cut_in_the_middle_and_say_so() -> None:
    many = [said(index, Role.USER, Text(f"Ask {index}")) for index in range(20)]
    lines = structural_digest(many).splitlines()
    assert lines[-2:] == ["- … 8 more …", "- Ask 19 (message 19)"]
    assert len(lines) == MAX_LISTED + 3
    whole = structural_digest(many[:MAX_LISTED]).splitlines()
    assert whole[-1] == f"- Ask {MAX_LISTED - 1} (message {MAX_LISTED - 1})"
    assert "more" not in "".join(whole)


def test_long_lines_of_names_say_how_many_more() -> None:
    calls = [ToolCall(str(n), "Read", {"file_path": f"src/{n}.py"}) for n in range(14)]
    text = structural_digest([said(0, Role.ASSISTANT, *calls)])
    assert ", … 2 more" in text
