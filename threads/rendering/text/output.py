"""The output of a tool by its kind: terminal output, a diff, JSON, or plain text.

Each kind is recognised by characters or structure that no other has; nothing is guessed.
"""

import re

from threads.rendering.cut import OUTPUT, TEXT_LIMIT, Limit, cut, fold_text, shortened
from threads.rendering.safe import escape, visible

from . import ansi, diff, json_tree

JSON_SIZE = 256 * 1024
_AT_START = re.compile(
    r"\A(?:(?:Exit code:? |Error: Exit code )(-?\d{1,5})\b"
    r"|\s*<(?:returncode|exit_code)>(-?\d{1,5})<"
    r"|(?:[A-Z][^\n]*\n){0,4}Process exited with code (-?\d{1,5})\b)"
)
_AT_END = re.compile(
    r"\[?(?:The command|Command) (?:completed|finished|exited) with (?:exit )?code (-?\d{1,5})"
)
_EDGE = 400


def render(text: str, *, limit: Limit = OUTPUT) -> str:
    """The HTML of a tool's output, folded after `limit`."""
    start = text[:TEXT_LIMIT]
    if ansi.is_terminal(start):
        return ansi.render(text, limit=limit)
    if diff.is_unified(start):
        return diff.render_unified(text, limit=limit)
    if len(text) <= JSON_SIZE and (value := json_tree.parse(text)):
        return json_tree.render(value, limit=limit)
    return plain(text, limit=limit)


def plain(text: str, *, limit: Limit = OUTPUT) -> str:
    """Plain text in a monospace block."""
    start, note, end = shortened(text.rstrip(), "text")
    shown, rest = cut(visible(start), limit)
    html = fold_text(shown.rstrip("\n"), rest, _block)
    return html + note + _block(visible(end)) if note else html


def exit_code(text: str) -> int | None:
    """The exit status that an output states first or last, in its agent's words, or None."""
    match = _AT_START.match(text[:_EDGE]) or _AT_END.search(text[-_EDGE:])
    if match is None:
        return None
    return int(next(group for group in match.groups() if group is not None))


def _block(text: str) -> str:
    return f'<pre class="output" dir="ltr"><code>{escape(text)}</code></pre>'
