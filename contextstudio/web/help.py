"""Help: the documents of this repository as pages of the product.

A server has them beside its code, so they match the running version.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import cast

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.urls import reverse
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from contextstudio.accounts.authentication import caller_of

GUIDE = "guide"
PAGES = {
    GUIDE: "Guide to the pages",
    "operations": "Operations",
    "context": "What the model sees",
    "providers": "Providers' rules",
    "ledger": "Costs and savings",
    "pruning": "Pruning",
    "summaries": "Summaries",
    "archive": "Archive",
    "hindsight": "Hindsight",
    "imports": "Importing",
    "formats": "Formats",
    "search": "Search",
    "agents": "An agent in five minutes",
    "connect": "API, keys and clients",
    "tools": "Tools",
    "production": "Running it for a team",
}
"""The documents for users by their names in `docs/`, in the order of the list."""

_DECISION = re.compile(r"\s\(\[(?:decision )?\d+\]\(decisions/[^)]*\)\)")
"""A reference to a decision record; those are for people who work on the product."""
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")


@dataclass(frozen=True, slots=True)
class Section:
    """A second-level heading, for the page's table of contents."""

    anchor: str
    title: str


@dataclass(frozen=True, slots=True)
class Document:
    """A document with its title, which is shown above it."""

    title: str
    sections: Sequence[Section]
    body: SafeString


@require_safe
def page(request: HttpRequest, name: str = GUIDE) -> HttpResponse:
    """A document, beside the list of all documents."""
    caller_of(request)
    if name not in PAGES:
        raise Http404
    pages = [(title, address_of(one), one == name) for one, title in PAGES.items()]
    return render(request, "help.html", {"document": load(name), "pages": pages})


def address_of(name: str) -> str:
    """The address of a document."""
    return reverse("help") if name == GUIDE else reverse("help_page", args=[name])


@cache
def load(name: str) -> Document:
    """Load a document, once: it changes only with the code."""
    text = (settings.BASE_DIR / "docs" / f"{name}.md").read_text("utf-8")
    tokens = _MARKDOWN.parse(_DECISION.sub("", text))
    sections, title, seen = [], PAGES[name], Counter[str]()
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            words = _words(tokens[place + 1])
            token.attrSet("id", _anchor(words, seen))
            if token.tag == "h1":
                title = words
            elif token.tag == "h2":
                sections.append(Section(str(token.attrs["id"]), words))
        if token.children:
            token.children = _with_page_links(token.children)
    if tokens[0].tag == "h1":
        tokens = tokens[3:]
    body = cast(RendererHTML, _MARKDOWN.renderer).render(tokens, _MARKDOWN.options, {})
    return Document(title, tuple(sections), SafeString(body))


def _words(token: Token) -> str:
    return "".join(inner.content for inner in token.children or ())


def _anchor(words: str, seen: Counter[str]) -> str:
    """The anchor that GitHub gives a heading, so that links work there and here."""
    anchor = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
    seen[anchor] += 1
    return anchor if seen[anchor] == 1 else f"{anchor}-{seen[anchor] - 1}"


def _with_page_links(tokens: Sequence[Token]) -> list[Token]:
    """A paragraph's tokens, with links redirected to the pages of these documents.

    A link to something not shown here, such as a decision record, is replaced by its text.
    """
    kept: list[Token] = []
    is_cut = False
    for token in tokens:
        if token.type == "text" and token.content.removesuffix(".md") in PAGES:
            if kept and kept[-1].type == "link_open":
                token.content = PAGES[token.content.removesuffix(".md")]
        elif token.type == "image":
            picture = str(token.attrs["src"]).removeprefix("pictures/")
            token.attrSet("src", static(f"pictures/{picture}"))
        elif token.type == "link_open":
            address = str(token.attrs["href"])
            document, mark, anchor = address.partition("#")
            name = document.removesuffix(".md")
            if name in PAGES:
                token.attrSet("href", f"{address_of(name)}{mark}{anchor}")
            is_cut = bool(document) and name not in PAGES and "://" not in address
        if not (is_cut and token.type in ("link_open", "link_close")):
            kept.append(token)
    return kept
