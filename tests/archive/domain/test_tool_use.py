"""What a call did, and on which files."""

import io
from pathlib import Path
from typing import Any

import pytest

from archive.domain.tool_use import kind_of, paths_of
from contextstudio.accounts.domain.errors import Invalid
from threads.domain import formats
from threads.domain.message import Message
from threads.domain.part import ToolCall

PATCH = "*** Begin Patch\n*** Update File: a/b.py\n*** Move to: a/c.py\n*** End Patch"
SAMPLES = {
    "bash": "exec_command Bash bash write_stdin PowerShell run_ipython run_shell_command"
    " terminal run execute_bash run_commands",
    "edit": "edit Edit apply_patch write Write editor create write_file",
    "file_view": "read Read view read_files read_file open",
    "grep": "Grep glob Glob grep tool_search ToolSearch Web-Search find_file"
    " mcp__Claude_Browser__find",
}
"""What the tools of the samples do; all others do something else."""
TWO_FACED = {"str_replace_editor": {"edit", "file_view"}, "edit": {"edit", "other"}}
"""An editor that also shows files; and one that was once called without a file."""


@pytest.mark.parametrize(
    ("name", "arguments", "kind"),
    [
        ("Read", {"file_path": "a.py"}, "file_view"),
        ("readFile", {"absolute_path": "a.py"}, "file_view"),
        ("mcp__files__read_file", {"path": "a.py"}, "file_view"),
        ("read_console", {"tab": 1}, "other"),
        ("str_replace_editor", {"command": "view", "path": "a.py"}, "file_view"),
        ("str_replace_editor", {"command": "create", "path": "a.py"}, "edit"),
        ("apply_patch", PATCH, "edit"),
        ("apply_patch", {"input": PATCH}, "edit"),
        ("TaskCreate", {"subject": "x"}, "other"),
        ("write_stdin", {"chars": "y"}, "bash"),
        ("shell", "ls", "bash"),
        ("Read", "`./a/b.py`", "file_view"),
        ("Write", "`./a/b.py`", "edit"),
        ("TodoWrite", "- [x] look", "other"),
        ("grep", {"pattern": "x"}, "grep"),
        ("search_flight", {"origin": "HEL"}, "other"),
        ("preview", {"path": "a.py"}, "other"),
        ("send_certificate", {"path": "a.py"}, "other"),
        ("read", None, "file_view"),
        ("dance", None, "other"),
    ],
)
def test_the_kind_follows_from_the_name_and_what_was_given(
    name: str, arguments: Any, kind: str
) -> None:
    assert kind_of(name, arguments) == kind


@pytest.mark.parametrize(
    ("arguments", "paths"),
    [
        ({"file_path": "/a/b.py", "content": "see c/d.py"}, ["/a/b.py"]),
        (
            {"files": [{"path": "a.py"}, {"path": "b.py"}, "c.py"]},
            ["a.py", "b.py", "c.py"],
        ),
        ({"edits": [{"filePath": "a.py"}], "path": ""}, ["a.py"]),
        (PATCH, ["a/b.py", "a/c.py"]),
        ({"command": "cat src/a.py && ls b/c.d"}, ["src/a.py", "b/c.d"]),
        ({"command": ["cat", "src/a.py"]}, ["src/a.py"]),
        ({"command": "cd ../.. && ls ./.."}, []),
        ({"thought": "either/or"}, []),
        ({"n": 1}, []),
        ("`./a/b.py`", ["./a/b.py"]),
        (None, []),
        ([{"path": "a.py"}], ["a.py"]),
    ],
)
def test_the_files_are_those_that_a_call_names(
    arguments: Any, paths: list[str]
) -> None:
    assert paths_of(ToolCall("1", "t", arguments)) == paths


def test_the_kind_is_right_for_every_call_of_the_samples(samples: Path) -> None:
    expected = {name: kind for kind, names in SAMPLES.items() for name in names.split()}
    seen: dict[str, set[str]] = {}
    for path in sorted(samples.glob("*/*")):
        try:
            transcripts = [*formats.read(io.BytesIO(path.read_bytes()))]
        except (Invalid, IsADirectoryError):
            continue
        for transcript in transcripts:
            for item in transcript.items:
                parts = item.parts if isinstance(item, Message) else ()
                for part in parts:
                    if isinstance(part, ToolCall) and part.arguments:
                        found = kind_of(part.name, part.arguments)
                        seen.setdefault(part.name, set()).add(found)
                        if found in ("edit", "file_view"):
                            assert paths_of(part), (part.name, path.name)
    assert len(seen) > 60
    for name, kinds in seen.items():
        wanted = TWO_FACED.get(name, {expected.get(name, "other")})
        assert kinds <= wanted, name
