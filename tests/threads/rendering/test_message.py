"""A message's body: each part by its kind, in order, the same each time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from threads.domain.message import Role
from threads.domain.part import File, Image, Part, Text, Thinking, ToolCall, ToolResult
from threads.rendering import render, summary

from .html_reading import Reading

ESC = "\x1b"


def output(text: str) -> str:
    """What a tool's text renders to."""
    return render(Role.TOOL, (ToolResult("1", (Text(text),)),), counts=None)


def test_people_and_models_write_markdown() -> None:
    for role in (Role.USER, Role.ASSISTANT, Role.SYSTEM, Role.DEVELOPER):
        assert "<strong>a</strong>" in render(role, (Text("**a**"),), counts=None)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("**a** <b>", "output"),
        (f"{ESC}[1ma{ESC}[0m", "ansi"),
        ("10%\r20%", "ansi"),
        ("@@ -1 +1 @@\n-a\n+b", "diff"),
        ('{"a": 1}', "json"),
        ("[1, 2]", "json"),
        ("[not json]", "output"),
    ],
)
def test_output_is_shown_by_what_it_is(text: str, kind: str) -> None:
    assert kind in Reading(output(text)).classes()


def test_text_of_a_tool_message_is_output() -> None:
    assert "**a**" in render(Role.TOOL, (Text("**a**"),), counts=None)


def test_output_is_folded_after_forty_lines() -> None:
    html = output("line\n" * 94)
    assert "Show 54 more lines</span>" in html
    assert html.index("<details") > html.index("line")


def test_output_is_folded_after_eight_kilobytes() -> None:
    shown, folded = output(("x" * 99 + "\n") * 100).split("<details")
    assert "Show 60 more lines" in folded
    assert shown.count("\n") == 39
    assert "Show the rest" in output("x" * 10_000)


def test_thinking_is_folded_and_says_its_tokens() -> None:
    html = render(Role.ASSISTANT, (Thinking("*why*"), Text("x")), counts=(1310, 1))
    assert '<details class="thinking"><summary>' in html
    assert "thinking 1,310 tok" in Reading(html).text
    assert "<em>why</em>" in html


def test_thinking_without_counts_has_none() -> None:
    assert "tok" not in render(Role.ASSISTANT, (Thinking("why"),), counts=None)


def test_signed_thinking_says_who_can_read_it() -> None:
    html = render(Role.ASSISTANT, (Thinking("", data="abc"),), counts=None)
    assert "Only its provider can read this." in html
    assert "abc" not in html


def test_a_stored_picture_is_shown() -> None:
    html = render(Role.USER, (Image("image/webp", sha256="0f" * 32),), counts=None)
    assert f'src="/api/blobs/{"0f" * 32}"' in html


@pytest.mark.parametrize(
    ("image", "said"),
    [
        (Image("image/svg+xml", sha256="0f" * 32), "picture not shown: image/svg+xml"),
        (Image("image/png", data=b"12345"), "picture not shown: image/png, 5 B"),
        (
            Image("image/png", url="https://a.example/p.png"),
            "picture not loaded, a.example: open",
        ),
        (
            Image("image/png", url="data:image/png;base64,AA"),
            "picture not shown: image/png",
        ),
        (Image("image/png", sha256="../../x"), "picture not shown: image/png"),
    ],
)
def test_no_other_picture_is_loaded(image: Image, said: str) -> None:
    html = render(Role.USER, (image,), counts=None)
    assert "<img" not in html
    assert Reading(html).text == said


def test_a_file_is_named_with_its_type_and_size() -> None:
    html = render(
        Role.USER, (File("application/pdf", "a.pdf", data=b"x" * 2000),), counts=None
    )
    assert Reading(html).text == "file: a.pdf, application/pdf, 2.0 KB"


def test_an_empty_message_has_no_body() -> None:
    assert render(Role.USER, (), counts=None) == ""
    assert render(Role.USER, (Text("  \n"),), counts=None) == ""


def test_parts_beyond_the_limit_are_left_out_but_for_the_last() -> None:
    parts = tuple(Text(f"part {n} " + "word " * 3000) for n in range(200))
    shown = Reading(render(Role.USER, parts, counts=None)).text
    assert "part 0 " in shown
    assert "part 199 " in shown
    assert "parts left out here. Open raw shows all." in shown
    assert len(shown) < 1_200_000


PARTS = st.lists(
    st.builds(Text, st.text())
    | st.builds(Thinking, st.text())
    | st.builds(
        ToolCall,
        st.text(),
        st.sampled_from(["Bash", "Edit", "x"]),
        st.just({"command": "a"}),
    )
    | st.builds(ToolResult, st.text(), st.tuples(st.builds(Text, st.text()))),
    max_size=4,
).map(tuple)


@given(st.sampled_from(Role), PARTS)
def test_the_same_message_renders_the_same(role: Role, parts: tuple[Part, ...]) -> None:
    counts = list(range(len(parts)))
    assert render(role, parts, counts=counts) == render(role, parts, counts=counts)


@pytest.mark.parametrize(
    ("role", "parts", "said"),
    [
        (Role.USER, (Text("  Find\n\nthe cause.  "),), "Find the cause."),
        (
            Role.ASSISTANT,
            (Thinking("hm"), ToolCall("1", "Bash", {"command": "ls"})),
            "Bash ls",
        ),
        (
            Role.ASSISTANT,
            (ToolCall("1", "Bash", {"command": "ls"}), Text("Now.")),
            "Now.",
        ),
        (Role.ASSISTANT, (Thinking("hm"),), "thinking hm"),
        (
            Role.TOOL,
            (ToolResult("1", (Text("Exit code 1\nno"),), "Bash"),),
            "Bash exit 1 Exit code 1 no",
        ),
        (Role.TOOL, (ToolResult("1", (Text("gone"),), None, True),), "error gone"),
        (Role.TOOL, (Text(f"{ESC}[31mred{ESC}[0m\rx\u202e"),), "red x⟦U+202E⟧"),
        (Role.USER, (Image("image/png"),), "image png"),
        (Role.USER, (), ""),
    ],
)
def test_a_summary_says_the_message_in_one_line(
    role: Role, parts: tuple[Part, ...], said: str
) -> None:
    assert summary(role, parts) == said


def test_a_long_summary_ends_with_an_ellipsis() -> None:
    line = summary(Role.USER, (Text("word " * 1000),))
    assert len(line) == 200
    assert line.endswith("…")
