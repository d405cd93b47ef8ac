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


@pytest.mark.parametrize("path", STYLES, ids=name_of)
def test_every_file_that_a_style_sheet_names_is_there(path):
    for target in re.findall(r'url\("([^"]+)"\)', path.read_text()):
        assert (path.parent / target).is_file()


def test_every_icon_that_a_template_names_is_in_the_sprite():
    sprite = (ROOT / "static/icons.svg").read_text()
    there = set(re.findall(r'<symbol id="([\w-]+)"', sprite))
    named = {
        name
        for path in TEMPLATES
        for name in re.findall(r'{% icon "([\w-]+)"', markup(path))
    }
    assert named <= there


def markup(path: Path) -> str:
    return re.sub(r"{% comment %}.*?{% endcomment %}", "", path.read_text(), flags=re.S)


def without_comments(path: Path) -> str:
    return re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
