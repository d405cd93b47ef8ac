"""The groups of a session, and where each of them went."""

from operations.domain.log.operation import Insert, Operation, Purge
from operations.domain.thread.groups import groups_of, last_shown_group
from operations.domain.thread.replay import replay
from operations.domain.thread.thread import Thread
from operations.domain.tree.leaf import Leaf
from tests.operations.support.builders import digest, keys, log, new, revise, snip

GROUPS = (0, 1, 1, 1, 2, 2, 3)
"""The group of each original: a system message, then three exchanges."""


def thread(*operations: Operation) -> Thread:
    leaves = [Leaf("user", index + 1, group) for index, group in enumerate(GROUPS)]
    return replay(leaves, log(*operations))


def statuses(*operations: Operation) -> list[str]:
    return [group.status for group in groups_of(thread(*operations))]


def test_a_group_has_the_range_and_the_tokens_of_its_originals() -> None:
    found = groups_of(thread())
    assert [(group.id, group.first, group.last, group.tokens) for group in found] == [
        (0, 0, 0, 1),
        (1, 1, 3, 9),
        (2, 4, 5, 11),
        (3, 6, 6, 7),
    ]
    assert statuses() == ["active"] * 4


def test_a_group_is_gone_where_nothing_of_it_is_seen() -> None:
    assert statuses(snip(1, 3)) == ["active", "dropped", "active", "active"]
    assert statuses(snip(1, 2)) == ["active"] * 4
    assert statuses(digest(1, 5)) == ["active", "folded", "folded", "active"]
    assert statuses(digest(1, 5), snip(4, 5))[2] == "dropped"
    assert statuses(revise(1, 2), snip(3, 3))[1] == "folded"


def test_a_purged_group_is_purged_whatever_hides_it() -> None:
    purge = Purge(targets=keys(4, 5))
    assert statuses(snip(4, 5), purge)[2] == "purged"
    assert statuses(purge)[2] == "purged"


def test_what_is_purged_counts_no_tokens_whenever_the_originals_were_read() -> None:
    inserted = Insert(after=None, messages=(new(tokens=3),))
    purged = thread(inserted, Purge(targets=("m4", "m5", "o1.0", "m99")))
    assert purged.tokens.original == sum(range(1, 8)) - 11
    assert [group.tokens for group in groups_of(purged)] == [1, 9, 0, 7]


def test_the_last_group_that_stands_is_found() -> None:
    last = last_shown_group(groups_of(thread(snip(6, 6), digest(4, 5))))
    assert last is not None
    assert last.id == 1
    assert last_shown_group(groups_of(thread(snip(0, 6)))) is None
