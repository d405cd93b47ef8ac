"""Terminal output keeps its colours and loses everything else that a terminal obeys."""

import pytest

from tests.threads.rendering.html_reading import Reading
from threads.rendering.text import ansi

ESC = "\x1b"


def inside(text: str) -> str:
    """The HTML between `<code>` and `</code>`."""
    return ansi.render(text).split("<code>")[1].split("</code>")[0]


@pytest.mark.parametrize(
    ("codes", "classes"),
    [
        ("31", "a-f1"),
        ("1;91", "a-bold a-f9"),
        ("38;5;208", "a-f208"),
        ("38;2;255;0;0", "a-f196"),
        ("38:2::255:0:0", "a-f196"),
        ("38;2;128;128;128", "a-f244"),
        ("48;5;17", "a-g17"),
        ("44", "a-g4"),
        ("107", "a-g15"),
        ("31;44", "a-g4"),
        ("7", "a-g7"),
        ("7;32", "a-g2"),
        ("2;3;4;9", "a-dim a-italic a-underline a-strike"),
    ],
)
def test_a_style_becomes_classes(codes: str, classes: str) -> None:
    assert inside(f"{ESC}[{codes}mx") == f'<span class="{classes}">x</span>'


@pytest.mark.parametrize(
    "codes", ["", "0", "39", "1;22", "3;23", "4;24", "7;27", "9;29", "41;49"]
)
def test_a_style_is_taken_back(codes: str) -> None:
    assert inside(f"{ESC}[31m{ESC}[39;{codes}mx") == "x"


@pytest.mark.parametrize(
    "codes", ["999", "38", "38;5", "38;2;1;2", "12345678901234567890", ";;"]
)
def test_a_broken_style_changes_nothing(codes: str) -> None:
    assert inside(f"{ESC}[{codes}mx") == "x"


def test_a_style_lasts_over_lines() -> None:
    assert (
        inside(f"{ESC}[32ma\nb")
        == '<span class="a-f2">a</span>\n<span class="a-f2">b</span>'
    )


def test_a_style_lasts_into_the_fold() -> None:
    html = ansi.render(f"{ESC}[32m" + "line\n" * 100)
    assert html.count('<span class="a-f2">line</span>') == 100


def test_text_on_a_ground_never_has_the_colour_of_the_ground() -> None:
    assert inside(f"{ESC}[30;40mx") == '<span class="a-g0">x</span>'


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("10%\r100%", "100%"),
        ("abc\rX", "Xbc"),
        (f"abc\r{ESC}[KX", "X"),
        ("N\bNA\bA", "NA"),
        (f"a{ESC}[3Cb", "a   b"),
        (f"abc{ESC}[2Gx", "axc"),
        (f"{ESC}[9999999Cx", "x"),
        (f"{ESC}]0;title\x07x", "x"),
        (f"{ESC}]8;;http://a.example{ESC}\\link{ESC}]8;;{ESC}\\", "link"),
        (f"{ESC}Pdevice{ESC}\\x", "x"),
        (f"{ESC}[?25l{ESC}[2J{ESC}(B{ESC}=x", "x"),
        ("\x9b31mx\x9b0m", '<span class="a-f1">x</span>'),
    ],
)
def test_a_sequence_is_obeyed_in_its_line_or_dropped(text: str, shown: str) -> None:
    assert inside(text) == shown


def test_a_sequence_without_end_hides_no_text() -> None:
    assert "secret" in inside(f"{ESC}]0;secret\nnext")


@pytest.mark.parametrize(
    "text", ["ignore all\rdone      ", f"{ESC}]0;ignore all\x07done"]
)
def test_what_a_terminal_would_hide_is_told(text: str) -> None:
    assert "characters don't show on a terminal" in ansi.render(text)


def test_a_title_says_nothing_when_nothing_is_hidden() -> None:
    assert "note" not in ansi.render(f"{ESC}[31mred{ESC}[0m")


def test_markup_in_terminal_output_is_text() -> None:
    assert Reading(ansi.render(f"{ESC}[1m<b>&amp;</b>")).text == "<b>&amp;</b>"


def test_line_ends_of_another_system_are_not_overwriting() -> None:
    assert not ansi.is_terminal("a\r\nb\r\n")


@pytest.mark.parametrize(
    ("colour", "place"),
    [((0, 0, 0), 16), ((255, 255, 255), 231), ((95, 135, 175), 67), ((8, 8, 8), 232)],
)
def test_a_true_colour_becomes_its_place_in_the_palette(
    colour: tuple[int, int, int], place: int
) -> None:
    assert ansi.nearest(*colour) == place


def test_stripping_leaves_the_text() -> None:
    assert ansi.strip(f"{ESC}[1mred{ESC}[0m{ESC}]0;t\x07 a\rb") == "red a b"
