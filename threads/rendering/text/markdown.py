"""What people and models write: CommonMark with tables and strikethrough, as HTML.

Raw HTML, linkifying and pictures are off: HTML shows as text, bare addresses stay text (linkifying
is quadratic), and a picture becomes a chip with its host, since loading it would tell a third party
that it is read. Line ends inside a paragraph are kept.
"""

from collections.abc import Sequence
from copy import copy
from typing import Any
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from threads.rendering.cut import PROSE, Limit, count_lines, cut, fold
from threads.rendering.safe import escape, visible

from . import code, output

PROSE_SIZE = 64 * 1024
_LEAVES = {"fence", "code_block", "inline"}
_EVERYTHING = Limit(10**9, 10**9)


def render(text: str, *, limit: Limit = PROSE) -> str:
    """`text` as prose, folded after `limit`, at a block, a list item or a line.

    A text longer than `PROSE_SIZE` is shown as it is: a document of that length is a log or a
    file, and hostile brackets cost some 40 µs each.
    """
    if len(text) > PROSE_SIZE:
        return output.plain(text, limit=limit)
    text = visible(text)
    shown, rest = cut(text, limit)
    known: EnvType = {}
    blocks = _BLOCKS.parse(text, known)
    if not rest:
        return _prose(blocks, known)
    head, tail = divide(blocks, count_lines(shown), limit.size)
    return fold(
        _prose(head, known),
        _prose(tail, known) if tail else "",
        lines=count_lines(rest),
        size=len(rest),
    )


def divide(
    tokens: list[Token], line: int, size: int
) -> tuple[list[Token], list[Token]]:
    """Split a token stream at source line `line` into two, both well nested.

    What is open at the cut is closed in the first and reopened in the second; numbered lists
    continue. A leaf that spans the cut is split after one of its lines, or after `size` characters
    if it is one line.
    """
    opened: list[Token] = []
    for index, token in enumerate(tokens):
        if token.map and token.nesting >= 0:
            if token.map[0] >= line:
                return _cut(tokens[:index], tokens[index:], opened)
            if token.type in _LEAVES and (
                token.map[1] > line or len(token.content) > size
            ):
                first, second = copy(token), copy(token)
                limit = Limit(max(line - token.map[0], 1), size)
                first.content, second.content = cut(token.content, limit)
                head, tail = [*tokens[:index], first], [second, *tokens[index + 1 :]]
                return _cut(head, tail, opened)
        if token.nesting == 1:
            opened.append(token)
        elif token.nesting == -1:
            opened.pop()
    return list(tokens), []


def _cut(
    head: Sequence[Token], tail: Sequence[Token], opened: Sequence[Token]
) -> tuple[list[Token], list[Token]]:
    closing = [
        Token(
            token.type.replace("_open", "_close"),
            token.tag,
            -1,
            block=True,
            hidden=token.hidden,
        )
        for token in reversed(opened)
    ]
    again = [copy(token) for token in opened]
    if again and again[-1].type == "ordered_list_open" and tail[0].info.isdecimal():
        again[-1].attrs = {"start": int(tail[0].info)}
    return [*head, *closing], [*again, *tail]


def _prose(blocks: list[Token], known: EnvType) -> str:
    """The HTML of blocks whose inline text isn't parsed yet; `known` holds the link references."""
    state = StateCore("", _WORDS, known, blocks)
    _WORDS.core.process(state)
    html = _WORDS.renderer.render(blocks, _WORDS.options, known)
    return f'<div class="prose" dir="auto">{html}</div>'


class _Renderer(RendererHTML):
    """Renders the few kinds of token that differ from plain CommonMark HTML."""

    def text(self, tokens: Sequence[Token], index: int, *_: Any) -> str:
        return escape(tokens[index].content)

    def fence(self, tokens: Sequence[Token], index: int, *_: Any) -> str:
        words = tokens[index].info.split(maxsplit=1)
        language = code.language_of(words[0]) if words else None
        return code.render(tokens[index].content, language, limit=_EVERYTHING)

    def code_block(self, tokens: Sequence[Token], index: int, *_: Any) -> str:
        return code.render(tokens[index].content, limit=_EVERYTHING)

    def heading_open(self, tokens: Sequence[Token], index: int, *_: Any) -> str:
        return f"<{_heading(tokens[index])}>"

    def heading_close(self, tokens: Sequence[Token], index: int, *_: Any) -> str:
        return f"</{_heading(tokens[index])}>\n"

    def link_open(self, tokens: Sequence[Token], index: int, *_: Any) -> str:
        return _anchor(str(tokens[index].attrs.get("href", "")))

    def image(
        self, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
    ) -> str:
        token = tokens[index]
        address = str(token.attrs.get("src", ""))
        label = self.renderInlineAsText(token.children or [], options, env)
        return remote_picture(address, label)

    def th_open(self, tokens: Sequence[Token], index: int, *_: Any) -> str:
        token = tokens[index]
        side = str(token.attrs.get("style", "")).removeprefix("text-align:")
        named = {"left": "at-start", "center": "at-centre", "right": "at-end"}.get(side)
        return f'<{token.tag} class="{named}">' if named else f"<{token.tag}>"

    td_open = th_open


def remote_picture(address: str, label: str = "") -> str:
    """The chip for a remote picture, which isn't loaded."""
    shown = escape(label.strip() or "open")
    named = f"{_anchor(address)}{shown}</a>" if allowed(address) else shown
    host = escape(host_of(address) or "no host")
    return f'<span class="chip">picture not loaded, <bdi>{host}</bdi>: {named}</span>'


def allowed(address: str) -> bool:
    """Whether an address may be linked to: an absolute web address, or a mail address."""
    return address.lower().startswith(("http://", "https://", "mailto:"))


def host_of(address: str) -> str:
    """The host that a link leads to, not one that it pretends to (`a.com@b.com` → b.com)."""
    try:
        parts = urlsplit(address)
        return parts.hostname or parts.path.rpartition("@")[2]
    except ValueError:
        return ""


def _anchor(address: str) -> str:
    return f'<a href="{escape(address)}" title="{escape(host_of(address))}">'


def _heading(token: Token) -> str:
    """The tag of a heading, below those of the page: rows are headings of level 3."""
    return f"h{min(int(token.tag[1]) + 3, 6)}"


def _reader(*steps: str) -> MarkdownIt:
    """A parser with these steps; two parsers, so that blocks are cut before inline parsing."""
    reader = MarkdownIt(
        "commonmark",
        {"html": False, "linkify": False, "breaks": True, "typographer": False},
        renderer_cls=_Renderer,
    )
    reader.enable(["table", "strikethrough"])
    reader.core.ruler.enableOnly(list(steps))
    reader.validateLink = allowed  # type: ignore[method-assign, assignment]
    return reader


_BLOCKS = _reader("normalize", "block")
_WORDS = _reader("inline", "text_join")
