"""Which files a call views or edits, by tables of tools and of commands."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive.domain.pruning.file_use import (
    FileUse,
    command_of,
    is_same_file,
)
from archive.domain.pruning.tool_uses import ToolUse
from threads.domain.part import ToolCall

PATCH = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** End Patch"


def uses(name: str, arguments: Any) -> list[FileUse]:
    return list(ToolUse(call=ToolCall("1", name, arguments)).files)


def view(path: str, first: int = 1, last: int | None = None) -> FileUse:
    return FileUse(path, False, first, last)


def edit(path: str) -> FileUse:
    return FileUse(path, is_edit=True)


@pytest.mark.parametrize(
    ("name", "arguments", "found"),
    [
        ("Read", {"file_path": "a.py"}, [view("a.py")]),
        (
            "Read",
            {"file_path": "a.py", "offset": 5, "limit": 10},
            [view("a.py", 5, 14)],
        ),
        ("read", {"filePath": "a.py", "limit": 9}, [view("a.py", 1, 9)]),
        ("view", {"path": "a.py", "view_range": [3, 8]}, [view("a.py", 3, 8)]),
        ("view", {"path": "a.py", "view_range": [3, -1]}, [view("a.py", 3)]),
        ("view", {"path": "a.py", "view_range": ["x", None]}, [view("a.py")]),
        ("open", {"path": "a.py", "line_number": 7}, [view("a.py", 7)]),
        ("read_files", {"files": ["a.py", "b.py"]}, [view("a.py"), view("b.py")]),
        ("Edit", {"file_path": "a.py", "old_string": "x"}, [edit("a.py")]),
        ("Write", {"file_path": "a.py", "content": "x"}, [edit("a.py")]),
        ("apply_patch", PATCH, [edit("src/a.py")]),
        ("str_replace_based_edit_tool", {"command": "view", "path": "a"}, [view("a")]),
        (
            "str_replace_based_edit_tool",
            {"command": "str_replace", "path": "a"},
            [edit("a")],
        ),
        ("Grep", {"pattern": "x", "path": "src"}, []),
        ("TodoWrite", {"todos": []}, []),
    ],
)
def test_tools_of_the_harnesses_are_known(
    name: str, arguments: Any, found: list[FileUse]
) -> None:
    assert uses(name, arguments) == found


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("cat a.py", [view("a.py")]),
        ("cd src && cat a.py b.py", [view("a.py"), view("b.py")]),
        ("sed -n '10,20p' a.py", [view("a.py", 10, 20)]),
        ("sed -n 10,$p a.py", [view("a.py", 10)]),
        ("sed -n 7p a.py", [view("a.py", 7, 7)]),
        ("nl -ba a.py | sed -n '1,40p'", [view("a.py", 1, 40)]),
        ("head -n 30 a.py", [view("a.py", 1, 30)]),
        ("head -30 a.py", [view("a.py", 1, 30)]),
        ("cat a.py | head", [view("a.py", 1, 10)]),
        ("tail a.py", [view("a.py", 2)]),
        ("sed 's/a/b/' a.py", []),
        ("cat a.py | grep x", []),
        ("cat", []),
        ("cat a.py && pytest", []),
        ("pytest -q", []),
        ("cat 'a.py", []),
        ("sed -i 's/a/b/' a.py", [edit("a.py")]),
        ("echo x > a.py", [edit("a.py")]),
        ("pytest > /dev/null", []),
        ("pytest *> $null", []),
        ("pytest > NUL", []),
        ("pytest > null.txt", [edit("null.txt")]),
        ("echo x | tee a.py", [edit("a.py")]),
        ("rm -f a.py b.py", [edit("a.py"), edit("b.py")]),
        ("mv a.py b.py", [edit("a.py"), edit("b.py")]),
        ("mv a.py", []),
        ("cat b.py; sed -i s/a/b/ a.py", [edit("a.py")]),
        ("cat > a.md <<'EOF'\nIt's done: rm b.py > c.py\nEOF", [edit("a.md")]),
        ("cat <<-A > a.py; rm c.py\n'\n\tA\ncat b.py", [edit("a.py"), edit("c.py")]),
        (
            'tee a.py <<A <<"B"\nrm c.py\nA\nrm d.py\nB\nrm e.py',
            [edit("a.py"), edit("e.py")],
        ),
        ("cat <<EOF\nrm b.py\nEOF", []),
        ("echo $((1 << width))\nrm b.py", [edit("b.py")]),
        ("cat <<< word > b.py", [edit("b.py")]),
        (f"apply_patch <<'EOF'\n{PATCH}\nEOF", [edit("src/a.py")]),
    ],
)
def test_commands_view_and_edit_files(command: str, found: list[FileUse]) -> None:
    assert uses("Bash", {"command": command}) == found


@pytest.mark.parametrize(
    "command",
    [
        "head -n ² a.py",
        f"head -n {'9' * 5_000} a.py",
        f"head -{'9' * 5_000} a.py",
        f"sed -n {'9' * 5_000}p a.py",
        f"sed -n '1,{'9' * 5_000}p' a.py",
    ],
    ids=lambda command: command[:12],
)
def test_numbers_that_are_none_stop_no_run(command: str) -> None:
    assert all(not one.is_edit for one in uses("Bash", {"command": command}))


def test_a_command_is_found_in_whatever_form_it_is_given() -> None:
    def command(arguments: Any) -> str:
        return command_of(ToolCall("1", "shell", arguments))

    assert command("ls") == "ls"
    assert command({"command": ["bash", "-lc", "ls -l"]}) == "ls -l"
    assert command({"commands": ["ls", "-l"]}) == "ls -l"
    assert command({"cmd": 3}) == ""
    assert command(None) == ""


def test_paths_name_one_file_where_one_ends_the_other() -> None:
    assert is_same_file("./a.py", "a.py")
    assert is_same_file("src/a.py", "/repo/src/a.py")
    assert is_same_file("src\\a.py", "C:/repo/src/a.py") is False
    assert not is_same_file("a.py", "/repo/a.py")
    assert not is_same_file("rc/a.py", "/repo/src/a.py")


RANGES = st.builds(
    view,
    st.just("a.py"),
    st.integers(1, 50),
    st.none() | st.integers(50, 90),
)


@given(RANGES, RANGES)
def test_a_view_covers_another_exactly_where_it_shows_all_its_lines(
    one: FileUse, other: FileUse
) -> None:
    def shown(use: FileUse) -> set[int]:
        return set(range(use.first, (use.last or 1000) + 1))

    assert one.covers(other) == (shown(other) <= shown(one))
    assert edit("a.py").covers(other)
    assert not edit("b.py").covers(other)


@given(st.text(max_size=60))
def test_any_command_line_is_read_without_harm(command: str) -> None:
    assert isinstance(uses("Bash", {"command": command}), list)
