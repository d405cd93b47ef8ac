"""Batches: what is counted in them, and names of records as columns take them."""

import json
from dataclasses import replace

from hypothesis import example, given
from hypothesis import strategies as st

from threads.domain.batch import COMPACTION, RECORD, batches
from threads.domain.message import Message, Role
from threads.domain.part import Text
from threads.domain.tally import storable
from threads.domain.transcript import Compaction, Event

SAID = Message(role=Role.USER, parts=(Text("Go."),), records=("bytes:0-9",))
NAMES = st.one_of(
    st.text(max_size=12),
    st.sampled_from(["bytes:0-9", 'bytes:"', "a\\b#bytes:0-9", '", "', "\ud800", "\0"]),
    st.integers(1, 9).map(lambda times: "long " * 60 * times),
)


@given(st.lists(NAMES, max_size=4))
@example([""])
@example(['x", "y', "z"])
def test_whatever_the_records_of_a_message_are_called_their_names_are_json(
    names: list[str],
) -> None:
    [batch] = batches([replace(SAID, records=tuple(names))])
    assert json.loads(batch.columns.records[0]) == names


@given(st.lists(NAMES, min_size=1, max_size=4))
def test_names_of_records_of_events_are_cut_and_cleaned(names: list[str]) -> None:
    [batch] = batches([Event("note", name) for name in names])
    assert list(batch.events.records) == [storable(name)[:RECORD] for name in names]


def test_events_are_counted_by_type_and_compactions_by_themselves() -> None:
    place = "bytes:0-9"
    compaction = Compaction(replaces=(0,), messages=(SAID,), record=place)
    items = [SAID, Event("note", place), compaction, Event(COMPACTION, place)]
    [batch] = batches([*items, Event("note", place), SAID])
    assert batch.tally.events == {"note": 2, COMPACTION: 1}
    assert batch.tally.records == {"user": 2, "note": 2, COMPACTION: 2}
    assert list(batch.events.types) == ["note", COMPACTION, COMPACTION, "note"]
    assert list(batch.events.before) == [1, 1, 1, 1]
