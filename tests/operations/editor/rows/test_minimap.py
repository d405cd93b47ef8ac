"""The meter, the minimap, and what rows look like from afar."""

from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operations.domain.log.entry import Entry
from operations.domain.log.log import fold
from operations.domain.thread.replay import replay
from operations.domain.tree.leaf import Leaf
from operations.editor.panels.meter import meter_of
from operations.editor.rows import minimap
from operations.editor.rows.minimap import (
    HEIGHT,
    MAX_STROKES,
    Shape,
    minimap_of,
    shapes,
)
from operations.editor.rows.sections import guessed_height
from operations.requests import View
from tests.operations.editor.rows.looks import look_at
from tests.operations.support.builders import digest, log, originals, revise, snip
from tests.operations.support.strategies import sessions


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every thread here is of another session, under one id."""
    none = SimpleNamespace(get=lambda key: None, keep=lambda key, value: None)
    monkeypatch.setattr(minimap, "_skeletons", none)


@settings(deadline=None)  # the first asks for the price map
@given(sessions())
def test_the_parts_of_the_meter_sum_to_the_whole(
    session: tuple[list[Leaf], list[Entry]],
) -> None:
    leaves, entries = session
    thread = replay(leaves, fold(entries))
    meter = meter_of(look_at(thread))
    if (
        all(count >= 0 for count in thread.tokens.by_role.values())
        and thread.tokens.folds >= 0
    ):
        assert sum(part.tokens for part in meter.parts) == meter.effective
    assert meter.saved == meter.original - meter.effective


@given(sessions(), st.sampled_from(View))
def test_there_is_a_shape_for_every_row(
    session: tuple[list[Leaf], list[Entry]], view: View
) -> None:
    leaves, entries = session
    look = look_at(replay(leaves, fold(entries)), view)
    assert len(shapes(look)) == look.total


def test_results_that_a_user_sends_count_as_results() -> None:
    leaves = [Leaf("user", 10, 0), Leaf("assistant", 20, 0), Leaf("user", 30, 0)]
    meter = meter_of(look_at(replay(leaves, log())))
    assert {part.kind: part.tokens for part in meter.parts} == {
        "user": 10,
        "assistant": 20,
        "results": 30,
    }


def test_the_meter_names_what_was_saved() -> None:
    meter = meter_of(look_at(replay(originals(10), log(snip(0, 4)))))
    assert (meter.original, meter.effective, meter.saved) == (100, 50, 50)
    assert meter.limit is None
    assert not meter.exact


def test_a_long_spine_has_no_more_strokes_than_it_has_room_for() -> None:
    minimap = minimap_of(look_at(replay(originals(5000), log(digest(10, 20)))))
    strokes = (minimap.user + minimap.assistant + minimap.tool).count("M")
    assert strokes + len(minimap.folds) <= MAX_STROKES
    assert len(minimap.folds) == 1
    tops = [float(d.split("h")[0].split(" ")[1]) for d in minimap.tool.split("M")[1:]]
    assert tops == sorted(tops)
    assert tops[-1] <= HEIGHT


def test_an_empty_thread_has_an_empty_spine() -> None:
    assert minimap_of(look_at(replay([], log()))).user == ""


def test_heights_grow_with_what_is_said_up_to_a_limit() -> None:
    brief, short, long, endless = (
        guessed_height(Shape(kind, tokens))
        for kind, tokens in (("tool", 900), ("user", 5), ("user", 200), ("user", 10**6))
    )
    assert brief < short < long < endless < 1000
    folded = guessed_height(Shape("snip", 0, is_fold=True))
    assert folded < guessed_height(Shape("digest", 100, is_fold=True))


def test_a_revise_of_several_messages_has_as_many_shapes_where_the_model_sees_it() -> (
    None
):
    thread = replay(originals(4), log(revise(1, 2, "a", "b", "c")))
    assert len(shapes(look_at(thread, View.EFFECTIVE))) == 5
    assert len(shapes(look_at(thread))) == 3
