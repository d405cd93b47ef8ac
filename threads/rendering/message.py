"""A message as HTML, each part by its kind, and as one line of plain text."""

import re
from collections.abc import Sequence
from functools import partial
from itertools import groupby, zip_longest
from operator import itemgetter

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

from .cards import card, family
from .cut import LINE, bounded, one_line, readable
from .safe import escape, finish, visible
from .text import ansi, json_tree, markdown, output

SHOWN_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Types that a browser only paints. SVG isn't shown: it is a document that can hold scripts."""
_NAME = 120
LENGTH = 200
_RANK = {"text": 0, "tool_call": 1, "tool_result": 1, "thinking": 3}
_READ = 2_000
"""How much of a text is read to make a line from, in characters."""
_SHA256 = re.compile(r"[0-9a-f]{64}")


def render(
    role: Role, parts: tuple[Part, ...], *, counts: Sequence[int] | None
) -> SafeString:
    """The body of a message as safe HTML without a row around it; "" if there is none.

    `counts` are the tokens of each part, printed beside folded thinking. The same arguments give
    the same HTML under one `VERSION`.
    """
    pieces = [
        partial(_part, role, part, count, alone=len(parts) == 1)
        for part, count in zip_longest(parts, (counts or ())[: len(parts)])
    ]
    folded = (isinstance(part, Thinking | ToolCall | Opaque) for part in parts)
    pairs = zip(folded, bounded(pieces), strict=True)
    html = ""
    for is_folded, group in groupby(pairs, key=itemgetter(0)):
        bodies = "".join(body for _, body in group)
        html += f'<div class="steps">{bodies}</div>' if is_folded else bodies
    return finish(html)


def _part(
    role: Role, part: Part, count: int | None = None, *, alone: bool = False
) -> str:
    """One part; the name and outcome of a result that is `alone` are in the row's head instead."""
    match part:
        case Text(text) if not text.strip():
            return ""
        case Text(text) if role is Role.TOOL:
            return output.render(text)
        case Text(text):
            return ansi.render(text) if "\x1b[" in text else markdown.render(text)
        case Thinking():
            return _thinking(part, count)
        case ToolCall():
            return _call(part)
        case ToolResult():
            return _result(part, named=not alone)
        case Image():
            return _image(part)
        case File():
            return _chip("file", part, part.name)
        case Opaque():
            body = json_tree.render(part.data)
            head = _head(part.type, note="kept as it is")
            return f'<details class="tool"><summary>{head}</summary>{body}</details>'


def _thinking(part: Thinking, count: int | None) -> str:
    size = f' <span class="size">{count:,} tok</span>' if count else ""
    if part.text.strip():
        note, body = "", markdown.render(part.text)
    else:
        note = ' <span class="tool-note">encrypted</span>'
        body = '<p class="note">Only its provider can read this.</p>'
    head = f'<span class="tool-name">thinking</span>{note}{size}'
    return f'<details class="thinking"><summary>{head}</summary>{body}</details>'


def _call(call: ToolCall) -> str:
    """The card of a call: one line, and its details below, folded unless it is an edit."""
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


def _result(result: ToolResult, *, named: bool) -> str:
    """A tool result, each piece by its kind; if `named`, with its name and outcome."""
    pieces = [partial(_part, Role.TOOL, item) for item in result.content]
    body = "".join(bounded(pieces)) or '<p class="note">No output.</p>'
    ended = status(result)
    bad = ended is not None and ended != "exit 0"
    head = ""
    if named and (result.name or ended is not None):
        shown = ""
        if ended is not None:
            look = "is-bad" if bad else "is-good"
            shown = f'<span class="status {look}">{ended}</span>'
        head = f'<div class="tool">{_head(result.name or "result")} {shown}</div>'
    return f'<div class="result{" is-bad" if bad else ""}">{head}{body}</div>'


def _head(name: str, argument: str = "", note: str = "") -> str:
    html = f'<span class="tool-name">{escape(one_line(name, _NAME))}</span>'
    if argument:
        html += f' <code class="tool-argument">{escape(argument)}</code>'
    if note:
        html += f' <span class="tool-note">{escape(note)}</span>'
    return html


def _image(image: Image) -> str:
    """The stored picture, or a chip for a picture that isn't shown."""
    kind = image.media_type.lower()
    if image.sha256 and _SHA256.fullmatch(image.sha256) and kind in SHOWN_TYPES:
        return (
            f'<div class="picture"><img src="/api/blobs/{image.sha256}"'
            f' alt="Picture in the message, {escape(kind)}" loading="lazy" decoding="async"></div>'
        )
    if image.url and markdown.allowed(image.url):
        return f'<div class="picture">{markdown.remote_picture(image.url)}</div>'
    return _chip("picture not shown", image)


def _chip(kind: str, what: Image | File, name: str | None = None) -> str:
    size = readable(len(what.data)) if what.data is not None else None
    words = ", ".join(word for word in (name, what.media_type, size) if word)
    shown = escape(words[:300])
    return f'<div class="picture"><span class="chip">{kind}: <bdi>{shown}</bdi></span></div>'


def summary(role: Role, parts: tuple[Part, ...]) -> str:
    """A message as one line of plain text, at most `LENGTH` characters.

    Text comes before calls and results, and these before pictures and thinking. Hidden and control
    characters are made visible, terminal sequences are removed.
    """
    lines = [
        (_RANK.get(part.kind, 2), place, line)
        for place, part in enumerate(parts[:200])
        if (line := part_line(role, part))
    ]
    return one_line(min(lines)[2], LENGTH) if lines else ""


def part_line(role: Role, part: Part) -> str:
    """One part on one line, not yet shortened to a summary's length."""
    match part:
        case Text(text):
            code = output.exit_code(text) if role is Role.TOOL else None
            return _joined(None if code is None else f"exit {code}", _flat(text))
        case Thinking(text):
            return _joined("thinking", _flat(text))
        case ToolCall(_, name, arguments):
            return _joined(visible(name[:LINE]), one_line(card(name, arguments).line))
        case ToolResult(_, content, name):
            texts = [_flat(item.text) for item in content if isinstance(item, Text)]
            return _joined(visible((name or "")[:LINE]), status(part), *texts[:1])
        case Image(media_type) | File(media_type):
            # "image png" rather than "image image/png", which would say it twice.
            said = media_type.removeprefix(f"{part.kind}/")
            return _joined(part.kind, visible(said[:LINE]))
        case Opaque(kind):
            return visible(kind[:LINE])


def status(result: ToolResult) -> str | None:
    """`exit 1` if the output of a command says so, `error` if only the result is marked as one."""
    if result.name is None or family(result.name) in ("command", "program", None):
        for item in result.content[:1] + result.content[-1:]:
            code = output.exit_code(item.text) if isinstance(item, Text) else None
            if code:
                return f"exit {code}"
            if code == 0 and not result.is_error:
                return "exit 0"
    return "error" if result.is_error else None


def _flat(text: str) -> str:
    return " ".join(ansi.strip(text[:_READ]).split())


def _joined(*words: str | None) -> str:
    return " ".join(word for word in words if word)
