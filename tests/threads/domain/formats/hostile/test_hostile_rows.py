"""Files of rows with any value in any place, made of the specimens."""

import json
from typing import Any

from hypothesis import given, settings

from tests.threads.support.junk import assert_is_read_or_refused, spoiled
from tests.threads.support.row_specimens import OF_ROWS

SEEDS: dict[str, list[Any]] = {
    name: [json.loads(line) for line in data.splitlines()]
    for name, data in OF_ROWS.items()
}


@settings(max_examples=400, deadline=None)
@given(spoiled(SEEDS))
def test_any_value_in_any_place_is_read_or_refused(case: tuple[str, bytes]) -> None:
    assert_is_read_or_refused(*case)
