"""What parsers of records share: rows of any container, refusals, warnings."""

import io
import json

import pytest

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.io.source import BROKEN, Span
from threads.domain.formats.kit import reading
from threads.domain.transcript import Warning


def test_an_object_that_spans_lines_is_one_row() -> None:
    raw = json.dumps({"a": [1], "b": 2}, indent=1).encode()

    assert reading.objects(io.BytesIO(raw), []) == [Span(0, len(raw))]


def test_an_element_that_is_no_json_is_broken_with_a_warning() -> None:
    warnings: list[Warning] = []
    file = io.BytesIO(b"[1, tru, 3]")
    found = list(reading.elements(file, 0, warnings))

    assert [row.value for row in found] == [1, BROKEN, 3]
    assert [warning.code for warning in warnings] == ["json_invalid"]
    assert reading.value_of(file, found[1].span) is None
    assert reading.value_of(file, None) is None


def test_a_file_without_conversations_is_refused_by_its_first_warning() -> None:
    with pytest.raises(Invalid, match="Broken") as refusal:
        reading.conversations([None], "a tape", [Warning("broken", "Broken.")])
    assert refusal.value.code == "broken"
    with pytest.raises(Invalid, match="This is a tape, but it holds no messages"):
        reading.conversations([], "a tape")
