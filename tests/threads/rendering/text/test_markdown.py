"""Prose: CommonMark without HTML, addresses that can be trusted, and long texts folded."""

import pytest

from tests.threads.rendering.html_reading import Reading
from threads.domain.message import Role
from threads.domain.part import Text
from threads.rendering import render


def prose(text: str, role: Role = Role.ASSISTANT) -> str:
    """What a text of Markdown renders to."""
    return render(role, (Text(text),), counts=None)


def test_emphasis_lists_quotes_and_tables_become_html() -> None:
    html = prose(
        "**a** ~~b~~\n\n- one\n- two\n\n> said\n\n| x | y |\n|--|--:|\n| 1 | 2 |"
    )
    tags = [tag for tag, _ in Reading(html).elements]
    assert {"strong", "s", "ul", "li", "blockquote", "table", "th", "td"} <= set(tags)
    assert '<td class="at-end">2</td>' in html


def test_prose_takes_its_direction_from_its_own_letters() -> None:
    assert prose("שלום").startswith('<div class="prose" dir="auto">')


def test_headings_stand_below_those_of_the_page() -> None:
    html = prose("# one\n## two\n### three\n#### four")
    assert [tag for tag, _ in Reading(html).elements if tag[0] == "h"] == [
        "h4",
        "h5",
        "h6",
        "h6",
    ]


def test_line_ends_of_a_paragraph_stay() -> None:
    assert "one<br>\ntwo" in prose("one\ntwo", Role.USER)


def test_html_is_shown_as_text() -> None:
    assert Reading(prose("<system-reminder>hi</system-reminder>")).text.strip() == (
        "<system-reminder>hi</system-reminder>"
    )


def test_a_link_says_its_host_and_opens_apart() -> None:
    html = prose("[bank](https://bank.example@evil.example/x)")
    (link,) = [given for tag, given in Reading(html).elements if tag == "a"]
    assert link == {
        "href": "https://bank.example@evil.example/x",
        "title": "evil.example",
        "target": "_blank",
        "rel": "noopener noreferrer nofollow",
    }


def test_a_host_in_other_letters_is_shown_as_it_is_looked_up() -> None:
    assert 'title="xn--vil-qdd.example"' in prose("[x](http://\u0435vil.example)")


@pytest.mark.parametrize(
    "address", ["src/a.py", "/logout", "javascript:alert(1)", "#m1"]
)
def test_a_link_that_may_not_be_followed_stays_text(address: str) -> None:
    assert Reading(prose(f"[x]({address})")).text.strip() == f"[x]({address})"


def test_a_bare_address_stays_text() -> None:
    assert "<a" not in prose("see https://example.org/ and a@b.example")


def test_a_picture_is_a_chip_with_its_host() -> None:
    html = prose("![plan](https://tracker.example/p.png)")
    assert "<img" not in html
    assert "picture not loaded, tracker.example: plan" in Reading(html).text


def test_a_character_reference_does_not_smuggle_a_hidden_character() -> None:
    assert "⟦U+202E⟧" in prose("a &#x202e; b")


def test_code_of_a_known_language_is_coloured_and_named() -> None:
    html = prose("```python\ndef f(): pass\n```")
    assert 'aria-label="Code, python"' in html
    assert '<span class="k-k">def</span>' in html


def test_a_fence_may_name_a_file() -> None:
    assert '<span class="k-k">def</span>' in prose("```src/app.py\ndef f(): pass\n```")


def test_code_without_a_language_is_plain() -> None:
    assert "k-" not in prose("```\ndef f(): pass\n```")


def test_up_to_eighty_lines_stand_open() -> None:
    assert "details" not in prose("line\n" * 80)


def test_a_few_lines_more_are_not_worth_a_fold() -> None:
    assert "details" not in prose("line\n" * 83)


def test_more_lines_are_folded_below_and_counted() -> None:
    html = prose("".join(f"line {n}\n" for n in range(200)))
    shown, folded = html.split('<details class="more">')
    assert "line 79" in shown
    assert "line 80" not in shown
    assert "Show 120 more lines" in folded
    assert "line 199" in folded


def test_a_fold_in_a_numbered_list_goes_on_counting() -> None:
    html = prose("".join(f"{n}. item\n" for n in range(1, 101)))
    assert html.count("<li>") == 100
    assert '<ol start="81">' in html


def test_a_fold_in_a_fence_stays_code() -> None:
    lines = "".join(f"x = {n}\n" for n in range(200))
    reading = Reading(prose(f"before\n\n```python\n{lines}```\n\nafter"))
    assert reading.faults == []
    assert [tag for tag, _ in reading.elements].count("pre") == 2
    assert reading.text.rstrip().endswith("after")


def test_one_endless_line_is_folded_after_sixteen_kilobytes() -> None:
    html = prose("word " * 5000)
    shown, folded = html.split('<details class="more">')
    assert 16_000 < len(Reading(shown + "</div>").text) < 17_000
    assert "Show the rest" in folded


def test_nothing_is_lost_by_a_fold() -> None:
    text = "\n\n".join(f"- item {n}\n\n  more {n}\n\n> quote {n}" for n in range(60))
    words = Reading(prose(text)).text
    assert all(
        f"{kind} {n}" in words for kind in ("item", "more", "quote") for n in range(60)
    )


def test_a_reference_is_known_on_both_sides_of_a_fold() -> None:
    text = "[a][x]\n\n" + "line\n\n" * 60 + "[b][x]\n\n[x]: https://example.org"
    assert prose(text).count('href="https://example.org"') == 2


def test_a_text_of_many_kilobytes_is_shown_as_it_is() -> None:
    html = prose("**bold** " * 10_000)
    assert "<strong>" not in html
    assert "**bold**" in html


def test_a_text_beyond_the_limit_shows_head_and_tail_and_says_so() -> None:
    text = "start " + "x" * 400_000 + " end"
    shown = Reading(prose(text)).text
    assert shown.startswith("start x")
    assert shown.rstrip().endswith("x end")
    assert "268.9 KB of text left out here. Open raw shows all." in shown
    assert len(shown) < 140_000
