"""What no template and no style sheet may hold, read from their sources."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
STYLES = sorted((ROOT / "static" / "css").rglob("*.css"))
ROWS = [
    ROOT / "templates/operations/editor/rows" / f"{name}.html"
    for name in ("row", "inserted", "fold", "note")
]

INLINE = re.compile(
    r"""\s(style|on[a-z]+)=["']|hx-on|hx-vals=["']js:|javascript:|\|safe\b"""
)
"""Inline styles and handlers and evaluated attributes: the content policy forbids them."""
COLOUR = re.compile(r"#[0-9a-fA-F]{3,8}\b|\b(rgba?|hsla?|oklab|oklch|color)\((?!from )")
XTERM = re.compile(r"--c: #[0-9a-f]{3,6}")
"""Terminal output names its 256 colours by number; body.css makes each readable."""


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", TEMPLATES, ids=name_of)
def test_a_template_holds_nothing_that_the_content_policy_forbids(path):
    assert INLINE.findall(path.read_text()) == []


@pytest.mark.parametrize("path", ROWS, ids=name_of)
def test_rows_carry_no_htmx_but_what_disarms_it(path):
    assert set(re.findall(r"\bhx-[a-z-]+(?=[=>\s])", markup(path))) <= {"hx-disable"}


@pytest.mark.parametrize("path", STYLES, ids=name_of)
def test_no_colour_stands_outside_the_tokens(path):
    if path.name != "tokens.css":
        assert COLOUR.findall(XTERM.sub("", without_comments(path))) == []


@pytest.mark.parametrize("path", STYLES, ids=name_of)
def test_a_style_sheet_names_only_tokens_that_there_are(path):
    defined = re.findall(r"(--[\w-]+)\s*:", "".join(map(without_comments, STYLES)))
    used = re.findall(r"var\((--[\w-]+)\s*\)", without_comments(path))
    assert set(used) <= set(defined)


def test_every_file_that_a_style_sheet_names_is_there():
    named = [
        path.parent / target
        for path in STYLES
        for target in re.findall(r'url\("([^"]+)"\)', path.read_text())
    ]
    assert named
    assert [path for path in named if not path.is_file()] == []


def test_every_icon_that_a_template_names_is_in_the_sprite():
    sprite = (ROOT / "static/icons.svg").read_text()
    there = set(re.findall(r'<symbol id="([\w-]+)"', sprite))
    named = {
        name
        for path in TEMPLATES
        for name in re.findall(r'{% icon "([\w-]+)"', markup(path))
    }
    assert named <= there


@pytest.mark.parametrize("path", TEMPLATES, ids=name_of)
def test_what_people_name_has_a_direction_of_its_own(path):
    """A Hebrew title would draw the figure after it to its other side."""
    holders = re.findall(
        r"<([a-z][^<>]*)>\{\{ [\w.]*(?:\.title|_name)\|visible", markup(path)
    )
    own = re.compile(r'^bdi$|dir="auto"|class="vh"')
    assert [holder for holder in holders if not own.search(holder)] == []


def test_where_colours_are_forced_the_focus_keeps_its_ring():
    """What outlines what is chosen there would take the place of the ring."""
    bare = [
        f"{path.name}: {selector}"
        for path in STYLES
        for selector, rule in rules_for(path, "forced-colors: active")
        if re.search(r"\boutline:", rule)
        if ":not(" not in selector or ":focus-visible" not in selector
        if selector != ".tag"
    ]
    assert bare == []


def test_where_colours_are_forced_a_difference_within_a_line_is_not_told_by_colour():
    """Elsewhere its background tells it, and no line is drawn through or under it."""
    rules = dict(rules_for(ROOT / "static/css/base/body.css", "forced-colors: active"))
    assert "underline" in rules[":is(.diff .add, .changes) ins"]
    assert "line-through" in rules[":is(.diff .remove, .changes) del"]


def test_where_colours_are_forced_the_theme_chosen_here_does_not_count():
    """Icons and bars keep our colours: drawn for light, they vanish on black."""
    rules = dict(
        rules_for(ROOT / "static/css/base/tokens.css", "forced-colors: active")
    )
    assert rules[":root, :root[data-theme]"] == "color-scheme: light dark;"


def test_in_a_window_zoomed_in_four_times_one_bar_goes_with_the_text():
    """With three that stay, less than half of 225 pixels would be left to read."""
    rules = dict(rules_for(ROOT / "static/css/thread/editor.css", "height < 360px"))
    assert "position: relative" in rules[".meter"]


def test_what_spaced_letters_need_is_not_cut_off():
    """Readers may widen letters (WCAG 1.4.12): the strip of checks takes a second line."""
    strip = (ROOT / "static/css/thread/provider_checks.css").read_text()
    assert not re.search(r"\.checks-strip \{[^}]*(overflow|[ ;]height)", strip)


def rules_for(path: Path, condition: str) -> list[tuple[str, str]]:
    """The rules that a style sheet has for a condition: their selectors and what they set."""
    blocks = re.findall(
        rf"@media \({condition}\) {{((?:[^{{}}]*{{[^{{}}]*}})*)\s*}}",
        without_comments(path),
    )
    return [
        (selector.strip(), rule.strip())
        for block in blocks
        for selector, rule in re.findall(r"([^{}]+){([^{}]*)}", block)
    ]


def markup(path: Path) -> str:
    return re.sub(r"{% comment %}.*?{% endcomment %}", "", path.read_text(), flags=re.S)


def without_comments(path: Path) -> str:
    return re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
