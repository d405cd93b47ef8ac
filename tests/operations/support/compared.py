"""Reads the messages of two requests off a page that shows them beside one another."""

from html.parser import HTMLParser


class Rows(HTMLParser):
    """What both sides of each row are called, and the words that are marked."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[tuple[list[str], list[str]]] = []
        self.marked: list[str] = []
        self._side = 0
        self._within = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        classes = (given.get("class") or "").split()
        self._within = tag if tag in ("ins", "del") else ""
        if "pair" in classes:
            self.rows.append(([], []))
            self._side = -1
        elif "pair-side" in classes:
            self._side += 1
        elif "pair-none" in classes:
            self._within = "pair-none"
        elif tag == "article" and "sent-message" in classes:
            self.rows[-1][self._side].append(given["aria-label"] or "")

    def handle_data(self, data: str) -> None:
        if self._within == "pair-none":
            self.rows[-1][self._side].append(data)
        elif self._within:
            self.marked.append(f"{self._within} {data}")
        self._within = ""
