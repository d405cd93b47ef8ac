"""Which files a tool call views or edits, and which lines of them.

The tables are data: a harness with other names needs a new line there, not new code.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from threads.domain.part import JSON, ToolCall

from .shell_words import shell_words

_STARTS = ("offset", "start_line", "startline", "start", "line_number", "startlineone")
_ENDS = ("end_line", "endline", "end", "endlineone")
_COUNTS = ("limit", "max_lines")
_RANGES = ("view_range", "range", "lines")
"""Names of arguments that say which lines a view shows."""
_COMMANDS = ("command", "cmd", "script", "commands")
"""Names of arguments that hold a command line."""
_WHOLE_VIEWS = frozenset({"cat", "nl", "bat", "less", "more", "type", "get-content"})
_PART_VIEWS = frozenset({"head", "tail", "sed"})
_QUIET = frozenset({"cd", "pwd", "echo", "true", "set", "export", "pushd", "popd"})
"""Commands that neither show nor change a file."""
_EDITS_IN_PLACE = frozenset({"sed", "perl", "gsed"})
_IN_PLACE = re.compile(r"-{1,2}i(?:n-place)?\b|-[a-z]*i[a-z]*$")
_WRITERS = frozenset({"tee"})
_MOVERS = frozenset({"mv", "cp"})
_REMOVERS = frozenset({"rm", "truncate", "touch"})
_CHANGES = _WRITERS | _MOVERS | _REMOVERS
_REDIRECTIONS = frozenset({">", ">>", ">|"})
_NOWHERE = re.compile(r"/dev/|&|\$null$|nul$", re.IGNORECASE)
"""Redirection targets that are not files: devices, and the null devices of PowerShell and cmd."""
_ENDS_COMMAND = frozenset({"&&", "||", ";", "|", "&", "\n"})
_SED_LINES = re.compile(r"([0-9]{1,18})(?:,([0-9]{1,18}|\$))?p;?")
_DOCUMENT = re.compile(r"(?<!<)<<-?[ \t]*(['\"\\]?)(\w+)['\"]?(?!<)")
"""The start of a here-document, with the word that ends it."""
_COUNT = re.compile("[0-9]{1,18}")
_COUNT_FLAG = re.compile("-n?([0-9]{1,18})")
_MAX_COMMAND_LENGTH = 20_000


class FileUse(NamedTuple):
    """A file that a call viewed or edited.

    Lines count from 1, both ends included; `last` is None for "to the end".
    """

    path: str
    is_edit: bool
    first: int = 1
    last: int | None = None

    def covers(self, other: "FileUse") -> bool:
        """Whether this use supersedes the other: it is an edit, or a view of all its lines."""
        if not is_same_file(self.path, other.path):
            return False
        reaches = self.last is None or (
            other.last is not None and self.last >= other.last
        )
        return self.is_edit or (self.first <= other.first and reaches)


def is_same_file(one: str, other: str) -> bool:
    """Whether two paths name the same file.

    A relative path of at least two segments is the same file as an absolute path that ends in it.
    """
    one, other = _plain(one), _plain(other)
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    is_relative = not short.startswith(("/", "~")) and "/" in short
    return is_relative and long.startswith(("/", "~")) and long.endswith("/" + short)


def file_uses(call: ToolCall, kind: str, paths: Sequence[str]) -> tuple[FileUse, ...]:
    """The files that a call views or edits. A command that does more than view has no views.

    `paths` are the paths that the call names.
    """
    if kind == "edit":
        return tuple(FileUse(path, is_edit=True) for path in paths)
    if kind == "file_view":
        first, last = _lines(call.arguments)
        return tuple(FileUse(path, False, first, last) for path in paths)
    if kind == "bash":
        command = command_of(call)
        patched = paths if "*** Begin Patch" in command else ()
        edits = (FileUse(path, is_edit=True) for path in patched)
        return (*edits, *_shell(command))
    return ()


def command_of(call: ToolCall) -> str:
    """The command line that a call runs; empty if it runs none."""
    if isinstance(call.arguments, str):
        return call.arguments
    given = call.arguments if isinstance(call.arguments, dict) else {}
    for name in _COMMANDS:
        value = given.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            words = [str(word) for word in value]
            is_shell = len(words) > 2 and words[1] in ("-c", "-lc", "-ic")
            return words[2] if is_shell else " ".join(words)
    return ""


def _plain(path: str) -> str:
    path = path.replace("\\", "/")
    while path.startswith("./"):
        path = path[2:]
    return path.rstrip("/")


def _lines(arguments: JSON) -> tuple[int, int | None]:
    """The first and the last line that a view asks for."""
    given = arguments if isinstance(arguments, dict) else {}
    numbers = {
        name.lower(): value
        for name, value in given.items()
        if isinstance(value, int) and not isinstance(value, bool)
    }
    for name, value in given.items():
        if name.lower() in _RANGES and isinstance(value, list) and len(value) == 2:
            numbers = {"start": value[0], "end": value[1]}
    first = next((numbers[name] for name in _STARTS if name in numbers), 1)
    last = next((numbers[name] for name in _ENDS if name in numbers), None)
    count = next((numbers[name] for name in _COUNTS if name in numbers), None)
    if last is None and count is not None:
        last = first + count - 1
    is_range = isinstance(first, int) and (last is None or isinstance(last, int))
    if not is_range:
        return 1, None
    return max(1, first), None if last is None or last < 1 else last


def _shell(command: str) -> Iterator[FileUse]:
    """What a command line views and edits; its views count only if it does nothing else."""
    pipelines = _pipelines(_without_documents(command)[:_MAX_COMMAND_LENGTH])
    edits = [edit for pipeline in pipelines for edit in _edited(pipeline)]
    yield from edits
    if edits:
        return
    views: list[FileUse] = []
    for pipeline in pipelines:
        if pipeline[0][0] in _QUIET and len(pipeline) == 1:
            continue
        view = _viewed(pipeline)
        if view is None:
            return
        views += view
    yield from views


def _without_documents(command: str) -> str:
    """A command line without its here-documents; unchanged if one of them is not closed."""
    if "<<" not in command:
        return command
    kept: list[str] = []
    ends: list[str] = []
    for line in command.split("\n"):
        if ends:
            if line.strip() == ends[0]:
                ends.pop(0)
            continue
        ends = [match[2] for match in _DOCUMENT.finditer(line)]
        kept.append(_DOCUMENT.sub("", line))
    return command if ends else "\n".join(kept)


def _pipelines(command: str) -> list[list[list[str]]]:
    """The pipelines of a command line, each a list of commands, each a list of words."""
    found: list[list[list[str]]] = [[[]]]
    for word in shell_words(command.replace("\n", " ; ")) or ():
        if word == "|":
            found[-1].append([])
        elif word in _ENDS_COMMAND:
            found.append([[]])
        else:
            found[-1][-1].append(word)
    return [pipeline for pipeline in found if all(pipeline)]


def _edited(pipeline: Sequence[Sequence[str]]) -> Iterator[FileUse]:
    for words in pipeline:
        if not _REDIRECTIONS.isdisjoint(words):
            for mark, target in pairwise(words):
                if mark in _REDIRECTIONS and not _NOWHERE.match(target):
                    yield FileUse(target, is_edit=True)
        name = words[0]
        if name in _EDITS_IN_PLACE:
            if (operands := _operands(words)) and any(map(_IN_PLACE.match, words[1:])):
                yield FileUse(operands[-1], is_edit=True)
        elif name in _CHANGES:
            operands = _operands(words)
            if name not in _MOVERS or len(operands) > 1:
                yield from (FileUse(path, is_edit=True) for path in operands)


def _operands(words: Sequence[str]) -> list[str]:
    return [one for one in words[1:] if one[:1] != "-"]


def _viewed(pipeline: Sequence[Sequence[str]]) -> list[FileUse] | None:
    """The files that a pipeline shows; None if it isn't a view of files."""
    source, *filters = pipeline
    name = source[0].lower()
    if name not in _WHOLE_VIEWS | _PART_VIEWS:
        return None
    first, last = 1, None
    words = list(source[1:])
    for stage in (source, *filters):
        cut = _cut_of(stage)
        if cut is None:
            return None
        first, last = cut if cut != (1, None) else (first, last)
    if name == "sed":
        words = [one for one in words if not _SED_LINES.fullmatch(one)]
    paths = [one for one in words if one[:1] != "-" and not _COUNT.fullmatch(one)]
    return [FileUse(path, False, first, last) for path in paths] or None


def _cut_of(words: Sequence[str]) -> tuple[int, int | None] | None:
    """The line range that a pipeline stage lets through; None if it does more than cut lines."""
    name = words[0].lower()
    if name in _WHOLE_VIEWS:
        return 1, None
    if name == "sed":
        found = [match for word in words[1:] if (match := _SED_LINES.fullmatch(word))]
        if "-n" not in words or len(found) != 1:
            return None
        first, last = int(found[0][1]), found[0][2]
        return first, None if last == "$" else int(last or first)
    if name == "head":
        flags = [match for word in words[1:] if (match := _COUNT_FLAG.fullmatch(word))]
        counts = [int(match[1]) for match in flags]
        counts += [int(word) for word in words[1:] if _COUNT.fullmatch(word)]
        return 1, counts[0] if counts else 10
    # Which lines `tail` shows isn't known: only an edit or a view of the whole file covers it.
    return (2, None) if name == "tail" else None
