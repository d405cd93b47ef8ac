"""Turns a message's parts into the HTML of its body; each kind of content has a file.

    parts → kind (by role, tool, fence or structure; never by guess) → cut → HTML → allow-list

The result is safe to put on a page as it is: `safe.finish` is the only way out. It depends on
nothing but the parts (and the counts printed beside folded thinking), so it is stored by the digest
of the body and `VERSION`.
"""

from .hidden import visible
from .message import render, summary
from .text.diff import render_difference, render_sides

__all__ = [
    "VERSION",
    "render",
    "render_difference",
    "render_sides",
    "summary",
    "visible",
]

VERSION = 2
"""Increase it with every change to what `message.render` returns; stored bodies are then remade."""
