"""The markers of folds, sent among the messages if the policy asks for them.

A fold has one marker before what it shows and one after it. A snip shows nothing and has only the
first. Markers name the fold, so that a model can ask for what is in it. They are off by default,
because they are words that nobody said.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from operations.domain.providers.request import Outgoing
from operations.domain.thread.node import FoldNode
from operations.domain.tree.key import Key
from threads.domain.message import Role
from threads.domain.part import Text

from .step import Count, Step, weigh

NAME, KIND = "markers", "marker"


class MarkerText(NamedTuple):
    """What the markers of a fold say."""

    before: str
    after: str | None
    """None if the fold shows nothing, so that one marker is enough."""


class Place(NamedTuple):
    """Where a node stands at the top of the thread, and the groups that it counts as."""

    node: Key
    group: int
    groups: frozenset[int]


class PlacedNode(NamedTuple):
    """A node at the top of the thread, and whether the history includes it."""

    place: Place
    fold: FoldNode | None
    shows: bool
    """Whether it showed messages of the history before the other steps left anything out."""


def marker_text(fold: FoldNode) -> MarkerText:
    """The text of a fold's markers: the same for people, agents and models."""
    count = f"{fold.leaves} message{'' if fold.leaves == 1 else 's'}"
    before = f"▸ {fold.kind} {fold.key}: {count}"
    return MarkerText(before, None if fold.kind == "snip" else f"◂ {fold.key}")


def mark(
    messages: Sequence[Outgoing], standing: Iterable[PlacedNode], count: Count
) -> tuple[list[Outgoing], Step]:
    """Add markers for folds to the messages.

    `standing` lists all nodes at the top of the thread, in order. A fold that shows nothing gets
    a marker unless the messages before it were left out together with its group.
    """
    sent = {node: list(shown) for node, shown in groupby(messages, attrgetter("node"))}
    groups = {group for message in messages for group in message.groups}
    found: list[Outgoing] = []
    waiting: list[Outgoing] = []
    is_cut = False
    for place, fold, shows in standing:
        markers = _markers(place, fold, count) if fold else ()
        if place.node in sent:
            found += [*waiting, *markers[:1], *sent[place.node], *markers[1:]]
            waiting, is_cut = [], False
        elif shows:
            waiting, is_cut = [], True
        elif not is_cut or groups & place.groups:
            waiting += markers
    found += waiting
    before, after = weigh(messages), weigh(found)
    return found, Step(name=NAME, before=before, after=after, added=after - before)


def _markers(place: Place, fold: FoldNode, count: Count) -> list[Outgoing]:
    return [
        Outgoing(
            key=place.node,
            node=place.node,
            role=Role.SYSTEM,
            parts=(Text(words),),
            tokens=count((Text(words),)),
            group=place.group,
            groups=place.groups,
            strategy="",
            kind=KIND,
        )
        for words in marker_text(fold)
        if words
    ]
