"""What a page must swap to show another head of the log: HTML for htmx, and facts.

Changed, removed and new rows are found by comparing the marks of the rows that the page has
loaded with the marks of the same range now; only rows that changed are rendered. The facts
carry the splices of the whole view, with which the page moves the sections it has not loaded.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from operations.domain.thread.difference import difference
from operations.domain.thread.node import FoldNode
from operations.domain.tree.key import Key
from operations.domain.tree.tree import longest_increasing_subsequence
from operations.requests import View

from .articles import Article, articles_at
from .drawing import draw, joined
from .look import Look

MAX_ROWS = 200
"""Most rows that one response carries; a page that needs more reloads its sections."""
_TOP = "#feed .chunk"


class Range(NamedTuple):
    """A half-open range of places that the page has loaded."""

    start: int
    end: int


class RowSplice(NamedTuple):
    """At `place` in the old view, `removed` rows were removed and `added` rows inserted."""

    place: int
    removed: int
    added: int


@dataclass(slots=True)
class Swaps:
    """The changes to make to the page's rows, in the order of these fields."""

    removed: list[str] = field(default_factory=list)
    changed: list[Article] = field(default_factory=list)
    added: list[tuple[str, list[Article]]] = field(default_factory=list)
    """Pairs of target (htmx's swap and selector) and the articles to add there."""
    is_lost: bool = False
    """Whether the changes can't be expressed as swaps, so that the page must reload the rows."""

    @property
    def rows(self) -> int:
        return len(self.changed) + sum(len(articles) for _, articles in self.added)


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """The rows and facts that bring a page from one head to another."""

    look: Look
    swaps: Swaps
    splices: list[RowSplice]

    @property
    def reloads(self) -> bool:
        return self.swaps.is_lost or self.swaps.rows > MAX_ROWS

    def html(self, *, focus: Key = "") -> SafeString:
        """The rows as out-of-band swaps, and the facts."""
        facts = format_html(
            '<div id="thread-facts" hidden data-head="{}" data-total="{}"'
            ' data-message-count="{}" data-splices="{}" data-focus="{}"'
            ' data-reload="{}"></div>',
            self.look.thread.head,
            self.look.total,
            self.look.thread.message_count,
            json.dumps(self.splices),
            focus,
            "1" if self.reloads else "",
        )
        return joined([*(() if self.reloads else self._rows()), facts])

    def _rows(self) -> Iterator[SafeString]:
        for id_ in self.swaps.removed:
            yield format_html('<div id="{}" hx-swap-oob="delete"></div>', id_)
        for html in draw(self.look, self.swaps.changed):
            swapped = html.replace("<article ", '<article hx-swap-oob="true" ', 1)
            yield mark_safe(swapped)  # noqa: S308  # finished HTML and our own attribute
        for where, articles in self.swaps.added:
            rows = joined(draw(self.look, articles))
            yield format_html('<div hx-swap-oob="{}">{}</div>', where, rows)


def patch_of(old: Look, new: Look, loaded: Iterable[Range]) -> Patch:
    """The patch that brings a page with these ranges loaded from one look to another."""
    splices = splices_of(old, new)
    swaps = Swaps()
    for stretch in merged(loaded, old.total):
        _compare(old, new, stretch, splices, swaps)
    return Patch(look=new, swaps=swaps, splices=splices)


def splices_of(old: Look, new: Look) -> list[RowSplice]:
    """The splices that turn the places of one look into those of another, in ascending order."""
    if old.view is View.ORIGINAL:
        added = new.total - old.total
        return [RowSplice(old.total, 0, added)] if added else []
    change = difference(old.thread, new.thread)
    events = [RowSplice(old.place(key), _width(old, key), 0) for key in change.removed]
    for run in change.inserted:
        place = old.place(run.after) + _width(old, run.after) if run.after else 0
        events.append(RowSplice(place, 0, sum(_width(new, key) for key in run.keys)))
    events += [
        RowSplice(old.place(key), _width(old, key), _width(new, key))
        for key in change.changed
        if _width(old, key) != _width(new, key)
    ]
    return _joined(sorted(events))


def merged(loaded: Iterable[Range], total: int) -> list[Range]:
    """The ranges sorted, adjacent ones merged, clipped to `total`."""
    found: list[Range] = []
    for start, end in sorted(loaded):
        start, end = max(start, 0), min(end, total)
        if start >= end:
            continue
        if found and start <= found[-1].end:
            found[-1] = Range(found[-1].start, max(end, found[-1].end))
        else:
            found.append(Range(start, end))
    return found


def _joined(events: Sequence[RowSplice]) -> list[RowSplice]:
    splices: list[RowSplice] = []
    for place, removed, added in events:
        if splices and splices[-1].place + splices[-1].removed == place:
            last = splices.pop()
            splices.append(
                RowSplice(last.place, last.removed + removed, last.added + added)
            )
        else:
            splices.append(RowSplice(place, removed, added))
    return splices


def _width(look: Look, key: Key) -> int:
    if look.view is not View.EFFECTIVE:
        return 1
    node = look.thread.node(key)
    return max(1, len(node.messages)) if isinstance(node, FoldNode) else 1


def _compare(
    old: Look, new: Look, stretch: Range, splices: Sequence[RowSplice], swaps: Swaps
) -> None:
    before = articles_at(old, stretch.start, stretch.end - stretch.start)
    start, end = _now(stretch.start, splices), _now(stretch.end, splices, behind=True)
    now = articles_at(new, start, end - start)
    stood = {article.id: place for place, article in enumerate(before)}
    common = [article for article in now if article.id in stood]
    ascent = longest_increasing_subsequence([stood[article.id] for article in common])
    still = {common[place].id for place in ascent}
    marks = {article.id: article.mark for article in before}
    swaps.removed += [article.id for article in before if article.id not in still]
    swaps.changed += [
        article
        for article in now
        if article.id in still and article.mark != marks[article.id]
    ]
    _add(now, still, start, swaps)


def _add(now: Sequence[Article], still: set[str], start: int, swaps: Swaps) -> None:
    """Add the swaps for the new rows of a range: each goes after the last row that stays."""
    if not still and now and start:
        swaps.is_lost = True
        return
    first = next((article.id for article in now if article.id in still), "")
    before, run = "", list[Article]()
    for article in (*now, None):
        if article is not None and article.id not in still:
            run.append(article)
            continue
        if run:
            swaps.added.append((_where(before, first, start), run))
            run = []
        before = article.id if article is not None else before


def _where(before: str, first: str, start: int) -> str:
    if before:
        return f"afterend:#{before}"
    return f"beforebegin:#{first}" if first and start else f"afterbegin:{_TOP}"


def _now(place: int, splices: Iterable[RowSplice], *, behind: bool = False) -> int:
    """Where an old place is now; with `behind`, after what was added at that place."""
    now = place
    for splice in splices:
        if splice.place < place or (behind and splice.place == place):
            now += splice.added - min(splice.removed, max(0, place - splice.place))
    return now
