"""The thread in sections of 100 places: loaded sections have their rows, the others are empty.

Each 32 sections are wrapped in a stretch. When a section changes, the browser lays out only its
stretch; otherwise it would have to look at each of a thousand sections.
The height of an empty section is estimated from roles and tokens alone; no content is read.
"""

from collections.abc import Mapping

from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString

from .articles import articles_at
from .drawing import draw, joined
from .look import Look, derived
from .minimap import Shape, shapes
from .operation import FOLDS

SIZE = 100
SECTIONS_A_STRETCH = 32
BRIEF, HEAD, LINE = 34, 58, 24
"""Heights in pixels of a one-line row, of the head of a full row, and of a line of text."""
TOKENS_A_LINE = 20
MAX_LINES = 30


def start_of(place: int) -> int:
    return place - place % SIZE


def draw_sections(look: Look, loaded: int) -> SafeString:
    """All sections of a view; the one that starts at `loaded` has its rows."""
    empty = derived(look.thread, ("sections", look.view), lambda: _empty_sections(look))
    rows = joined(draw(look, articles_at(look, loaded, SIZE)))
    count = min(SIZE, look.total - loaded)
    full = _section({"start": loaded, "count": count, "html": rows})
    at = loaded // SIZE
    sections = [*empty[:at], full, *empty[at + 1 :]]
    stretches = (
        joined(sections[start : start + SECTIONS_A_STRETCH])
        for start in range(0, len(sections), SECTIONS_A_STRETCH)
    )
    return joined(
        format_html('<div class="stretch">{}</div>', one) for one in stretches
    )


def draw_chunk(look: Look, start: int, count: int) -> SafeString:
    return joined(draw(look, articles_at(look, start, count)))


def _empty_sections(look: Look) -> list[SafeString]:
    known = shapes(look)
    sections = []
    for start in range(0, len(known), SIZE):
        held = known[start : start + SIZE]
        height = sum(map(guessed_height, held))
        sections.append(
            _section({"start": start, "count": len(held), "height": height})
        )
    return sections


def guessed_height(shape: Shape) -> int:
    kind, tokens, is_fold, _ = shape
    lines = min(1 + tokens // TOKENS_A_LINE, MAX_LINES)
    if is_fold and kind in FOLDS:
        return BRIEF + (LINE * lines if tokens else 0)
    if kind in ("tool", "system", "developer"):
        return BRIEF
    return HEAD + LINE * lines


def _section(chunk: Mapping[str, object]) -> SafeString:
    return render_to_string("operations/editor/rows/chunk.html", {"chunk": chunk})
