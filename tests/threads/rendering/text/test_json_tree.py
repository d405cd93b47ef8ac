"""JSON is printed as it was written, and folded from the second level on."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.threads.rendering.html_reading import Reading
from threads.domain.message import Role
from threads.domain.part import Text
from threads.rendering import render
from threads.rendering.text import json_tree

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(alphabet='ab <&\n"\\é', max_size=9),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abc"), inner, max_size=4)
    ),
    max_leaves=30,
)


def lines(value: object) -> list[str]:
    """The lines that stand open."""
    html = json_tree.render(value)
    pieces = html.split('"line">')[1:]
    return [Reading(f"<p>{piece.split('</div>')[0]}</p>").text for piece in pieces]


def test_two_levels_stand_open() -> None:
    value = {"a": [1, {"b": [[], {"c": {"d": 1}}]}], "d": None}
    html = json_tree.render(value)
    shown, folded = html.split("<details>", 1)
    assert Reading(shown + "</div>").text == '{  "a": [    1,'
    assert folded.startswith(
        '<summary>    { <span class="size">1 member</span></summary>'
    )
    assert Reading(html).text.endswith('  "d": null}')


def test_what_is_small_stands_on_one_line() -> None:
    assert lines({"a": {"b": 1, "c": "x"}, "d": [1, 2], "e": [], "f": {}}) == [
        "{",
        '  "a": { "b": 1, "c": "x" },',
        '  "d": [1, 2],',
        '  "e": [],',
        '  "f": {}',
        "}",
    ]


@given(VALUES)
def test_a_tree_holds_the_json_it_shows(value: object) -> None:
    html = json_tree.render(value)
    html = re.sub(r'<span class="size">[^<]*</span>', "", html)
    assert json.loads(Reading(html).text) == value


def test_numbers_stay_as_they_were_written() -> None:
    html = render(
        Role.TOOL,
        (Text('{"a": 1.10, "b": 1e400, "c": 123456789012345678901234}'),),
        counts=None,
    )
    assert "1.10" in html
    assert "1e400" in html
    assert "123456789012345678901234" in html


@pytest.mark.parametrize(
    "text", ["3", '"a"', "[1", "{a: 1}", '{"a": 1, "a": 2}', "[" * 100_000, ""]
)
def test_what_is_no_object_or_array_is_no_tree(text: str) -> None:
    assert json_tree.parse(text) is None


def test_a_long_text_is_folded_and_keeps_its_lines() -> None:
    html = json_tree.render({"content": "line one\n" * 40})
    assert "40 lines, 360 B" in html
    assert "line one\nline one" in html


def test_many_members_are_folded_after_forty_lines() -> None:
    html = json_tree.render({f"k{n}": n for n in range(200)})
    assert "Show 162 more lines" in html


def test_too_many_values_are_left_out_with_their_number() -> None:
    html = json_tree.render([[n, n + 1, "x" * 100] for n in range(5000)])
    assert "more items left out here" in html
    assert len(html) < 1_000_000


def test_levels_too_deep_are_left_out() -> None:
    value: object = [1]
    for _ in range(60):
        value = {"a": value}
    html = json_tree.render(value)
    assert "deeper levels left out here" in html
    assert html.count("<details>") == json_tree.DEEPEST - json_tree.FOLDED_FROM


def test_hidden_characters_in_a_string_are_shown() -> None:
    html = render(
        Role.TOOL, (Text('{"a\u202e": "b\u200bc \\u0000 \\u202e"}'),), counts=None
    )
    assert "a⟦U+202E⟧" in Reading(html).text
    assert "b⟦U+200B⟧c \\u0000 ⟦U+202E⟧" in Reading(html).text
