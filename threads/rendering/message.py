"""The body of a message as HTML: each part by its kind, neighbouring folds on one line."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby

from django.utils.safestring import SafeString

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

from .cut import bounded
from .hidden import visible
from .media import render_file, render_image
from .safe import finish
from .summary import summary
from .text import ansi, markdown, output
from .text.diff import render_difference
from .tools.calls import render_call, render_opaque, render_result

__all__ = ["render", "render_difference", "summary", "visible"]


def render(
    role: Role, parts: tuple[Part, ...], *, counts: Sequence[int] | None
) -> SafeString:
    """The body of a message: safe HTML without a row around it, "" where there is nothing.

    `counts` are the tokens of each part, printed beside folded thinking. The same arguments give
    the same HTML under one `VERSION`.
    """
    counted = [
        *(counts or ())[: len(parts)],
        *[None] * (len(parts) - len(counts or ())),
    ]
    pieces = [
        partial(_part, role, part, count, alone=len(parts) == 1)
        for part, count in zip(parts, counted, strict=True)
    ]
    return finish("".join(_grouped(parts, bounded(pieces))))


def _grouped(parts: Sequence[Part], bodies: Sequence[str]) -> Iterator[str]:
    """Bodies in order, neighbouring folded ones together so that they can share a line."""
    folded = (isinstance(part, Thinking | ToolCall | Opaque) for part in parts)
    for is_folded, group in groupby(
        zip(folded, bodies, strict=True), key=lambda pair: pair[0]
    ):
        html = "".join(body for _, body in group)
        yield f'<div class="steps">{html}</div>' if is_folded else html


def _part(role: Role, part: Part, count: int | None, *, alone: bool) -> str:
    """One part; a result that is `alone` has its name and outcome in the head of the row."""
    match part:
        case Text(text):
            return _text(role, text)
        case Thinking():
            return _thinking(part, count)
        case ToolCall():
            return render_call(part)
        case ToolResult():
            return render_result(part, named=not alone)
        case Image():
            return render_image(part)
        case File():
            return render_file(part)
        case Opaque():
            return render_opaque(part)


def _text(role: Role, text: str) -> str:
    if not text.strip():
        return ""
    if role is Role.TOOL:
        return output.render(text)
    return ansi.render(text) if "\x1b[" in text else markdown.render(text)


def _thinking(part: Thinking, count: int | None) -> str:
    size = f' <span class="size">{count:,} tok</span>' if count else ""
    if not part.text.strip():
        encrypted = '<p class="note">Only its provider can read this.</p>'
        note = '<span class="tool-note">encrypted</span>'
        head = f'<span class="tool-name">thinking</span> {note}{size}'
        return (
            f'<details class="thinking"><summary>{head}</summary>{encrypted}</details>'
        )
    head = f'<span class="tool-name">thinking</span>{size}'
    body = markdown.render(part.text)
    return f'<details class="thinking"><summary>{head}</summary>{body}</details>'
