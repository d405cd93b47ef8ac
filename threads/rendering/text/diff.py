"""Differences as rows: unified diffs, Codex patches, edits by tools, revisions by people.

The sign of a row is part of its text, so that nothing is conveyed by colour alone and a copied diff
is still a diff.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from django.utils.safestring import SafeString

from threads.rendering.cut import (
    OUTPUT,
    Limit,
    fold,
    left_out,
    readable,
    shorten,
    shortened,
)
from threads.rendering.safe import escape, finish, visible

from .difference import align, merged, sides

SIZE_LIMIT = 64 * 1024
LINE_LIMIT = 2_000
"""Characters of the longer text and lines of both above which words are not compared."""
MAX_ROWS = 5_000
"""The most lines of a run of rows that are shown."""
PAIRED_LINES = 500
"""Lines of a diff above which changed words are not marked."""
CONTEXT = 3
"""Unchanged lines shown beside a change of a revision."""

_SIGNS = {"add": "+", "remove": "−", "change": "±", "context": " "}
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_UNIFIED = re.compile(
    r"^(?:diff --git [^\n]+\n|--- [^\n]+\n\+\+\+ [^\n]+\n)(?:[^\n@]*\n){0,8}?@@ -\d"
    r"|\A@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@",
    re.MULTILINE,
)
_FILES = re.compile(
    r"^(?:\*\*\* (?:Update|Add|Delete) File: |\+\+\+ (?:b/)?)([^\t\n]+)", re.MULTILINE
)


class DiffLine(NamedTuple):
    """A line of a diff: its kind (`add remove change context hunk file`), its text, its HTML."""

    kind: str
    text: str
    html: str | None = None


def is_unified(text: str) -> bool:
    """Whether `text` holds a unified diff, by its headers alone."""
    return _UNIFIED.search(text) is not None


def render_unified(text: str, *, limit: Limit = OUTPUT) -> str:
    """A unified diff as rows, with any text before and between its hunks."""
    start, note, end = shortened(text.rstrip("\n"), "a diff")
    html = _folded(_with_words(list(_unified(visible(start).split("\n")))), limit)
    if note:
        html += note + _folded(
            _lines_of_kind("context", visible(end).split("\n")), limit
        )
    return html


def is_patch(text: str) -> bool:
    """Whether `text` is a patch as Codex writes it."""
    return text.lstrip().startswith("*** Begin Patch")


def patched_files(text: str) -> list[str]:
    """The files that a patch or a unified diff names, in order, each once."""
    names = dict.fromkeys(_FILES.findall(text))
    return [name for name in names if name != "/dev/null"]


def render_patch(text: str, *, limit: Limit = OUTPUT) -> str:
    """A patch as Codex writes it (`*** Begin Patch` …), as rows."""
    start, note, end = shortened(text.strip("\n"), "a patch")
    html = _folded(_with_words(_patched(start)), limit)
    return html + note + _folded(_patched(end), limit) if note else html


def render_edit(old: str, new: str, *, limit: Limit = OUTPUT) -> str:
    """An edit by a tool: removed and added lines with the changed words marked."""
    rows: list[DiffLine] = []
    before, after = _lines(old), _lines(new)
    for block in align(before, after):
        then, now = before[slice(*block.old)], after[slice(*block.new)]
        rows += _lines_of_kind("context", then) if block.same else _replaced(then, now)
    return _folded(_with_words(rows), limit)


def render_difference(old: str, new: str) -> SafeString:
    """Two versions of a text as rows of safe HTML.

    Lines that changed a little are shown once, with `<del>` and `<ins>` around words. Unchanged
    lines far from a change are folded. Above `SIZE_LIMIT` or `LINE_LIMIT` whole lines are compared.
    """
    before, after = _lines(old), _lines(new)
    is_small = max(len(old), len(new)) <= SIZE_LIMIT
    by_word = is_small and len(before) + len(after) <= LINE_LIMIT
    html: list[str] = []
    blocks = align(before, after)
    for place, block in enumerate(blocks):
        then, now = before[slice(*block.old)], after[slice(*block.new)]
        if not block.same:
            words = None
            if by_word and then and now:
                words = merged("\n".join(then), "\n".join(now))
            change = [DiffLine("change", "", words)]
            html.append(_rows(_replaced(then, now) if words is None else change))
            continue
        # All but the lines next to a change are folded.
        head = CONTEXT if place > 0 else 0
        tail = len(then) - (CONTEXT if place < len(blocks) - 1 else 0)
        middle = then[head:tail]
        if len(middle) <= 2 * CONTEXT or len(blocks) == 1:
            html.append(_rows(_lines_of_kind("context", then)))
            continue
        folded = fold(
            _rows(_lines_of_kind("context", then[:head])),
            _rows(_lines_of_kind("context", middle)),
            lines=len(middle),
            size=sum(map(len, middle)),
            what="unchanged",
        )
        html += [folded, _rows(_lines_of_kind("context", then[tail:]))]
    return finish(f'<div class="diff prose" dir="auto">{"".join(html)}</div>')


def render_sides(old: str, new: str) -> tuple[SafeString, SafeString] | None:
    """Two texts as safe HTML, with `<del>` and `<ins>` around the words that differ.

    None if too little is alike, or if they are too long to compare their words.
    """
    if max(len(old), len(new)) > SIZE_LIMIT:
        return None
    pair = sides(old, new)
    return None if pair is None else (finish(pair[0]), finish(pair[1]))


def _lines(text: str) -> list[str]:
    """The lines of a text, shortened if it is far too long; an empty list for an empty text."""
    start, omitted, end = shorten(text)
    note = f"\n… {readable(omitted)} left out here …\n" if omitted else ""
    whole = visible(start + note + end)
    return whole.removesuffix("\n").split("\n") if whole else []


def _lines_of_kind(kind: str, lines: Iterable[str]) -> list[DiffLine]:
    return [DiffLine(kind, line) for line in lines]


def _replaced(then: Sequence[str], now: Sequence[str]) -> list[DiffLine]:
    return _lines_of_kind("remove", then) + _lines_of_kind("add", now)


def _unified(lines: Sequence[str]) -> Iterator[DiffLine]:
    """Rows of a unified diff; a sign counts only inside a hunk, for as long as its header says."""
    old = new = 0
    for line in lines:
        if header := _HUNK.match(line):
            old, new = int(header[1] or 1), int(header[2] or 1)
            yield DiffLine("hunk", line)
        elif new > 0 and line.startswith("+"):
            new -= 1
            yield DiffLine("add", line[1:])
        elif old > 0 and line.startswith("-"):
            old -= 1
            yield DiffLine("remove", line[1:])
        elif (old > 0 or new > 0) and (line[:1] in ("", " ", "\\")):
            old, new = old - (line[:1] != "\\"), new - (line[:1] != "\\")
            yield DiffLine("context", line[1:] if line[:1] == " " else line)
        else:
            old = new = 0
            is_header = line.startswith(("diff --git ", "index ", "--- ", "+++ "))
            yield DiffLine("file" if is_header else "context", line)


def _patched(text: str) -> list[DiffLine]:
    """Rows of a patch: the sign of each line gives its kind."""
    kinds = {"+": "add", "-": "remove", " ": "context", "*": "file", "@": "hunk"}
    return [
        DiffLine(kind, line[1:] if kind in _SIGNS and line[:1] in "+- " else line)
        for line in visible(text).split("\n")
        for kind in [kinds.get(line[:1], "context")]
    ]


def _with_words(rows: list[DiffLine]) -> list[DiffLine]:
    """Mark the changed words in lines that were replaced one by one."""
    if len(rows) > PAIRED_LINES:
        return rows
    marked = list(rows)
    place = 0
    while place < len(rows):
        removed = _run(rows, place, "remove")
        added = _run(rows, place + removed, "add")
        if removed == added:
            for at in range(place, place + removed):
                old, new = rows[at], rows[at + removed]
                if pair := sides(old.text, new.text):
                    marked[at] = old._replace(html=pair[0])
                    marked[at + removed] = new._replace(html=pair[1])
        place += max(removed + added, 1)
    return marked


def _run(rows: Sequence[DiffLine], start: int, kind: str) -> int:
    end = start
    while end < len(rows) and rows[end].kind == kind:
        end += 1
    return end - start


def _folded(rows: Sequence[DiffLine], limit: Limit) -> str:
    size = shown = 0
    for row in rows[: limit.lines]:
        size += len(row.text)
        if size > limit.size and shown:
            break
        shown += 1
    if len(rows) - shown < 4 and size <= limit.size:
        shown = len(rows)
    rest = rows[shown:]
    return fold(
        _block(rows[:shown]),
        _block(rest) if rest else "",
        lines=len(rest),
        size=sum(len(row.text) for row in rest),
    )


def _block(rows: Sequence[DiffLine]) -> str:
    return f'<div class="diff">{_rows(rows)}</div>'


def _rows(rows: Sequence[DiffLine]) -> str:
    html = []
    for kind, text, marked in rows[:MAX_ROWS]:
        sign = f'<span class="sign">{_SIGNS[kind]}</span>' if kind in _SIGNS else ""
        words = escape(text) if marked is None else marked
        html.append(f'<div class="line {kind}">{sign}{words}</div>')
    if (over := len(rows) - MAX_ROWS) > 0:
        html.append(left_out(f"{over:,} lines"))
    return "".join(html)
