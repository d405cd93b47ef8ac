"""Condensed lines, in the words of document 1."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive.domain.pruning.condensing import (
    condensed_use,
    condensed_words,
    exit_status,
    matches,
    removed,
    short,
    with_lines,
)
from archive.domain.pruning.tool_uses import ToolUse, tool_uses
from threads.domain.part import Image, Text, Thinking, ToolCall, ToolResult

REF = "msg-1a2b3c4d"


def use(name: str, arguments: object, text: str, *, failed: bool = False) -> ToolUse:
    call = ToolCall("1", name, arguments)
    answer = ToolResult("1", (Text(text),), None, failed)
    (found,) = tool_uses([(call,), (answer,)])
    return found


@pytest.mark.parametrize(
    ("found", "line"),
    [
        (
            use("Read", {"file_path": "src/a.py"}, "a\nb\nc"),
            f"📎 Viewed src/a.py - 3 lines [recall:{REF}]",
        ),
        (
            use("Read", {"file_path": "a.py", "offset": 2, "limit": 4}, "a"),
            f"📎 Viewed a.py - lines 2-5 [recall:{REF}]",
        ),
        (
            use("Read", {"file_path": "a.py"}, "a"),
            f"📎 Viewed a.py - 1 line [recall:{REF}]",
        ),
        (
            use("Grep", {"pattern": "def x", "path": "src"}, "a:1\nb:2\n\n"),
            f"🔍 Searched 'def x' in src - 2 matches [recall:{REF}]",
        ),
        (
            use("Glob", {"pattern": "*.py"}, "No files found"),
            f"🔍 Searched '*.py' in . - 0 matches [recall:{REF}]",
        ),
        (
            use("Bash", {"command": "pytest -q"}, "Exit code 2\nfailed"),
            f"⚡ Ran: pytest -q - exit 2 [recall:{REF}]",
        ),
        (
            use("Edit", {"file_path": "a.py", "old_string": "x"}, "done"),
            f"✏️ Edited a.py [recall:{REF}]",
        ),
        (
            use("Agent", {"prompt": "look"}, "It  is\nthere"),
            f"📝 It is there [recall:{REF}]",
        ),
        (use("Agent", {}, ""), f"📝 Agent [recall:{REF}]"),
    ],
)
def test_document_1_condensed_lines(found: ToolUse, line: str) -> None:
    assert condensed_use(found, REF).line == line


def test_commands_have_50_characters_and_summaries_80() -> None:
    ran = condensed_use(use("Bash", {"command": "x" * 90}, ""), REF)
    assert ran.line == f"⚡ Ran: {'x' * 49}… - done [recall:{REF}]"
    told = condensed_use(use("Agent", {}, "y" * 90), REF)
    assert told.line == f"📝 {'y' * 79}… [recall:{REF}]"
    assert short("a  b", 3) == "a b"
    assert short("a b c", 3) == "a …"


@given(st.text("ab \n", max_size=30), st.integers(2, 12))
def test_words_are_cut_as_if_all_were_read(text: str, most: int) -> None:
    words = " ".join(text.split())
    assert short(text, most) == (
        words if len(words) <= most else f"{words[: most - 1]}…"
    )


@pytest.mark.parametrize(
    ("reason", "line"),
    [
        ("An old error", "An old error"),
        ("src/app.py was\nedited", "src/app.py was edited"),
        (f"/{'long/' * 30}app.py was edited", f"…/{'long/' * 10}app.py was edited"),
        (f"/x/{'n' * 90}.py was edited", f"…{'n' * 56}.py was edited"),
        ("word " * 40, f"…{' word' * 14}"),
    ],
)
def test_a_removed_result_says_which_file_it_was_and_what_was_done(
    reason: str, line: str
) -> None:
    assert removed(reason, "msg-1") == f"📝 Removed: {line} [recall:msg-1]"
    assert len(f"Removed: {line}") <= 80


def test_a_result_without_a_call_is_told_by_its_own_name() -> None:
    (found,) = tool_uses([(ToolResult("9", (Text("body"),), "web"),)])
    assert condensed_use(found, REF).line == f"📝 body [recall:{REF}]"
    assert found.name == "web"
    (nameless,) = tool_uses([(ToolResult("9", ()),)])
    assert condensed_use(nameless, REF) == (f"📝  [recall:{REF}]", "other", "", ())


def test_exit_codes_are_read_where_tools_write_them() -> None:
    ok = use("Bash", {"command": "x"}, "")
    assert exit_status(ok, "Process exited with code 3") == "exit 3"
    assert exit_status(ok, '{"exit_code": 1}') == "exit 1"
    assert exit_status(ok, "exit status: 0") == "exit 0"
    assert exit_status(use("Bash", {"command": "x"}, "", failed=True), "") == "failed"


def test_matches_are_told_or_counted() -> None:
    assert matches("Found 12 files\na\nb") == 12
    assert matches("no matches for x") == 0
    assert matches("a\n\nb") == 2


def test_an_answer_keeps_its_calls_and_loses_its_long_texts() -> None:
    long = "z" * 300
    parts = (
        Thinking("hm"),
        Text("word " * 20),
        Text("more"),
        ToolCall("1", "Write", {"file_path": "a.py", "content": long}),
        ToolCall("2", "Agent", {"prompts": [long, "short"], "n": 3}),
        Image("image/png", "0" * 64),
    )
    found = condensed_words(parts, REF, is_long=True)
    assert found == (
        Text(f"📝 {('word ' * 16).strip()[:79]}… [recall:{REF}]"),
        ToolCall(
            "1",
            "Write",
            {"file_path": "a.py", "content": f"✏️ Edited a.py [recall:{REF}:tool-1]"},
        ),
        ToolCall(
            "2",
            "Agent",
            {"prompts": [f"📝 {'z' * 79}… [recall:{REF}:tool-2]", "short"], "n": 3},
        ),
        Image("image/png", "0" * 64),
    )
    short_one = (Text("few"), ToolCall("1", "ls", {"path": "a"}))
    assert condensed_words(short_one, REF, is_long=False) == short_one


def test_a_line_takes_the_place_of_its_result_and_others_stay_whole() -> None:
    results = [ToolResult(str(number), (Text("long"),)) for number in range(3)]
    parts = (results[0], Text("word"), results[1], results[2])
    assert with_lines(parts, [None, "short", None]) == (
        results[0],
        Text("word"),
        ToolResult("1", (Text("short"),)),
        results[2],
    )
