"""What a tool call did: the kind of work, and the files it names.

Names alone mislead: `write_stdin` writes no file, `TaskCreate` creates none, an editor may only
show one. So the kind follows from the words of the name and from the call's arguments.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Literal

from operations.domain.text.left_out import named_paths
from threads.domain.part import JSON, ToolCall

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_PREFIX = re.compile(r"mcp__.*?__")
_KINDS = {
    "edit": {"edit", "edits", "editor", "write", "patch", "replace", "create"}
    | {"insert", "multiedit"},
    "grep": {"grep", "search", "glob", "find", "ripgrep", "rg"},
    "bash": {"bash", "shell", "exec", "terminal", "command", "commands", "run"}
    | {"execute", "stdin", "ipython"},
    "file_view": {"read", "view", "cat", "open", "show"},
}
"""Words in tool names, by kind; the first kind that fits counts."""
KindName = Literal["file_view", "grep", "bash", "edit", "other"]
"""The kinds, as the API's contract lists them inline."""
_PATHS = frozenset(
    {"path", "paths", "file", "files", "filename", "filenames", "filepath", "filepaths"}
    | {"absolutepath", "notebookpath", "targetfile", "dir", "dirpath", "directory"}
    | {"relativeworkspacepath"}
)
_PATTERNS = frozenset({"pattern", "query", "regex", "glob", "search", "q", "filename"})
_COMMANDS = frozenset({"command", "commands", "cmd", "script", "code", "chars"})
_LINES = frozenset({"command", "commands", "cmd", "script"})
"""Names of arguments that hold command lines, which are searched for paths."""
_VIEWS = frozenset({"view", "read", "open", "show"})
_PATCHED = re.compile(
    r"^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$", re.MULTILINE
)
_SHORT = 300
"""Most characters of a path; anything longer is a file's contents."""


def kind_of(name: str, arguments: JSON) -> str:
    """`file_view`, `grep`, `bash` or `edit`; otherwise `other`.

    If the arguments are unknown (None), the name alone decides.
    """
    words = _words_of(name)
    given = {"": arguments}
    if isinstance(arguments, dict):
        given = {_plain(key): value for key, value in arguments.items()}
        if words & _KINDS["edit"] and given.get("command") in _VIEWS:
            return "file_view"
    for kind, pieces in _KINDS.items():
        if words & pieces and (arguments is None or _fits(kind, given)):
            return kind
    return "other"


def paths_of(call: ToolCall) -> list[str]:
    """The files that a call names, each once, in order."""
    found = [*_named(call.arguments), *_patched(call.arguments)]
    if not found:
        members = _members(call.arguments)
        commands = (text for key, text in members if key in _LINES)
        found = [path for path in named_paths(commands) if _names_something(path)]
    return list(dict.fromkeys(found))


@lru_cache(1_000)
def _words_of(name: str) -> frozenset[str]:
    """The words of a tool's name; cached, as a thread uses few tools."""
    words = _WORDS.findall(_PREFIX.sub("", name, count=1))
    return frozenset(map(str.lower, words))


def _names_something(path: str) -> bool:
    """Whether a path contains a name; `../..` contains none."""
    return bool(path.strip("./"))


def _fits(kind: str, given: dict[str, Any]) -> bool:
    """Whether a call of this kind would have these arguments; an edit names a file."""
    if "" in given:
        return kind != "edit" or bool(paths_of(ToolCall("", "", given[""])))
    if kind == "grep":
        return not _PATTERNS.isdisjoint(given)
    if kind == "bash":
        return not _COMMANDS.isdisjoint(given)
    if not _PATHS.isdisjoint(given):
        return True
    return kind == "edit" and any(True for _ in _patched(list(given.values())))


def _named(value: JSON) -> Iterator[str]:
    """The paths in members named like `_PATHS`, at any depth."""
    if isinstance(value, list):
        for item in value:
            yield from _named(item)
    if not isinstance(value, dict):
        return
    for name, item in value.items():
        if _plain(name) not in _PATHS:
            yield from _named(item) if isinstance(item, dict | list) else ()
            continue
        for path in item if isinstance(item, list) else [item]:
            if isinstance(path, str) and 0 < len(path) <= _SHORT:
                yield path
            else:
                yield from _named(path)


def _patched(value: JSON) -> Iterator[str]:
    for text in _texts(value):
        if "*** " in text:
            yield from _PATCHED.findall(text)


def _texts(value: JSON) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    elif not isinstance(value, list):
        return []
    return [text for item in value for text in _texts(item)]


def _members(value: JSON) -> Iterator[tuple[str, str]]:
    """The texts in an object's members, at any depth, each with the member's name."""
    if isinstance(value, str):  # a bare string may be anything that a tool takes
        yield "command", value
    if isinstance(value, dict):
        for name, item in value.items():
            yield from ((_plain(name), text) for text in _texts(item))


@lru_cache(1_000)
def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()
