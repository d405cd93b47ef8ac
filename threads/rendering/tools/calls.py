"""Calls of tools and their results as HTML."""

from functools import partial

from threads.domain.part import File, Image, Opaque, Text, ToolCall, ToolResult
from threads.rendering.cut import bounded, one_line
from threads.rendering.hidden import visible
from threads.rendering.media import render_file, render_image
from threads.rendering.safe import escape
from threads.rendering.summary import status
from threads.rendering.text import json_tree, output

from .cards import card

_NAME = 120


def render_call(call: ToolCall) -> str:
    """The card of a call: one line, and below it, folded unless it is an edit, what it carries."""
    made = card(call.name, call.arguments)
    line, note = one_line(made.line), one_line(made.note)
    head = _head(call.name, line, note)
    whole = [
        partial(output.plain, text)
        for text, shown in ((made.line, line), (made.note, note))
        if visible(text.strip()) != shown
    ]
    body = "".join(bounded([*whole, *made.bodies]))
    if not body:
        return f'<div class="tool">{head}</div>'
    opened = " open" if made.open else ""
    return f'<details class="tool"{opened}><summary>{head}</summary>{body}</details>'


def render_result(result: ToolResult, *, named: bool) -> str:
    """What a tool answered, each piece by its kind; `named` with its name and how it ended."""
    pieces = "".join(bounded([partial(_content, item) for item in result.content]))
    pieces = pieces or '<p class="note">No output.</p>'
    ended = status(result)
    bad = ended is not None and ended != "exit 0"
    shown = ""
    if ended is not None:
        shown = f'<span class="status {"is-bad" if bad else "is-good"}">{ended}</span>'
    head = ""
    if named and (result.name or shown):
        head = (
            f'<div class="tool">{_head(result.name or "result", "", "")} {shown}</div>'
        )
    return f'<div class="result{" is-bad" if bad else ""}">{head}{pieces}</div>'


def render_opaque(block: Opaque) -> str:
    """A block that nothing here interprets: its type, and its JSON folded."""
    body = json_tree.render(block.data)
    head = _head(block.type, "", "kept as it is")
    return f'<details class="tool"><summary>{head}</summary>{body}</details>'


def _content(item: Text | Image | File | Opaque) -> str:
    match item:
        case Text(text):
            return output.render(text) if text.strip() else ""
        case Image():
            return render_image(item)
        case File():
            return render_file(item)
        case Opaque():
            return render_opaque(item)


def _head(name: str, argument: str, note: str) -> str:
    html = f'<span class="tool-name">{escape(one_line(name, _NAME))}</span>'
    if argument:
        html += f' <code class="tool-argument">{escape(argument)}</code>'
    if note:
        html += f' <span class="tool-note">{escape(note)}</span>'
    return html
