"""The retention check: what messages name that a summary drops."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive.domain.summaries.retention import (
    Mention,
    ReferenceKind,
    as_lines,
    check_retention,
    error_of,
    imperatives,
)
from archive.domain.summaries.said import Utterance
from threads.domain.message import Role
from threads.domain.part import Text, ToolCall, ToolResult


def user(text: str, key: str = "m0") -> Utterance:
    return Utterance(key, Role.USER, (Text(text),))


def assistant(text: str, key: str = "m1") -> Utterance:
    return Utterance(key, Role.ASSISTANT, (Text(text),))


def result(text: str, *, failed: bool = False, key: str = "m3") -> Utterance:
    part = ToolResult("c", (Text(text),), is_error=failed)
    return Utterance(key, Role.TOOL, (part,))


SAID = [
    user("Never touch settings/base.py. What of the 8080?"),
    assistant("See https://sqlite.org/wal.html. It has 1284 lines."),
    Utterance(
        "m2",
        Role.ASSISTANT,
        (
            ToolCall(
                "c",
                "bash",
                {"command": "make test", "at": ["https://a.example/x"], "n": 3},
            ),
        ),
    ),
    result("Traceback\nKeyError: 'port'\n"),
]


def test_every_kind_is_found_with_the_first_message_that_names_it() -> None:
    found = check_retention(SAID, "")
    assert found.retained == 0
    assert set(found.dropped) == {
        Mention(ReferenceKind.PATH, "settings/base.py", "m0"),
        Mention(ReferenceKind.IMPERATIVE, "Never touch settings/base.py.", "m0"),
        Mention(ReferenceKind.NUMBER, "8080", "m0"),
        Mention(ReferenceKind.URL, "https://sqlite.org/wal.html", "m1"),
        Mention(ReferenceKind.NUMBER, "1284", "m1"),
        Mention(ReferenceKind.COMMAND, "make test", "m2"),
        Mention(ReferenceKind.URL, "https://a.example/x", "m2"),
        Mention(ReferenceKind.ERROR, "KeyError: 'port'", "m3"),
    }


def test_what_a_summary_says_is_kept() -> None:
    summary = (
        "They must never touch the settings (base.py); port 8080, 1,284 lines, see "
        "https://sqlite.org/wal.html and https://a.example/x. `make test` ended in a KeyError."
    )
    assert check_retention(SAID, summary) == (8, ())


def test_a_reference_counts_once_however_often_it_is_named() -> None:
    twice = [assistant("src/a.py", "m1"), assistant("src/a.py again", "m2")]
    found = check_retention(twice, "")
    assert [one.key for one in found.dropped] == ["m1"]


@pytest.mark.parametrize(
    ("text", "failed", "line"),
    [
        ("ok", False, ""),
        ("error: nothing", False, ""),
        ("make: *** [test] Error 2\nbye", True, "make: *** [test] Error 2"),
        ("gone wrong", True, "gone wrong"),
        ("", True, ""),
        ("  x.ValueError: bad  ", False, "x.ValueError: bad"),
    ],
)
def test_an_error_is_the_line_that_says_what_went_wrong(
    text: str, failed: bool, line: str
) -> None:
    assert error_of(ToolResult("c", (Text(text),), is_error=failed)) == line


def test_imperatives_are_what_the_user_told_the_model() -> None:
    text = (
        "<reminder>Always do this.</reminder>\nThanks a lot for that. Use tabs not spaces! "
        "Stop. You must keep the port."
    )
    assert imperatives(text) == ["Use tabs not spaces!", "You must keep the port."]
    assert check_retention([assistant("Always use tabs here.")], "").dropped == ()


def test_an_error_without_a_name_must_be_quoted() -> None:
    said = [result("disk is full", failed=True)]
    assert len(check_retention(said, "It failed.").dropped) == 1
    assert check_retention(said, "disk is full").dropped == ()


def test_references_are_listed_a_line_each() -> None:
    dropped = check_retention([assistant("src/a.py")], "").dropped
    assert as_lines(dropped) == "- path: src/a.py [m1]"


@given(st.text(max_size=400))
def test_a_text_that_is_its_own_summary_drops_nothing(text: str) -> None:
    assert check_retention([user(text)], text).dropped == ()


@given(st.text(max_size=200), st.text(max_size=200))
def test_what_is_retained_and_dropped_is_all_there_is(text: str, summary: str) -> None:
    every = len(check_retention([user(text)], "").dropped)
    found = check_retention([user(text)], summary)
    assert found.retained + len(found.dropped) == every
