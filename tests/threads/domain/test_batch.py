"""Batches: what is counted in them, and names of records as columns take them."""

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

from hypothesis import example, given
from hypothesis import strategies as st

from contextstudio.accounts.domain.storable import storable
from threads.domain.batch import (
    COMPACTION,
    MAX_BYTES,
    MAX_ITEMS,
    MAX_RECORD_LENGTH,
    BatchBuilder,
    ConstantColumn,
    batches,
    clean,
    compact_column,
    slice_rows,
    times,
)
from threads.domain.message import Message, Role, Usage
from threads.domain.part import File, Image, Text, ToolResult
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
    [batch] = batches([SAID, replace(SAID, records=tuple(names))])
    found = [json.loads(one) for one in batch.columns.records]
    assert found == [["bytes:0-9"], names]


@given(st.lists(NAMES, min_size=1, max_size=4))
def test_names_of_records_of_events_are_cut_and_cleaned(names: list[str]) -> None:
    [batch] = batches([Event("note", name) for name in names])
    assert list(batch.events.records) == [
        storable(name)[:MAX_RECORD_LENGTH] for name in names
    ]


def test_events_are_counted_by_type_and_compactions_by_themselves() -> None:
    place = "bytes:0-9"
    compaction = Compaction(replaces=(0,), messages=(SAID,), record=place)
    items = [SAID, Event("note", place), compaction, Event(COMPACTION, place)]
    [batch] = batches([*items, Event("note", place), SAID])
    assert batch.tally.events == {"note": 2, COMPACTION: 1}
    assert batch.tally.records == {"user": 2, "note": 2, COMPACTION: 2}
    assert list(batch.events.types) == ["note", COMPACTION, COMPACTION, "note"]
    assert list(batch.events.before) == [1, 1, 1, 1]


def test_bytes_are_taken_out_once_and_named_by_their_hash() -> None:
    data = b"\x89PNG" * 100
    sha256 = hashlib.sha256(data).hexdigest()
    picture, file = Image("image/png", data=data), File("text/plain", data=data)
    elsewhere = Image("image/png", url="https://example.org/a.png")
    said = [
        replace(SAID, parts=(Text("See."), picture, elsewhere)),
        replace(
            SAID, role=Role.TOOL, parts=(ToolResult("c", (Text("Seen."), picture)),)
        ),
        replace(SAID, role=Role.TOOL, parts=(ToolResult("d", (Text("None."),)),)),
        replace(SAID, parts=(file,)),
    ]
    [batch] = batches(said)
    assert {name: one.data for name, one in batch.files.items()} == {sha256: data}
    assert [sha256 in content.decode() for content in batch.contents] == [
        *(True, True, False, True)
    ]


def test_a_column_has_what_a_database_takes() -> None:
    [batch] = batches(
        [
            replace(SAID, model="sable\0\ud800é", usage=Usage(input_tokens=3)),
            replace(SAID, model="x" * 200),
        ]
    )
    columns = batch.columns
    assert columns.models == ["sable?é", "x" * 128]
    assert isinstance(columns.usages, list)
    assert clean("plain") == "plain"
    usage = json.loads(columns.usages[0])
    assert usage == {"input_tokens": 3, "output_tokens": 0, "cached_tokens": 0}


def test_a_column_that_is_alike_in_all_rows_is_one_value() -> None:
    [batch] = batches([SAID, SAID, replace(SAID, partial=True)])
    roles, statuses = batch.columns.roles, batch.columns.statuses
    assert roles == ConstantColumn("user") and slice_rows(roles, slice(1, 2)) == roles
    assert statuses == ["complete", "complete", "partial"]
    assert slice_rows(statuses, slice(1, 3)) == ["complete", "partial"]
    assert compact_column([]) == []


def test_times_are_written_in_utc_and_those_before_all_years_are_none() -> None:
    east = timezone(timedelta(hours=2))
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    early = datetime(1, 1, 1, 1, tzinfo=east)
    assert times([None, None]) is None
    assert json.loads(times([noon, noon.astimezone(east), None, early]) or b"") == [
        *("2026-01-01T12:00:00+00:00", "2026-01-01T12:00:00+00:00", None, None)
    ]


def test_batches_are_bounded_and_those_that_grow_begin_small() -> None:
    assert [len(b.contents) for b in batches([SAID] * (MAX_ITEMS + 1))] == [
        MAX_ITEMS,
        1,
    ]
    notes = [Event("note", "bytes:0-9")] * (MAX_ITEMS + 1)
    assert [len(b.events.records) for b in batches(notes)] == [MAX_ITEMS, 1]
    long = replace(SAID, parts=(Text("x" * MAX_BYTES),))
    assert [len(b.contents) for b in batches([long, SAID])] == [1, 1]
    first, second, *_ = batches([SAID] * MAX_ITEMS, growing=True)
    assert len(first.contents) == MAX_ITEMS // 16 == 125
    assert len(second.contents) == 156


def test_what_is_filled_says_when_it_is_full() -> None:
    filling = BatchBuilder()
    assert not filling.is_full
    for _ in range(MAX_ITEMS):
        filling.note(0, "note", "bytes:0-9", None)
    assert filling.is_full


def test_it_is_full_of_messages_and_of_events_too() -> None:
    messages, events = BatchBuilder(), BatchBuilder()
    for number in range(MAX_ITEMS):
        assert not messages.is_full and not events.is_full
        messages.add(SAID)
        events.note(number, "note", "bytes:0-9", None)
    assert messages.is_full and events.is_full


def test_some_events_are_taken_by_their_places() -> None:
    when = datetime(2026, 3, 2, tzinfo=UTC)
    given = [Event(f"e{n}", f"r{n}", created_at=when) for n in range(3)]
    [batch] = batches(given)
    some = batch.events.at([2, 0])
    assert [*some.types] == ["e2", "e0"] and [*some.records] == ["r2", "r0"]
    assert json.loads(some.created or b"") == json.loads(times([when, when]) or b"")
