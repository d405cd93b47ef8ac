"""What not every supported browser has stands where those without it lose nothing.

The supported browsers are those of "Browsers" in `docs/pages.md`.
"""

import re
from collections.abc import Iterator

import pytest

from tests.servers import ROOT

NEEDS_A_CONDITION = (
    "anchor-name",
    "anchor-scope",
    "content-visibility",
    "position-anchor",
    "position-area",
    "position-try",
)
"""CSS that changes where things stand or whether they are seen: inside `@supports` alone."""

ADORNS = (
    "field-sizing",
    "overflow-clip-margin",
    "scrollbar-color",
    "scrollbar-width",
    "text-wrap: pretty",
)
"""CSS without which things look a little otherwise and are as good to use."""

TOO_NEW_IN_CSS = (
    "@starting-style",
    "@view-transition",
    "::details-content",
    "animation-timeline",
    "appearance: base-select",
    "calc-size(",
    "contrast-color(",
    "corner-shape",
    "interpolate-size",
    "reading-flow",
    "sibling-index(",
    "text-box",
)
"""CSS that none of the pages use; whoever wants it puts it into one of the two above."""

TOO_NEW_IN_SCRIPTS = (
    r"\brequestIdleCallback\b",
    r"\bstartViewTransition\b",
    r"\bscrollend\b",
    r"\bclosedBy\b",
    r"\bmoveBefore\b",
    r"\bscrollIntoViewIfNeeded\b",
    r"\brequestClose\b",
    r"\bIterator\.from\b",
    r"(?<!Object)\.(?:values|keys|entries|matchAll)\([^()]*\)\.(?:map|filter|some|every|find|forEach|take|drop|toArray)\(",
    r"\bPromise\.try\b",
    r"\bRegExp\.escape\b",
    r"\bURL\.parse\b",
    r"\bTemporal\b",
    r"\bnavigator\.(?:userAgentData|scheduling)\b",
    r"\bscheduler\.(?:yield|postTask)\b",
    r"\bUint8Array\.fromBase64\b",
)
"""What a script may not call: patterns."""

NEEDS_A_GUARD = {
    r"\bCSS\.highlights\b": r"CSS\.highlights\?\.|window\.Highlight",
    r"\bnavigator\.clipboard\b": r"await navigator\.clipboard",
}
"""What a script may call in a line that has this too: it asks, or waits for what may fail."""


def style_sheets() -> Iterator[tuple[str, str]]:
    """Each style sheet: its name, and its text without comments."""
    for path in sorted((ROOT / "static/css").rglob("*.css")):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
        yield path.relative_to(ROOT).as_posix(), text


def scripts() -> Iterator[tuple[str, str]]:
    """Each script: its name and its text."""
    for path in sorted((ROOT / "static/js").rglob("*.js")):
        yield path.relative_to(ROOT).as_posix(), path.read_text()


def unconditional(text: str) -> str:
    """A style sheet without its blocks of `@supports`."""
    kept, at = "", 0
    for block in re.finditer(r"@supports[^{]*\{", text):
        if block.start() < at:
            continue
        kept += text[at : block.start()]
        depth, at = 1, block.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
    return kept + text[at:]


def test_a_block_of_supports_is_left_out_with_the_blocks_in_it() -> None:
    text = "a { b: c } @supports (x: y) { @media (z) { d { x: y } } } e { f: g }"
    assert unconditional(text).split() == [
        "a",
        "{",
        "b:",
        "c",
        "}",
        "e",
        "{",
        "f:",
        "g",
        "}",
    ]


@pytest.mark.parametrize("feature", NEEDS_A_CONDITION)
def test_what_moves_or_hides_things_asks_whether_the_browser_can(feature: str) -> None:
    bare = [
        name for name, text in style_sheets() if f"{feature}:" in unconditional(text)
    ]
    assert bare == []


def test_every_exception_is_used() -> None:
    together = " ".join(text for _, text in style_sheets())
    assert [feature for feature in ADORNS if feature not in together] == []


@pytest.mark.parametrize("feature", TOO_NEW_IN_CSS)
def test_style_sheets_use_nothing_that_supported_browsers_lack(feature: str) -> None:
    assert [name for name, text in style_sheets() if feature in text] == []


@pytest.mark.parametrize("pattern", TOO_NEW_IN_SCRIPTS)
def test_scripts_call_nothing_that_supported_browsers_lack(pattern: str) -> None:
    assert [name for name, text in scripts() if re.search(pattern, text)] == []


@pytest.mark.parametrize(("pattern", "guard"), NEEDS_A_GUARD.items())
def test_what_may_be_missing_is_asked_for_where_it_is_called(
    pattern: str, guard: str
) -> None:
    bare = [
        f"{name}: {line.strip()}"
        for name, text in scripts()
        for line in text.splitlines()
        if re.search(pattern, line) and not re.search(guard, line)
    ]
    assert bare == []


def test_what_can_not_be_marked_is_also_told_to_safari() -> None:
    """It knows only the name with its own prefix."""
    bare = [
        f"{name}: {rule.strip()}"
        for name, text in style_sheets()
        for rule in re.findall(r"[^{}]*user-select[^{}]*", text)
        if "-webkit-user-select:" not in rule
    ]
    assert bare == []


def test_no_style_hangs_on_whether_what_comes_later_has_come() -> None:
    """Safari doesn't look again at `:has(… :empty)` when an element is filled."""
    bare = [
        f"{name}: {selector}"
        for name, text in style_sheets()
        for selector in re.findall(r":has\((?:[^()]|\([^()]*\))*\)", text)
        if ":empty" in selector
    ]
    assert bare == []


def test_only_text_areas_have_a_corner_to_pull_at() -> None:
    """Safari puts one on fields for dates too."""
    bare = [
        f"{name}: {rule.strip()}"
        for name, text in style_sheets()
        for rule in re.findall(r"([^{};]*)\{[^{}]*\bresize:", text)
        if not re.search(r"(?:^|[\s>])textarea(?:\[[^]]*\])*\s*$", rule)
    ]
    assert bare == []
