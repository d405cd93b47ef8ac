"""No transcript reaches the page as anything but text and what the renderer itself makes."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from threads.domain.message import Role
from threads.domain.part import (
    File,
    Image,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from threads.rendering import render, render_difference, summary, visible

from .html_reading import Reading
from .payloads import PAYLOADS

ESC = "\x1b"
MARKDOWN = [
    "{}",
    "# {}",
    "- {}\n  - {}",
    "> {}",
    "`{}`",
    "``` {}\ncode\n```",
    "```python\n{}\n```",
    "```html\n{}",
    "```diff\n+{}\n```",
    "    {}",
    "[text]({})",
    "[text](<{}>)",
    "[{}](http://example.org)",
    '[text](http://example.org "{}")',
    "[text][ref]\n\n[ref]: {}",
    "[text][ref]\n\n[ref]: <{}> '{}'",
    "<{}>",
    "![{}]({})",
    "[![alt]({})]({})",
    "| a | {} |\n|:--|--:|\n| {} | b |",
    "~~**_{}_**~~",
    "{}\n---\n{}\n===",
    "\\{}",
]
RESULTS = [
    "{}",
    f"{ESC}[31m{{}}{ESC}[0m",
    f"{ESC}]8;;{{}}{ESC}\\x{ESC}]8;;\x07",
    "progress\r{}",
    "diff --git a/{} b/{}\n--- a/{}\n+++ b/{}\n@@ -1,2 +1,2 @@ {}\n-old {}\n+new {}\n {}\n",
    "Exit code 1\n{}",
]
TOOLS = {
    "Bash": ["command", "description", "timeout"],
    "exec_command": ["cmd", "workdir"],
    "execute_ipython_cell": ["code"],
    "Read": ["file_path", "offset"],
    "Write": ["file_path", "content"],
    "Edit": ["file_path", "old_string", "new_string"],
    "str_replace_editor": ["command", "path", "old_str", "new_str", "file_text"],
    "apply_patch": ["input"],
    "Grep": ["pattern", "path", "glob"],
    "WebFetch": ["url", "prompt"],
    "Task": ["description", "subagent_type", "prompt"],
    "think": ["thought"],
    "mcp__server__custom": ["anything"],
}

PLAIN = [one for one in PAYLOADS if one.isprintable() and one == visible(one)]
each_payload = pytest.mark.parametrize(
    "payload", PAYLOADS, ids=lambda one: ascii(one)[:60]
)


def texts(payload: str) -> Iterator[str]:
    """The payload in each construct of Markdown."""
    return (template.replace("{}", payload) for template in MARKDOWN)


def results(payload: str) -> Iterator[str]:
    """The payload in each kind of output."""
    yield from (template.replace("{}", payload) for template in RESULTS)
    yield json.dumps(
        {payload: [payload, {"deep": {payload: [payload, {"x": payload}]}}]}
    )
    yield json.dumps([payload * 300 + "\n" + payload])


def calls(payload: str) -> Iterator[ToolCall]:
    """The payload in the name and each argument of each kind of call."""
    yield ToolCall(payload, payload, payload)
    yield ToolCall(
        "1", "apply_patch", f"*** Begin Patch\n*** Add File: {payload}\n+{payload}"
    )
    yield ToolCall(
        "1", payload, {payload: payload, "list": [payload, {payload: {payload: 1}}]}
    )
    for name, arguments in TOOLS.items():
        yield ToolCall("1", name, dict.fromkeys([*arguments, "other"], payload))
    items = [
        {"content": payload, "status": payload},
        {"step": payload, "status": "completed"},
    ]
    yield ToolCall("1", "TodoWrite", {"todos": items})
    edits = [{"old_string": payload, "new_string": payload + "x"}]
    yield ToolCall("1", "MultiEdit", {"file_path": payload, "edits": edits})
    yield ToolCall("1", "shell", {"command": ["bash", "-lc", payload]})


def others(payload: str) -> Iterator[Part]:
    """The payload in every other part."""
    yield Thinking(payload)
    yield Thinking("", data=payload)
    yield Image(payload, sha256=payload, url=payload)
    yield Image("image/png", sha256=payload)
    yield Image("image/svg+xml", sha256="a" * 64, url=payload)
    yield Image("image/png", url="http://" + payload)
    yield File(payload, name=payload, url=payload, data=b"x")
    yield Opaque(payload, {payload: payload})


def placed(payload: str) -> Iterator[tuple[Role, tuple[Part, ...]]]:
    """Messages that hold the payload wherever a transcript can."""
    for text in texts(payload):
        yield Role.ASSISTANT, (Text(text),)
    for text in results(payload):
        yield (
            Role.TOOL,
            (ToolResult("1", (Text(text),), payload, is_error=True), Text(text)),
        )
    for role in Role:
        yield role, (Text(payload), Thinking(payload))
    yield Role.ASSISTANT, tuple(calls(payload))
    yield Role.USER, tuple(others(payload))


@each_payload
def test_a_hostile_payload_comes_out_inert_wherever_it_stands(payload: str) -> None:
    for role, parts in placed(payload):
        html = render(role, parts, counts=[7] * len(parts))
        reading = Reading(html)
        assert reading.faults == [], html
        assert all(tag != "img" for tag, _ in reading.elements)
        html.encode()


@each_payload
def test_a_hostile_payload_comes_out_inert_in_a_difference(payload: str) -> None:
    for old, new in (
        (payload, ""),
        ("a b c", payload),
        (f"x {payload} y", f"x {payload} z"),
    ):
        assert Reading(render_difference(old, new)).faults == []


@each_payload
def test_a_summary_holds_no_character_that_hides(payload: str) -> None:
    for role, parts in placed(payload):
        line = summary(role, parts)
        assert len(line) <= 200
        assert line == visible(line)
        assert "\n" not in line
        line.encode()


@pytest.mark.parametrize("payload", PLAIN, ids=lambda one: ascii(one)[:60])
def test_output_shows_a_hostile_payload_as_the_text_it_is(payload: str) -> None:
    html = render(Role.TOOL, (Text(payload),), counts=None)
    assert Reading(html).text == payload


@given(
    st.text()
    | st.text(alphabet="<>&\"'`[](){}!#*_~|\\-+@:/\n \x1b\x00\u202ejavscript=hx")
)
def test_any_text_renders_to_allowed_html(text: str) -> None:
    for role in (Role.USER, Role.TOOL):
        assert Reading(render(role, (Text(text),), counts=None)).faults == []
    assert Reading(render_difference(text, text[::-1])).faults == []
    assert len(summary(Role.USER, (Text(text),))) <= 200


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    ),
    st.sampled_from([*TOOLS, "TodoWrite", "MultiEdit", "shell", "unknown"]),
)
def test_any_arguments_render_to_allowed_html(value: object, name: str) -> None:
    known = dict.fromkeys(TOOLS.get(name, ["todos", "edits", "command"]), value)
    parts = (ToolCall("1", name, value), ToolCall("2", name, known))
    assert Reading(render(Role.ASSISTANT, parts, counts=None)).faults == []
    assert len(summary(Role.ASSISTANT, parts)) <= 200
