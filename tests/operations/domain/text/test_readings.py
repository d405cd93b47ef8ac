"""A reading: the text of a part as it is shown, and where it was recorded."""

from hypothesis import given, settings
from hypothesis import strategies as st

from operations.domain.log.operation import Redact, Revert
from operations.domain.text.reading import (
    HeldText,
    PartReading,
    held_text,
    keys_to_read,
)
from operations.domain.tree.span import SpanChange, apply_span_changes
from tests.operations.support.builders import digest, log, span, thread
from threads.domain.part import Image, Text, ToolCall
from threads.domain.text import text_of


def change(start, end, text="", part=0, operation=1):
    return SpanChange(part, start, end, text, operation, False, 0)


def test_what_is_not_changed_is_read_where_it_was_recorded():
    reading = PartReading("m1", 0, Text("one two three"))
    assert reading.text == "one two three"
    assert reading.recorded(4, 7) == (4, 7)
    assert reading.holders(4, 7) == ()


def test_what_stands_behind_a_change_was_recorded_elsewhere():
    reading = PartReading(
        "m1", 0, Text("one two three"), [change(0, 3, "1"), change(4, 7)]
    )
    assert reading.text == "1  three"
    assert reading.recorded(3, 8) == (8, 13)
    assert reading.recorded(1, 2) == (3, 4)


def test_recorded_text_is_shown_where_nothing_of_it_is_changed():
    reading = PartReading(
        "m1", 0, Text("one two three"), [change(0, 3, "1"), change(4, 7)]
    )
    assert reading.shown(8, 13) == (3, 8)
    assert reading.shown(3, 4) == (1, 2)
    assert reading.shown(0, 3) is None
    assert reading.shown(7, 13) == (2, 8)
    assert reading.shown(5, 9) is None


def test_a_change_holds_its_text_and_what_is_around_its_gap():
    changes = [change(4, 7, "", operation=3), change(8, 13, "3", operation=5)]
    reading = PartReading("m1", 0, Text("one two three"), changes)
    assert reading.text == "one  3"
    assert reading.recorded(3, 5) is None
    assert reading.holders(3, 5) == (3,)
    assert reading.holders(0, 6) == (3, 5)
    assert reading.recorded(0, 4) == (0, 4)
    assert reading.recorded(4, 5) == (7, 8)


def test_text_that_an_operation_holds_without_changing_it_is_held():
    held = [HeldText(8, 13, 9), HeldText(0, 3, 7)]
    reading = PartReading("m1", 0, Text("one two three"), [change(4, 7, "2")], held)
    assert reading.text == "one 2 three"
    assert reading.recorded(6, 11) == (8, 13)
    assert reading.holders(2, 5) == (4 - 3,)
    assert reading.holders(6, 8) == (9,)
    assert reading.holders(2, 3) == (7,)
    assert reading.holders(3, 4) == ()


def test_a_change_of_another_part_does_not_count():
    assert PartReading("m1", 1, Text("one"), [change(0, 3)]).text == "one"
    assert (
        PartReading("m1", 0, Image(media_type="image/png", sha256="0" * 64)).text == ""
    )


pieces = st.lists(st.text("ab", max_size=4), min_size=1, max_size=4)


@st.composite
def calls_with_changes(draw):
    """A call with some strings, and changes that do not overlap."""
    part = ToolCall("c1", "run", {"words": draw(pieces)})
    length = len(text_of(part))
    cuts = draw(st.lists(st.integers(0, length), max_size=6, unique=True).map(sorted))
    changes = [
        change(start, end, draw(st.text("xy", max_size=2)), operation=number)
        for number, (start, end) in enumerate(
            zip(cuts[::2], cuts[1::2], strict=False), 1
        )
    ]
    return part, changes


@settings(max_examples=200)
@given(calls_with_changes())
def test_a_reading_is_what_the_message_reads(made):
    part, changes = made
    (read,) = apply_span_changes([part], changes)
    assert PartReading("m1", 0, part, changes).text == text_of(read)


@settings(max_examples=200)
@given(calls_with_changes(), st.data())
def test_a_stretch_without_a_holder_was_recorded_word_for_word(made, data):
    part, changes = made
    reading = PartReading("m1", 0, part, changes)
    if not reading.text:
        return
    start = data.draw(st.integers(0, len(reading.text) - 1))
    end = data.draw(st.integers(start + 1, len(reading.text)))
    place = reading.recorded(start, end)
    assert (place is None) == bool(reading.holders(start, end))
    if place is not None:
        assert text_of(part)[slice(*place)] == reading.text[start:end]
        assert all(one.end <= place[0] or one.start >= place[1] for one in changes)


def test_what_is_folded_is_read_where_it_is_asked_for():
    made = thread(5, digest(1, 3), digest(2, 3))
    assert keys_to_read(made) == ["m0", "o1.0", "m4"]
    folded = keys_to_read(made, include_folded=True)
    assert folded == ["m0", "o1.0", "m1", "o2.0", "m2", "m3", "m4"]


def test_what_redactions_hold_is_known_by_message_and_part_until_they_are_reverted():
    redact = Redact(spans=(span("m1", 0, 3), span("m1", 5, 9, part=1)))
    held = {("m1", 0): [HeldText(0, 3, 1)], ("m1", 1): [HeldText(5, 9, 1)]}
    assert held_text(log(redact)) == held
    assert held_text(log(redact, Revert(operations=("o1",)))) == {}
