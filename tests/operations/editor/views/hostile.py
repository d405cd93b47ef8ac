"""Malicious text, and a parser that watches a page for it."""

from html.parser import HTMLParser
from typing import Any

EVIL = (
    "<script>alert(1)</script><svg onload=alert(1)><img src=x onerror=alert(1)>"
    '<a href="javascript:alert(1)" hx-get="/sign-out" hx-trigger="load">x</a>'
    '<article id="n-m0" data-action="revert" style="position:fixed"></article></div></article>'
    "\x1b[31mred\x1b]0;title\x07 \u202eabc \x00 \ud800 "
    "[x](javascript:alert(1)) ![p](http://tracker.invalid/p.png) {{ 7|add:7 }} {% now %}"
)
SENT = EVIL.replace("\x00", "").replace("\ud800", "")
"""The part of it that a browser can send."""


class _Watch(HTMLParser):
    """Records every element and attribute that only our own markup may have."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.depth = 0
        self.inside: list[tuple[str, dict[str, str | None]]] = []
        self.handlers: list[str] = []
        self.scripts: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids += [given["id"] or ""] if "id" in given else []
        self.handlers += [
            name for name in given if name.startswith("on") or name == "style"
        ]
        if tag == "script":
            self.scripts.append(given)
        if self.depth:
            self.inside.append((tag, given))
        if tag == "div" and (self.depth or "hx-disable" in given):
            self.depth += 1

    def handle_endtag(self, tag: str) -> None:
        if tag == "div" and self.depth:
            self.depth -= 1


def watched(answer: Any) -> _Watch:
    watch = _Watch()
    watch.feed(answer.content.decode())
    return watch


def inert(watch: _Watch) -> None:
    assert len(watch.ids) == len(set(watch.ids)), "an id stands twice"
    assert watch.handlers == []
    assert all("src" in script for script in watch.scripts)
    for tag, attributes in watch.inside:
        assert tag not in ("script", "svg", "iframe", "form", "article", "input")
        for name, value in attributes.items():
            assert not name.startswith(("hx-", "data-", "on")), name
            assert name not in ("id", "style", "name", "srcdoc")
            if name in ("href", "src"):
                assert (
                    not (value or "").lower().startswith(("javascript:", "data:", "//"))
                )
