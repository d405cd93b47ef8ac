"""What kind of thing a message holds, by the tool that it calls or is the result of."""

from collections.abc import Sequence

from threads.domain.part import Part, Text, ToolCall, ToolResult
from threads.domain.text import whole_text

_KINDS = {
    "edit": ("edit", "write", "patch", "replace", "create"),
    "grep": ("grep", "search", "glob", "find", "ripgrep"),
    "bash": ("bash", "shell", "exec", "terminal", "command", "run"),
    "file_view": ("read", "view", "cat", "open", "show"),
}
"""Pieces of tools' names; the first kind that fits counts."""
_LONGEST_SUMMARY = 80


def content_type(names: Sequence[str]) -> str:
    """`file_view`, `grep`, `bash` or `edit` by the tools' names; else `other`."""
    for name in names:
        for kind, pieces in _KINDS.items():
            if any(piece in name.casefold() for piece in pieces):
                return kind
    return "other"


def tools_of(parts: Sequence[Part]) -> list[str]:
    """The names of the tools that a message calls, or brings results of."""
    return [
        part.name
        for part in parts
        if isinstance(part, ToolCall | ToolResult) and part.name
    ]


def summary_of(parts: Sequence[Part]) -> str:
    """The first words of a message, on one line."""
    texts = " ".join(part.text for part in parts if isinstance(part, Text))
    words = " ".join((texts or whole_text(parts)).split())
    return (
        words if len(words) <= _LONGEST_SUMMARY else f"{words[: _LONGEST_SUMMARY - 1]}…"
    )
