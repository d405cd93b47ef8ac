"""Rows of several sessions in one list."""

from typing import Any

import pytest

from tests.threads.support import readings
from tests.threads.support.transcripts import lines
from threads.domain.formats.io import source, windows

ASKED, TOLD = "Where does the night ferry land?", "At the old pier."
USER, BOT = {"role": "user", "content": ASKED}, {"role": "assistant", "content": TOLD}
SAID = [f"user: {ASKED}", f"assistant: {TOLD}"]


def of(session: Any, *rows: dict[str, Any], by: str = "session_id") -> list[Any]:
    return [{by: session, **row} for row in rows]


@pytest.mark.parametrize("by", ["session_id", "conversationId", "thread_id", "chat_id"])
def test_rows_of_several_sessions_are_one_each(by: str) -> None:
    one, other = of("3f1c9a5e-77", USER, BOT, by=by), of(4, USER, BOT, USER, by=by)
    rows = [one[0], other[0], other[1], one[1], other[2]]
    for data in (rows, lines(*rows), {"messages": rows}, {"data": rows, "n": "x" * 9}):
        first, second = readings.read(data)
        assert readings.told(first)[:2] == SAID
        assert readings.told(second) == [*SAID, f"user: {ASKED}"]
        assert (first.external_id, second.external_id) == ("3f1c9a5e-77", None)
        assert [one.code for one in first.warnings] == ["several_sessions"]
        assert (first.title, second.warnings) == (ASKED, [])


def test_what_stands_beside_the_rows_is_said_once() -> None:
    rows = of("a", USER, BOT) + of("b", USER, BOT)
    first, second = readings.read({"messages": rows, "exported": "2026-01-01"})
    assert readings.told(first) == [*SAID, "outer/exported"]
    assert readings.told(second) == SAID


@pytest.mark.parametrize(
    "rows",
    [
        of("a", USER, BOT, USER, BOT),
        [USER, BOT],
        of("a", USER) + of("b", BOT) + of("c", USER),
    ],
)
def test_rows_of_one_session_stay_one_conversation(rows: list[Any]) -> None:
    [found] = readings.read(rows)
    assert len(readings.messages(found)) == len(rows)
    assert found.warnings == []


def test_a_request_s_messages_are_not_taken_apart() -> None:
    rows = of("a", USER, BOT) + of("b", USER, BOT)
    [found] = readings.read({"model": "m", "system": "Be brief.", "messages": rows})
    assert len(readings.messages(found)) == 5


def test_rows_that_name_no_session_are_apart_and_notes_stay_where_they_stand() -> None:
    note = {"type": "note", "n": 1}
    rows = [*of("a", USER, BOT), note, USER, BOT, note, *of("b", USER, BOT)]
    first, second, third = readings.read(lines(*rows))
    assert readings.told(first) == [*SAID, "note"]
    assert readings.told(second) == [*SAID, "note"]
    assert readings.told(third) == SAID
    assert "2 sessions" in first.warnings[0].message
    assert "none" in first.warnings[0].message


def test_pairs_of_one_session_are_one_conversation() -> None:
    row = {"question": ASKED, "answer": TOLD}
    first, second = readings.read(of("a", row, row) + of("b", row))
    assert (readings.told(first), readings.told(second)) == (SAID * 2, SAID)


def test_a_row_that_is_broken_is_named_once() -> None:
    rows = lines(*of("a", USER, BOT), *of("b", USER, BOT))
    first, second = readings.read(rows + b'{"session_id": "b",\n')
    assert readings.told(second) == [*SAID, "unreadable"]
    assert [one.code for one in first.warnings] == ["several_sessions"]
    assert [one.line for one in second.warnings] == [5]


def test_a_list_that_is_cut_is_read_as_far_as_it_goes() -> None:
    rows = [*of("a", USER, BOT), *of("b", USER, BOT)]
    whole = readings.encoded(rows)
    first, _ = readings.read(whole[:-3])
    assert len(readings.messages(first)) == 2
    assert "json_truncated" in {one.code for one in first.warnings}


def test_long_rows_are_read_by_their_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "WINDOW", 32)
    monkeypatch.setattr(source, "CHUNK", 64)
    rows = [*of("a", USER, BOT), *of("b", USER, BOT)]
    for data in (rows, lines(*rows)):
        assert [len(readings.messages(one)) for one in readings.read(data)] == [2, 2]
