"""What a digest keeps to itself."""

from hypothesis import given
from hypothesis import strategies as st

from operations.domain.text.left_out import LeftOutNames, left_out
from threads.domain.part import Text, ToolCall, ToolResult


def test_paths_commands_and_numbers_that_the_summary_lacks_are_named() -> None:
    originals = [
        (Text("See src/app/urls.py and README.md: 41 of 44 pass"),),
        (ToolCall("1", "bash", {"command": "pytest  -q\ntests/unit"}),),
    ]
    assert left_out(originals, "Everything passes.") == LeftOutNames(
        ("src/app/urls.py", "README.md", "tests/unit"),
        ("pytest -q tests/unit",),
        ("41", "44"),
    )


def test_what_the_summary_has_is_kept() -> None:
    originals = [(Text("src/app/urls.py has 1,284 lines"),)]
    assert left_out(originals, "Looked at urls.py, 1284 lines") == LeftOutNames(
        (), (), ()
    )


def test_a_member_of_an_object_is_no_file() -> None:
    said = "until.time is None; see holds.py, data.parquet and README.MD"
    assert left_out([(Text(said),)], "").paths == (
        "holds.py",
        "data.parquet",
        "README.MD",
    )


def test_a_number_inside_another_is_not_that_number() -> None:
    assert left_out([(Text("41 pass"),)], "of 1412").numbers == ("41",)


def test_what_tools_print_is_not_searched() -> None:
    printed = ToolResult("1", (Text("a/b.py c/d.py 100 200"),))
    assert left_out([(printed,)], "").sentence == ""


def test_it_is_counted_in_words() -> None:
    assert LeftOutNames(("a", "b"), ("c",), ()).sentence == "2 paths and 1 command"
    assert (
        LeftOutNames(("a",), ("b",), ("1", "2")).sentence
        == "1 path, 1 command and 2 numbers"
    )
    assert LeftOutNames((), (), ("7",)).sentence == "1 number"


def test_commands_given_as_a_list_are_joined() -> None:
    call = ToolCall("1", "shell", {"command": ["git", "status", 3]})
    assert left_out([(call,)], "").commands == ("git status",)


def test_arguments_that_are_no_object_are_searched_for_paths_only() -> None:
    call = ToolCall("1", "x", [{"deep": ["a/b.txt"]}])
    assert left_out([(call,)], "") == LeftOutNames(("a/b.txt",), (), ())


@given(st.text())
def test_a_text_leaves_nothing_of_itself_out(text: str) -> None:
    found = left_out([(Text(text),)], text)
    assert found.numbers == ()
    assert found.paths == ()
