"""Members of foreign JSON: what has another type reads as absent."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given

from tests.threads.support.strategies import json_values, texts
from threads.domain.formats.io import fields


@given(json_values)
def test_any_value_may_stand_anywhere(value: Any) -> None:
    assert isinstance(fields.text({"a": value}, "a"), str)
    assert isinstance(fields.word({"a": value}, "a"), str)
    assert isinstance(fields.mapping({"a": value}, "a"), dict)
    assert isinstance(fields.items({"a": value}, "a"), list)
    assert 0 <= fields.count({"a": value}, "a") <= 1 << 53
    assert fields.text(value, "a") == "" or isinstance(value, dict)
    fields.moment(value)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("2026-03-01T10:00:00.5Z", datetime(2026, 3, 1, 10, 0, 0, 500_000, UTC)),
        (
            "2026-03-01T10:00:00+02:00",
            datetime(2026, 3, 1, 10, tzinfo=timezone(timedelta(hours=2))),
        ),
        ("2026-03-01", datetime(2026, 3, 1, tzinfo=UTC)),
        (1_772_359_200, datetime(2026, 3, 1, 10, tzinfo=UTC)),
        (1_772_359_200_000, datetime(2026, 3, 1, 10, tzinfo=UTC)),
        ("1772359200", datetime(2026, 3, 1, 10, tzinfo=UTC)),
        ("1772359200.5", datetime(2026, 3, 1, 10, 0, 0, 500_000, UTC)),
        ("1772359200123", datetime(2026, 3, 1, 10, 0, 0, 123_000, UTC)),
        ("20260301", datetime(2026, 3, 1, tzinfo=UTC)),
        ("yesterday", None),
        (1e300, None),
        (-5, None),
        (True, None),
        (None, None),
    ],
)
def test_times_are_read_as_tools_write_them(value: Any, found: datetime | None) -> None:
    assert fields.moment(value) == found


def test_a_count_is_none_of_the_strange_numbers() -> None:
    record = {"a": True, "b": -1, "c": 1 << 60, "d": 2.5, "e": 7}

    assert [fields.count(record, name) for name in "abcde"] == [0, 0, 0, 0, 7]
    assert fields.count(record, "b", "e") == 7


@pytest.mark.parametrize("name", ["x" * 129, "a\0b", "a\nb", "\ud800", "a\u202eb"])
def test_a_word_is_short_and_printable(name: str) -> None:
    assert fields.word({"a": name, "b": "m-1"}, "a") == ""
    assert fields.word({"a": name, "b": "m-1"}, "a", "b") == "m-1"


@given(texts)
def test_a_title_is_one_short_line(text: str) -> None:
    line = fields.one_line(text * 9)

    assert len(line) <= 80
    assert "\n" not in line


def test_a_place_is_spelled_as_people_read_it() -> None:
    assert fields.spell(("messages", 3, "content")) == "messages[3].content"
