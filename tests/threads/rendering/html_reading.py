"""Reads rendered HTML as a browser would, and reports what in it isn't allowed.

Written independently of `threads/rendering/safe.py`: these lists are the contract, not a copy of
what the code happens to allow.
"""

import re
from html.parser import HTMLParser

TAGS = {
    *("a", "b", "bdi", "blockquote", "br", "code", "del", "details", "div", "em"),
    *("h4", "h5", "h6", "hr", "img", "ins", "li", "ol", "p", "pre", "s", "span"),
    *("strong", "summary", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}
ATTRIBUTES = {
    "a": {"href", "title", "target", "rel"},
    "img": {"src", "alt", "loading", "decoding"},
    "ol": {"start"},
    "pre": {"aria-label", "tabindex", "role", "dir"},
    "span": {"title"},
    "details": {"open"},
    "div": {"dir"},
}
VALUES: dict[str, set[str | None]] = {
    "dir": {"auto", "ltr"},
    "tabindex": {"0"},
    "role": {"group"},
    "open": {"", None},
    "target": {"_blank"},
    "rel": {"noopener noreferrer nofollow"},
    "loading": {"lazy"},
    "decoding": {"async"},
}
CLASSES = {
    *("prose", "code", "output", "ansi", "json", "diff", "steps", "thinking", "tool"),
    *("result", "more", "note", "chip", "picture", "unseen", "size", "tool-name"),
    *("tool-argument", "tool-note", "arguments", "status", "is-good", "is-bad"),
    *("when-closed", "when-open", "todos", "todo-state", "is-done", "is-doing", "line"),
    *("sign", "add", "remove", "change", "context", "hunk", "file", "key", "string"),
    *("number", "constant", "at-start", "at-centre", "at-end", "a-bold", "a-dim"),
    *("a-italic", "a-underline", "a-strike"),
}
COLOURS = re.compile(r"k-[a-z][a-z0-9]{0,3}|a-[fg]\d{1,3}")
VOID = {"br", "hr", "img"}


class Reading(HTMLParser):
    """The faults, text and elements of a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.faults: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.pieces: list[str] = []
        self.feed(html)
        self.close()
        if self.open:
            self.faults.append(f"left open: {self.open}")

    @property
    def text(self) -> str:
        """All its text."""
        return "".join(self.pieces)

    def classes(self) -> set[str]:
        """All its classes."""
        return {
            name
            for _, given in self.elements
            for name in (given.get("class") or "").split()
        }

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record an element and its faults."""
        self.elements.append((tag, dict(attrs)))
        if tag not in TAGS:
            self.faults.append(f"<{tag}>")
        for name, value in attrs:
            self._attribute(tag, name, value)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Record an end tag that ends nothing."""
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> where it doesn't belong")

    def handle_data(self, data: str) -> None:
        """Keep text."""
        self.pieces.append(data)

    def handle_comment(self, data: str) -> None:
        """Record a comment: none are allowed."""
        self.faults.append(f"comment {data[:40]}")

    def handle_decl(self, decl: str) -> None:
        """Record a declaration: none are allowed."""
        self.faults.append(f"declaration {decl[:40]}")

    def handle_pi(self, data: str) -> None:
        """Record a processing instruction: none are allowed."""
        self.faults.append(f"instruction {data[:40]}")

    def unknown_decl(self, data: str) -> None:
        """Record a marked section: none are allowed."""
        self.faults.append(f"section {data[:40]}")

    def _attribute(self, tag: str, name: str, value: str | None) -> None:
        if name == "class":
            self.faults += [
                f"class {one}"
                for one in (value or "").split()
                if one not in CLASSES and not COLOURS.fullmatch(one)
            ]
        elif name not in ATTRIBUTES.get(tag, ()):
            self.faults.append(f"{tag}[{name}]")
        elif name == "href" and not re.match(
            r"(?:https?://|mailto:)[^\s]", value or "", re.I
        ):
            self.faults.append(f"href {value}")
        elif name == "src" and not re.fullmatch(
            r"/api/blobs/[0-9a-f]{64}", value or ""
        ):
            self.faults.append(f"src {value}")
        elif name in VALUES and value not in VALUES[name]:
            self.faults.append(f"{name}={value}")
