"""What a page must swap, played on a page: the same as loading it anew."""

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from operations.domain.log.entry import Entry
from operations.domain.log.log import fold
from operations.domain.thread.replay import replay
from operations.domain.tree.leaf import Leaf
from operations.editor.rows.articles import Article, articles_at
from operations.editor.rows.look import Look
from operations.editor.rows.patch import Range, RowSplice, merged, patch_of, splices_of
from operations.requests import View
from tests.operations.support.builders import (
    digest,
    insert,
    log,
    originals,
    resequence,
    revise,
    snip,
)
from tests.operations.support.strategies import sessions

from .looks import look_at

Row = tuple[str, object]


def rows(articles: Sequence[Article]) -> list[Row]:
    return [(article.id, article.mark) for article in articles]


def page(look: Look, loaded: Sequence[Range]) -> list[list[Row]]:
    """The sections of a page that hold rows."""
    return [rows(articles_at(look, start, end - start)) for start, end in loaded]


def swapped(old: Look, new: Look, loaded: Sequence[Range]) -> list[list[Row]] | None:
    """The page after the patch, as htmx swaps it; None where it has to load again."""
    patch = patch_of(old, new, loaded)
    if patch.reloads:
        return None
    sections = page(old, merged(loaded, old.total))
    for gone in patch.swaps.removed:
        sections = [[row for row in section if row[0] != gone] for section in sections]
    changed = dict(rows(patch.swaps.changed))
    sections = [
        [(id_, changed.get(id_, mark)) for id_, mark in one] for one in sections
    ]
    for where, articles in patch.swaps.added:
        swap, _, selector = where.partition(":")
        if swap == "afterbegin":
            sections[0][:0] = rows(articles)
            continue
        anchor = selector.removeprefix("#")
        for section in sections:
            for place, (id_, _) in enumerate(section):
                if id_ == anchor:
                    at = place + 1 if swap == "afterend" else place
                    section[at:at] = rows(articles)
                    break
    return sections


def now(old: Look, new: Look, loaded: Sequence[Range]) -> list[Range]:
    """Where the sections of a page are now, as the script moves them by the splices."""
    found = []
    for start, end in merged(loaded, old.total):
        first, last = start, end
        for place, removed, added in splices_of(old, new):
            first += added - min(removed, start - place) if place < start else 0
            if place < end:
                last += added - min(removed, end - place)
            elif place == end:
                last += added
        found.append(Range(first, last))
    return found


loaded_ranges = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 12)).map(
        lambda pair: Range(*sorted(pair))
    ),
    min_size=1,
    max_size=3,
)


@given(sessions(), st.data(), loaded_ranges, st.sampled_from(View))
def test_a_patched_page_is_the_page_loaded_anew(
    session: tuple[list[Leaf], list[Entry]],
    data: st.DataObject,
    loaded: list[Range],
    view: View,
) -> None:
    leaves, entries = session
    since = data.draw(st.integers(0, len(entries)))
    count = data.draw(st.integers(1, len(leaves)))
    folds = frozenset(
        data.draw(st.lists(st.sampled_from([f"o{n}" for n in range(1, 6)]), max_size=3))
    )
    old = look_at(replay(leaves[:count], fold(entries[:since])), view, open_folds=folds)
    new = look_at(replay(leaves, fold(entries)), view, open_folds=folds)
    result = swapped(old, new, loaded)
    if result is not None:
        assert result == page(new, now(old, new, loaded))


@given(sessions(), st.data(), st.sampled_from(View))
def test_splices_add_up_to_the_new_total(
    session: tuple[list[Leaf], list[Entry]], data: st.DataObject, view: View
) -> None:
    leaves, entries = session
    since = data.draw(st.integers(0, len(entries)))
    old = look_at(replay(leaves, fold(entries[:since])), view)
    new = look_at(replay(leaves, fold(entries)), view)
    splices = splices_of(old, new)
    assert new.total == old.total + sum(
        added - removed for _, removed, added in splices
    )
    for one, two in pairwise(splices):
        assert one.place + one.removed < two.place


def test_a_digest_takes_its_rows_out_and_puts_a_marker_behind_the_row_before() -> None:
    old = look_at(replay(originals(10), log()))
    new = look_at(replay(originals(10), log(digest(3, 5))))
    patch = patch_of(old, new, [Range(0, 10)])
    assert patch.swaps.removed == ["n-m3", "n-m4", "n-m5"]
    assert [(where, rows(added)[0][0]) for where, added in patch.swaps.added] == [
        ("afterend:#n-m2", "n-o1")
    ]
    assert patch.splices == [RowSplice(3, 3, 1)]


def test_what_comes_first_of_all_begins_the_first_section() -> None:
    old = look_at(replay(originals(4), log()))
    new = look_at(replay(originals(4), log(insert(None, "hello"))))
    patch = patch_of(old, new, [Range(0, 4)])
    assert patch.swaps.added[0][0].startswith("afterbegin:")


def test_a_row_that_moved_within_the_page_is_taken_out_and_put_in() -> None:
    old = look_at(replay(originals(6), log()))
    new = look_at(replay(originals(6), log(resequence("m4", "m1", "m2", "m3"))))
    patch = patch_of(old, new, [Range(0, 6)])
    assert patch.swaps.removed == ["n-m4"]
    assert patch.swaps.added[0][0] == "afterend:#n-m0"


def test_rows_that_are_not_loaded_are_not_sent() -> None:
    old = look_at(replay(originals(400), log()))
    new = look_at(replay(originals(400), log(digest(350, 355))))
    patch = patch_of(old, new, [Range(0, 100)])
    assert patch.swaps.rows == 0
    assert patch.splices == [RowSplice(350, 6, 1)]


def test_a_section_that_is_replaced_whole_is_loaded_again() -> None:
    old = look_at(replay(originals(300), log()))
    new = look_at(replay(originals(300), log(snip(50, 250))))
    assert not patch_of(old, new, [Range(0, 100)]).reloads
    swapped_off = patch_of(new, old, [Range(0, 100)])
    assert swapped_off.reloads
    assert swapped_off.swaps.rows > 200 or swapped_off.swaps.is_lost


def test_a_revise_of_one_message_into_three_takes_three_places_where_the_model_sees_it() -> (
    None
):
    old = look_at(replay(originals(5), log()), View.EFFECTIVE)
    new = look_at(
        replay(originals(5), log(revise(2, 2, "a", "b", "c"))), View.EFFECTIVE
    )
    assert new.total == 7
    patch = patch_of(old, new, [Range(0, 5)])
    assert patch.splices == [RowSplice(2, 1, 3)]
    assert [row[0] for _, added in patch.swaps.added for row in rows(added)] == [
        "n-o1_0",
        "n-o1_1",
        "n-o1_2",
    ]


def test_the_original_view_only_ever_grows() -> None:
    old = look_at(replay(originals(5), log()), View.ORIGINAL)
    new = look_at(replay(originals(8), log(digest(0, 3))), View.ORIGINAL)
    patch = patch_of(old, new, [Range(0, 5)])
    assert patch.splices == [RowSplice(5, 0, 3)]
    assert not patch.swaps.removed
