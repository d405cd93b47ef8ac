"""Tallies: what files came to, counted one by one and together."""

import pytest

from threads.domain.message import Message, Role
from threads.domain.part import Image, Text, ToolResult
from threads.domain.tally import (
    MAX_TYPES,
    MAX_WARNING_LENGTH,
    MAX_WARNINGS,
    OTHER,
    Tally,
)
from threads.domain.transcript import Warning

PICTURE = Image("image/png", url="https://example.org/a.png")


def test_messages_are_counted_with_their_records_and_the_pictures_of_results() -> None:
    tally = Tally()
    tally.count(
        [
            Message(role=Role.USER, parts=(Text("a"), PICTURE)),
            Message(
                role=Role.TOOL,
                parts=(ToolResult("c", (Text("b"), PICTURE)),),
                records=("line:1", "line:2"),
            ),
        ]
    )
    assert tally.messages == {"user": 1, "tool": 1}
    assert tally.records == {"user": 1, "tool": 2}
    assert tally.parts == {"text": 1, "image": 2, "tool_result": 1}


def test_types_past_the_most_are_one_also_where_tallies_join() -> None:
    tally, other = Tally(), Tally()
    tally.count_events(f"type-{number}" for number in range(MAX_TYPES))
    other.count_events(["one more", "one more", "type-0"])
    other.codes["line"] += 2
    tally.join(other)
    assert tally.events[OTHER] == tally.records[OTHER] == 2
    assert tally.events["type-0"] == tally.records["type-0"] == 2
    assert len(tally.events) == MAX_TYPES + 1
    assert tally.codes == {"line": 2}


def test_all_warnings_are_counted_and_the_first_are_kept() -> None:
    tally = Tally()
    tally.warn(Warning("line", "x" * 9999, n) for n in range(MAX_WARNINGS + 1))
    assert tally.codes == {"line": MAX_WARNINGS + 1}
    assert len(tally.warnings) == MAX_WARNINGS
    first = {"code": "line", "detail": "x" * MAX_WARNING_LENGTH, "line": 0}
    assert tally.warnings[0] == first


@pytest.mark.parametrize("name", ["", "a.json"])
def test_the_reports_of_files_add_up_and_their_warnings_name_the_file(
    name: str,
) -> None:
    of_file, whole = Tally(), Tally()
    of_file.count([Message(role=Role.USER, parts=(Text("a"),))])
    of_file.count_events(["rare", "often", "often"])
    of_file.warn([Warning("line", "Line 3 can't be read.", 3)])
    for _ in range(2):
        whole.add(of_file.report(), name=name)
    report = whole.report()
    assert list(report["events"].items()) == [("often", 4), ("rare", 2)]
    assert report["codes"] == {"line": 2}
    warned = {"code": "line", "detail": "Line 3 can't be read.", "line": 3}
    assert report["warnings"] == [warned | ({"file": name} if name else {})] * 2
