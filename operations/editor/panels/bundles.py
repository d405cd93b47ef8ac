"""Bundles: operations that were recorded together and that the drawer shows as one.

The templates `operations/editor/panels/{bundle,bundle_decision}.html` document the contract.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from operations.domain.log.entry import EditState
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import entry_key
from operations.domain.tree.status import Status
from operations.editor.rows.look import Look
from operations.editor.rows.operation import Author, Op
from operations.editor.rows.together import added_by, bundle_name, bundle_word

MAX_MEMBERS = 20
"""Most operations listed in a bundle until more are requested."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """Several operations that are switched, reverted and reviewed as one."""

    id: str
    name: str
    word: str
    status: str
    """The status of its newest operation. `word` is the kind of its operations, or `mixed`."""
    author: Author
    time: datetime
    count: int
    on: int
    delta: int
    """Tokens that its operations add to the thread."""
    may_decide: bool
    members: Sequence[Op]
    """Its newest operations."""
    waiting: int = 0
    aside: int = 0
    """How many of its other operations wait for review (`waiting`) or are set aside (`aside`).

    Those are listed elsewhere.
    """

    @property
    def more(self) -> int:
        """How many of its operations are not among the members."""
        return self.count - len(self.members)

    @property
    def reverts(self) -> int:
        """How many operations are reverted with it, not counting those that wait."""
        return self.count + self.aside


class Grouped(NamedTuple):
    """Operations and bundles, newest first, and the total number of their operations."""

    rows: list[Op | Bundle]
    edits: int


def group(look: Look, numbers: Iterable[int], most: int, members: int) -> Grouped:
    """The first `most` rows of a list of edits, with the edits of one bundle in one row.

    A conflict is a row of its own, and so is an edit that is the only one of its bundle in the
    list. `numbers` is consumed only as far as needed.
    """
    thread, found = look.thread, dict[str, list[int]]()
    for number in numbers:
        bundle = thread.log.at(number).bundle
        is_alone = bundle is None or thread.status(number) is Status.CONFLICT
        name = str(number) if is_alone else str(bundle)
        if name not in found and len(found) == most:
            break
        found.setdefault(name, []).append(number)
    rows = [
        _bundle(look, name, together, members)
        if len(together) > 1
        else look.operations[entry_key(together[0])]
        for name, together in found.items()
    ]
    return Grouped(rows, sum(map(len, found.values())))


def with_members(row: Op | Bundle, change: Callable[[Op], Op]) -> Op | Bundle:
    """Apply `change` to each operation in a row."""
    if isinstance(row, Bundle):
        return replace(row, members=list(map(change, row.members)))
    return change(row)


def with_rest(thread: Thread, rows: Sequence[Op | Bundle]) -> list[Op | Bundle]:
    """The rows, with each bundle's number of proposals and of operations that are set aside."""
    rest: dict[Status | None, Counter[str | None]] = defaultdict(Counter)
    for number in thread.marked_edits:
        rest[thread.status(number)][thread.log.at(number).bundle] += 1
    waiting, aside = rest[Status.PROPOSED], rest[Status.CONFLICT]
    return [
        replace(row, waiting=waiting[row.id], aside=aside[row.id])
        if isinstance(row, Bundle)
        else row
        for row in rows
    ]


def _bundle(look: Look, name: str, numbers: Sequence[int], members: int) -> Bundle:
    thread, newest = look.thread, look.operations[entry_key(numbers[0])]
    return Bundle(
        id=name,
        name=bundle_name(thread, newest.title, numbers),
        word=bundle_word(thread, name, newest.word),
        status=newest.status,
        author=newest.author,
        time=newest.time,
        count=len(numbers),
        on=sum(thread.log.edits[number].state is EditState.ON for number in numbers),
        delta=added_by(thread, numbers),
        may_decide=look.may_decide,
        members=look.operations.of(numbers[:members]),
    )
