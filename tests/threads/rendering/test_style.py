"""The style sheet of bodies and what the renderer prints know the same classes and colours."""

import re
from pathlib import Path

from threads.rendering import safe

CSS = (Path(__file__).parents[3] / "static/css/base/body.css").read_text("utf-8")
HOSTS = {"body", "marker-text", "inner", "changes"}
"""Classes of the page around a body that the sheet leans on."""


def level(step: int) -> int:
    """The value of a step of xterm's colour cube."""
    return 0 if step == 0 else 55 + 40 * step


def colour(place: int) -> tuple[int, int, int]:
    """The colour of a place in xterm's palette, 16 … 255."""
    if place >= 232:
        return (8 + 10 * (place - 232),) * 3
    place -= 16
    return level(place // 36), level(place // 6 % 6), level(place % 6)


def read(hexadecimal: str) -> tuple[int, int, int]:
    """A colour written as `#abc` or `#aabbcc`."""
    digits = (
        hexadecimal
        if len(hexadecimal) == 6
        else "".join(2 * one for one in hexadecimal)
    )
    red, green, blue = bytes.fromhex(digits)
    return red, green, blue


def test_every_class_of_the_sheet_can_be_printed() -> None:
    selectors = re.sub(r"\{[^{}]*\}", "", CSS)
    used = set(
        re.findall(
            r"\.([a-z][a-z0-9-]*)", re.sub(r"/\*.*?\*/", "", selectors, flags=re.S)
        )
    )
    assert used - HOSTS <= safe._CLASSES


def test_every_place_of_the_palette_has_the_colour_of_xterm() -> None:
    palette = dict(re.findall(r"\.a-f(\d+), \.a-g\1\) \{ --c: #([0-9a-f]+)", CSS))
    assert {int(place): read(given) for place, given in palette.items()} == {
        place: colour(place) for place in range(16, 256)
    }


def test_no_other_colour_is_raw() -> None:
    rest = re.sub(r"--c: #[0-9a-f]+", "", CSS)
    assert not re.search(r"#[0-9a-f]{3,8}\b|\brgb|\bhsl|oklch\((?!from)", rest)
