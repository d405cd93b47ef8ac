"""Highlights source code with the classes of Pygments.

The language is what a fence or a file name says, never guessed: guessing is slow and wrong.
Highlighting is limited to languages that occur in transcripts and whose lexers withstand hostile
input, and to texts of ordinary size and line length, piece by piece: the cost of many a lexer grows
with the square or the cube of its input (decision 0021).
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import PurePosixPath

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name

from threads.rendering.cut import (
    HTML_LIMIT,
    OUTPUT,
    Limit,
    count_lines,
    cut,
    fold,
    fold_text,
    shortened,
)
from threads.rendering.safe import CODE_PREFIX, escape, visible

COLOURED_SIZE = 64 * 1024
"""Larger texts, and texts with longer lines, are not highlighted; in characters."""
COLOURED_LINE = 500
PIECE_LINES = 100
PIECE_SIZE = 2_000

_LANGUAGES = {
    "bash": "sh shell zsh console",
    "c": "h",
    "clojure": "clj edn",
    "cpp": "c++ cc cxx hpp hh",
    "csharp": "cs c#",
    "diff": "patch",
    "docker": "dockerfile containerfile",
    "elixir": "ex exs",
    "erlang": "erl",
    "fsharp": "fs",
    "go": "golang",
    "graphql": "gql",
    "groovy": "gradle",
    "haskell": "hs",
    "hcl": "tf terraform",
    "html": "htm django jinja",
    "ini": "cfg conf properties editorconfig",
    "javascript": "js mjs cjs jsx",
    "json": "jsonc json5 jsonl ipynb",
    "julia": "jl",
    "kotlin": "kt kts",
    "make": "makefile mk",
    "markdown": "md mdx",
    "objective-c": "objc mm",
    "ocaml": "ml mli",
    "powershell": "ps1 psm1 pwsh",
    "protobuf": "proto",
    "python": "py pyi python3 py3",
    "ruby": "rb gemspec rakefile gemfile",
    "rust": "rs",
    "scala": "sc",
    "scss": "sass less",
    "sql": "sqlite postgresql psql mysql",
    "toml": "lock",
    "typescript": "ts mts cts tsx",
    "xml": "svg xsd plist",
    "yaml": "yml",
    **dict.fromkeys(
        ["cmake", "css", "dart", "java", "lua", "nix", "php", "r", "swift", "zig"], ""
    ),
}
_BY_NAME = {
    name: language
    for language, others in _LANGUAGES.items()
    for name in (language, *others.split())
}
_STAND_INS = {"java": "groovy"}
"""Lexers used instead of a language's own: Java's takes seconds for lines of plain words."""
_FORMATTER = HtmlFormatter(nowrap=True, classprefix=CODE_PREFIX)


def language_of(name: str) -> str | None:
    """The language of a fence's first word or of a file's path, or None: `src/a.py` → `python`."""
    last = re.split(r"[/\\]", name.strip().lower()[-300:])[-1]
    return _BY_NAME.get(PurePosixPath(last).suffix.lstrip(".")) or _BY_NAME.get(last)


def render(text: str, language: str | None = None, *, limit: Limit = OUTPUT) -> str:
    """A block of code, highlighted if `language` is known, folded after `limit`."""
    start, note, end = shortened(text, "code")
    if note:
        ends = (render(piece, language, limit=limit) for piece in (start, end))
        return note.join(ends)
    shown, rest = cut(visible(text).rstrip("\n"), limit)
    if rest and not shown.endswith("\n"):
        return fold_text(shown, rest, lambda piece: block(escape(piece), language))
    lines = coloured(shown + rest, language)
    first = count_lines(shown) if rest else len(lines)
    return fold(
        block("\n".join(lines[:first]), language),
        block("\n".join(lines[first:]), language) if rest else "",
        lines=len(lines) - first,
        size=len(rest),
    )


def coloured(text: str, language: str | None) -> list[str]:
    """The lines of `text` as HTML; plain if the language is None or the text is too large.

    No element extends past the end of a line.
    """
    text = text.rstrip("\n")
    lines = text.split("\n")
    if (
        language is None
        or len(text) > COLOURED_SIZE
        or max(map(len, lines)) > COLOURED_LINE
    ):
        return [escape(line) for line in lines]
    html: list[str] = []
    for piece in _pieces(lines):
        made = highlight("\n".join(piece), _lexer(language), _FORMATTER).split("\n")
        del made[len(piece) :]
        whole = len(made) == len(piece)
        html += made if whole else [escape(line) for line in piece]
    fits = sum(map(len, html)) <= HTML_LIMIT
    return html if fits else [escape(line) for line in lines]


def _pieces(lines: Sequence[str]) -> Iterator[Sequence[str]]:
    """Runs of at most `PIECE_LINES` lines and about `PIECE_SIZE` characters.

    A run ends at a blank line if one is near. A lexer sees one run at a time, so the total cost is
    linear.
    """
    start = 0
    while start < len(lines):
        end, size, blank = start, 0, start
        while end < len(lines) and end - start < PIECE_LINES and size < PIECE_SIZE:
            size += len(lines[end]) + 1
            end += 1
            if not lines[end - 1]:
                blank = end
        if end < len(lines) and blank - start > (end - start) // 2:
            end = blank
        yield lines[start:end]
        start = end


def block(html: str, language: str | None = None) -> str:
    """The block that holds lines of code; it scrolls sideways, so it can be focused by keyboard."""
    label = f"Code, {language}" if language else "Code"
    return (
        f'<pre class="code" dir="ltr" tabindex="0" role="group" aria-label="{escape(label)}">'
        f"<code>{html}</code></pre>"
    )


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer:
    options = {"startinline": True} if language == "php" else {}
    name = _STAND_INS.get(language, language)
    return get_lexer_by_name(name, stripnl=False, stripall=False, **options)
