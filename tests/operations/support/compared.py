"""Parses the page that shows the messages of two requests side by side."""

from html.parser import HTMLParser


class Rows(HTMLParser):
    """The names of both sides of each row, and the marked words."""

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


class Links(HTMLParser):
    """The links of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self._found: list[tuple[dict[str, str], str]] = []
        self._is_inside = False
        self.feed(page)

    def of(self, words: str) -> list[dict[str, str]]:
        """The attributes of the links with this text."""
        return [given for given, said in self._found if words in said]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._is_inside = tag == "a"
        if self._is_inside:
            self._found.append(({name: value or "" for name, value in attrs}, ""))

    def handle_data(self, data: str) -> None:
        if self._is_inside:
            given, said = self._found.pop()
            self._found.append((given, said + data))

    def handle_endtag(self, tag: str) -> None:
        self._is_inside = self._is_inside and tag != "a"
