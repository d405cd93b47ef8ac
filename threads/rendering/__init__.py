"""From a message's parts to the HTML of its body: one kind of content a file.

    parts → kind (by role, tool, fence or structure; never by guess) → cut → HTML → allow-list

What comes out is safe to put on a page as it stands: `safe.finish` is the only way out. It
depends on nothing but the parts (and the counts printed beside folded thinking), so it is
stored by the digest of the body and `VERSION`.
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
"""Raise it with every change of what `message.render` answers: stored bodies are made again."""
