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


def at(minute: int, row: dict[str, Any]) -> dict[str, Any]:
    return {"created_at": f"2026-01-01T00:{minute:02}:00Z", **row}


def test_rows_that_are_the_newest_first_are_read_the_oldest_first() -> None:
    rows = [at(3, BOT), at(3, USER), {"type": "note"}, at(1, BOT), at(0, USER)]
    expected = [*SAID, "note", *SAID]
    for data in (rows, lines(*rows), {"messages": rows}, {"turns": rows}):
        [found] = readings.read(data)
        assert readings.told(found) == expected
        assert [one.code for one in found.warnings] == ["newest_first"]


def test_each_session_of_a_table_is_in_the_order_of_its_times() -> None:
    one = of("a", at(4, BOT), at(2, USER))
    other = of("b", at(3, BOT), at(1, USER))
    first, second = readings.read([one[0], other[0], one[1], other[1]])
    assert (readings.told(first), readings.told(second)) == (SAID, SAID)
    codes = [warning.code for warning in first.warnings]
    assert codes == ["several_sessions", "newest_first"]


def test_a_page_of_openai_s_thread_messages_is_read_the_oldest_first() -> None:
    """`GET /v1/threads/{id}/messages` lists the newest first, unless it is asked otherwise."""

    def message(at: int, role: str, said: str) -> dict[str, Any]:
        text = {"type": "text", "text": {"value": said, "annotations": []}}
        own = {"id": f"msg_{at}", "object": "thread.message", "thread_id": "thread_1"}
        return own | {"created_at": 1700000000 + at, "role": role, "content": [text]}

    data = [
        message(n, *(("user", ASKED), ("assistant", TOLD))[n % 2]) for n in (3, 2, 1, 0)
    ]
    page = {"object": "list", "data": data, "first_id": "msg_3", "has_more": False}
    [found] = readings.read(page)
    assert readings.told(found)[:4] == SAID * 2


@pytest.mark.parametrize(
    "data",
    [
        [at(2, USER), at(1, BOT), at(3, USER)],
        [at(1, USER), at(1, BOT)],
        [at(2, USER), at(1, BOT)],
        [*(at(50 - n, USER if n % 2 else BOT) for n in range(50)), at(51, USER)],
        {
            "id": "3f1c9a5e-77",
            "title": "Piers",
            "messages": [at(3 - n, USER) for n in range(3)],
        },
    ],
)
def test_times_that_do_not_only_fall_change_no_order(data: Any) -> None:
    [found] = readings.read(data)
    assert found.warnings == []
    assert readings.told(found)[0] in SAID
