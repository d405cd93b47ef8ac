"""Calls as cards, by kind, in the names of the agents whose transcripts are read."""

from typing import Any

import pytest

from tests.threads.rendering.html_reading import Reading
from threads.domain.message import Role
from threads.domain.part import Image, Opaque, Part, Text, ToolCall, ToolResult
from threads.rendering import render
from threads.rendering.cards import family


def call(name: str, arguments: Any) -> str:
    """The card of a call."""
    return render(Role.ASSISTANT, (ToolCall("1", name, arguments),), counts=None)


def result(
    *content: Text | Image | Opaque, name: str | None = None, is_error: bool = False
) -> str:
    """A result beside another part, so that it is named."""
    parts: tuple[Part, ...] = (ToolResult("1", content, name, is_error), Text("x"))
    return render(Role.USER, parts, counts=None)


def line(html: str) -> str:
    """What a closed card says."""
    end = html.find("</summary>")
    return Reading(html[: end if end > 0 else None]).text


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Bash", "command"),
        ("exec_command", "command"),
        ("shell", "command"),
        ("container.exec", "command"),
        ("execute_bash", "command"),
        ("run_shell_command", "command"),
        ("PowerShell", "command"),
        ("execute_ipython_cell", "program"),
        ("Read", "read"),
        ("read_file", "read"),
        ("view", "read"),
        ("Write", "write"),
        ("create", "write"),
        ("Edit", "edit"),
        ("str_replace_editor", "edit"),
        ("apply_patch", "patch"),
        ("Grep", "search"),
        ("glob", "search"),
        ("TodoWrite", "todo"),
        ("update_plan", "todo"),
        ("task_tracker", "todo"),
        ("WebFetch", "web"),
        ("google_web_search", "web"),
        ("Task", "agent"),
        ("mcp__files__read_file", "read"),
        ("functions.exec_command", "command"),
        ("harbour_lookup", None),
        ("", None),
        ("__", None),
    ],
)
def test_a_name_tells_the_kind_of_tool(name: str, kind: str | None) -> None:
    assert family(name) == kind


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("Bash", {"command": "ls -la", "description": "List"}, "Bash ls -la List"),
        ("exec_command", {"cmd": "ls"}, "exec_command ls"),
        ("shell", {"command": ["bash", "-lc", "ls | wc"]}, "shell ls | wc"),
        ("shell", {"command": ["git", "log", "a b"]}, "shell git log 'a b'"),
        ("run_commands", {"commands": ["ls", "pwd"]}, "run_commands ls…"),
        ("Read", {"file_path": "/a.py"}, "Read /a.py"),
        (
            "Read",
            {"file_path": "/a.py", "offset": 10, "limit": 5},
            "Read /a.py from line 10, 5 lines",
        ),
        ("view", {"path": "/a.py", "view_range": [3, 9]}, "view /a.py lines 3–9"),
        (
            "Write",
            {"file_path": "a.py", "content": "x = 1\ny = 2\n"},
            "Write a.py 2 lines",
        ),
        (
            "Edit",
            {"file_path": "a.py", "old_string": "a", "new_string": "b"},
            "Edit a.py",
        ),
        (
            "str_replace_editor",
            {"command": "view", "path": "/w"},
            "str_replace_editor /w view",
        ),
        (
            "apply_patch",
            "*** Begin Patch\n*** Add File: a.py\n+x\n",
            "apply_patch a.py",
        ),
        ("Grep", {"pattern": "def f", "path": "src"}, "Grep def f in src"),
        ("Glob", {"pattern": "**/*.py"}, "Glob **/*.py"),
        (
            "TodoWrite",
            {"todos": [{"content": "a", "status": "completed"}]},
            "TodoWrite 1 of 1 done",
        ),
        (
            "update_plan",
            {"plan": [{"step": "a", "status": "pending"}]},
            "update_plan 0 of 1 done",
        ),
        ("WebFetch", {"url": "https://a.example"}, "WebFetch https://a.example"),
        ("WebSearch", {"query": "tides"}, "WebSearch tides"),
        (
            "Task",
            {"description": "Look", "subagent_type": "Explore", "prompt": "go"},
            "Task Look Explore",
        ),
        ("harbour", {"deep": {"a": 1}, "port": "Oslo"}, "harbour Oslo"),
        ("submit", {}, "submit"),
    ],
)
def test_a_card_says_the_call_in_one_line(name: str, arguments: Any, said: str) -> None:
    assert line(call(name, arguments)) == said


def test_a_call_that_its_line_says_whole_has_nothing_to_unfold() -> None:
    assert "<details" not in call("Bash", {"command": "ls"})


def test_a_command_of_many_lines_is_unfolded_as_code() -> None:
    html = call("Bash", {"command": "cat <<E\nx\nE"})
    assert line(html) == "Bash cat &lt;&lt;E…".replace("&lt;", "<")
    assert 'aria-label="Code, bash"' in html


def test_a_line_that_is_shortened_is_whole_below() -> None:
    html = call("Grep", {"pattern": "x" * 500})
    assert "x" * 500 in html


def test_an_edit_stands_open_with_its_difference() -> None:
    html = call(
        "Edit",
        {"file_path": "a.py", "old_string": "one two", "new_string": "one three"},
    )
    assert '<details class="tool" open="">' in html
    assert "one <del>two</del>" in html
    assert "one <ins>three</ins>" in html


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("edit", {"filePath": "a", "oldString": "old", "newString": "new"}),
        (
            "str_replace_editor",
            {"command": "str_replace", "path": "a", "old_str": "old", "new_str": "new"},
        ),
        ("edit", {"path": "a", "oldText": "old", "newText": "new"}),
        ("edit", {"search": "old", "replace": "new"}),
        (
            "MultiEdit",
            {"file_path": "a", "edits": [{"old_string": "old", "new_string": "new"}]},
        ),
        ("apply_patch", {"input": "*** Begin Patch\n*** Update File: a\n-old\n+new"}),
    ],
)
def test_edits_of_every_agent_are_differences(name: str, arguments: Any) -> None:
    html = call(name, arguments)
    assert '<div class="line remove"><span class="sign">−</span>old</div>' in html
    assert '<div class="line add"><span class="sign">+</span>new</div>' in html


def test_a_written_file_is_coloured_by_its_suffix() -> None:
    assert '<span class="k-k">def</span>' in call(
        "Write", {"file_path": "a.py", "content": "def f(): 1"}
    )


def test_things_to_do_say_their_state_in_words() -> None:
    items = [
        {"content": "find", "status": "completed"},
        {"content": "test", "status": "in_progress"},
        {"content": "fix", "status": "pending"},
    ]
    html = call("TodoWrite", {"todos": items})
    assert (
        '<li class="is-done"><span class="todo-state">completed</span> find</li>'
        in html
    )
    assert (
        '<li class="is-doing"><span class="todo-state">in progress</span> test</li>'
        in html
    )
    assert '<li><span class="todo-state">pending</span> fix</li>' in html


def test_arguments_without_a_place_stand_below() -> None:
    html = call("Bash", {"command": "ls", "timeout": 9000, "run_in_background": True})
    assert "timeout 9000, run_in_background true" in Reading(html).text


def test_arguments_that_are_off_or_empty_are_left_out() -> None:
    html = call(
        "Bash",
        {"command": "ls", "background": False, "env": {}, "user": None, "nice": 0},
    )
    assert Reading(html).text == "Bash lsnice 0"


def test_a_call_of_another_shape_shows_its_json() -> None:
    html = call("Bash", {"command": {"run": "ls"}})
    assert '<span class="key">"command"</span>' in html


def test_arguments_that_are_no_json_are_shown_as_text() -> None:
    assert "print(1)" in call("python", "print(1)\nprint(2)")


@pytest.mark.parametrize("arguments", [None, 3, [1, 2], "", {}])
def test_any_arguments_have_a_card(arguments: Any) -> None:
    assert "harbour" in line(call("harbour", arguments))


def test_neighbouring_calls_share_a_line() -> None:
    parts = (
        ToolCall("1", "Bash", {"command": "ls"}),
        ToolCall("2", "Bash", {"command": "pwd"}),
    )
    assert render(Role.ASSISTANT, parts, counts=None).count('<div class="steps">') == 1


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("Exit code 2\nls: cannot access", "exit 2"),
        ("Chunk ID: a\nWall time: 1\nProcess exited with code 1\nOutput:\nx", "exit 1"),
        ("<returncode>127</returncode>\n<output></output>", "exit 127"),
        ("x\n[The command completed with exit code 3.]", "exit 3"),
        ("x\n[The command completed with exit code 0.]", "exit 0"),
    ],
)
def test_a_result_says_how_its_command_ended(text: str, outcome: str) -> None:
    html = result(Text(text), name="Bash")
    assert f">{outcome}</span>" in html
    assert ("is-bad" in html) == (outcome != "exit 0")


def test_a_file_that_speaks_of_exit_codes_has_none() -> None:
    assert "exit 1" not in result(Text("Exit code 1\n"), name="Read")


def test_an_error_is_said_where_no_code_is() -> None:
    assert ">error</span>" in result(Text("No such file"), name="Read", is_error=True)
    assert ">error</span>" in result(Text("Exit code 0"), name="Bash", is_error=True)


def test_a_result_alone_leaves_its_name_to_the_row() -> None:
    parts = (ToolResult("1", (Text("out"),), "Bash"),)
    assert "Bash" not in render(Role.TOOL, parts, counts=None)


def test_a_result_without_content_says_so() -> None:
    assert "No output." in result(name="Bash")


def test_a_stored_picture_of_a_result_is_shown() -> None:
    html = result(Image("image/png", sha256="ab" * 32))
    assert (
        f'<img src="/api/blobs/{"ab" * 32}" alt="Picture in the message, image/png"'
        in html
    )
    assert 'loading="lazy"' in html


def test_a_block_that_nothing_interprets_is_kept_as_json() -> None:
    html = render(Role.USER, (Opaque("server_tool_use", {"a": 1}),), counts=None)
    assert line(html) == "server_tool_use kept as it is"
    assert '<span class="key">"a"</span>' in html
