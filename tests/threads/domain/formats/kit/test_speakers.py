"""Files of programs' own in which speakers have other names, or a record is a pair."""

from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support import readings
from tests.threads.support.transcripts import lines
from threads.domain.formats.io import source

ASKED, TOLD = "Where does the night ferry land?", "At the old pier."
SAID = [f"user: {ASKED}", f"assistant: {TOLD}"]
SENT = [{"sender": "user", "text": ASKED}, {"sender": "bot", "text": TOLD}]
TYPED = [{"type": "user", "text": ASKED}, {"type": "agent", "text": TOLD}]
ROLED = [{"role": "user", "text": ASKED}, {"role": "assistant", "text": TOLD}]
HELD = [
    {"sent": {"role": "user", "content": ASKED}, "functions": None},
    {"sent": {"role": "assistant", "content": TOLD}, "functions": None},
]
OF_LIBRECHAT = [
    {"sender": "User", "text": ASKED, "isCreatedByUser": True},
    {"sender": "Fable 3", "text": TOLD, "isCreatedByUser": False},
]
HUMAN = [{"role": "human", "content": ASKED}, {"role": "ai", "content": TOLD}]
PAIR = {"user_input": ASKED, "bot_response": TOLD}
ROW = {"question": ASKED, "answer": TOLD}


@pytest.mark.parametrize(
    "said", [SENT, HUMAN, TYPED, ROLED, HELD, OF_LIBRECHAT, [PAIR]]
)
def test_a_conversation_under_any_name_is_read(said: list[Any]) -> None:
    for data in (said, lines(*said), {"messages": said}, {"chat_history": said}):
        [found] = readings.read(data)
        assert (found.format, readings.told(found)) == ("openai", SAID)
        assert (found.title, found.warnings) == (ASKED, [])


def test_conversations_by_their_ids_are_one_each() -> None:
    held = {"3f1c9a5e-77": SENT, "8e36fe6-12": [PAIR, PAIR]}
    first, second = readings.read(held)
    assert readings.told(first) == SAID
    assert readings.told(second) == SAID * 2
    sessions = [{"session_id": "5kyla1cjb", "messages": SENT}]
    assert readings.read(sessions)[0].external_id == "5kyla1cjb"


def test_both_messages_of_a_pair_point_at_it_and_have_its_time() -> None:
    [found] = readings.read([{"timestamp": "2026-01-10 23:19:13", **PAIR}])
    asked, told = readings.messages(found)
    assert asked.records == told.records
    assert str(told.created_at) == "2026-01-10 23:19:13+00:00"


def test_rows_of_questions_and_answers_are_a_conversation_each() -> None:
    rows = [{"title": "Ferry", **ROW, "context": "Tides", "response": "no"}, ROW]
    for data in (rows, lines(*rows)):
        first, second = readings.read(data)
        assert (first.title, readings.told(first)) == ("Ferry", [*SAID, "context"])
        assert (readings.told(second), first.warnings) == (SAID, [])


def test_questions_and_answers_by_their_first_letters_are_rows() -> None:
    [found] = readings.read([{"q": ASKED, "a": TOLD}])
    assert readings.told(found) == SAID


def test_the_system_s_words_stand_before_a_row() -> None:
    [found] = readings.read({"system": "Be brief.", "prompt": ASKED, "response": TOLD})
    assert readings.told(found) == ["system: Be brief.", *SAID]


def test_rows_with_a_time_are_the_log_of_one_conversation() -> None:
    [found] = readings.read([{**ROW, "timestamp": 1}, {**ROW, "timestamp": 2}])
    assert readings.told(found) == SAID * 2


def test_a_row_without_an_answer_is_named() -> None:
    unanswered, short = {"input": ASKED, "output": ""}, {"input": "2", "output": "3"}
    rows = [{"input": ASKED, "output": TOLD}] * 3
    found = readings.read([*rows, unanswered, short, {**ROW, "time": 1}])
    assert [len(readings.messages(one)) for one in found] == [2] * 5
    assert [one.code for one in found[0].warnings] == ["no_messages"]


def test_what_a_pair_s_answer_holds_is_not_lost() -> None:
    rows = [{"user": "Hi.", "ai": {"n": 1}}, {"user": ASKED, "ai": TOLD}]
    [found] = readings.read([*rows, {"user": "Bye.", "ai": ""}])
    assert readings.told(found) == [
        *("user: Hi.", 'assistant: {"n": 1}'),
        *SAID,
        "user: Bye.",
    ]


def test_whoever_is_neither_side_is_an_event_and_named() -> None:
    [found] = readings.read([*SENT, {"sender": "Narrator", "text": "Rain."}])
    assert readings.told(found) == [*SAID, "unreadable"]
    [warning] = found.warnings
    assert warning.code == "unknown_speaker"
    assert warning.message.startswith("At messages[2]: 'Narrator' is neither a user")


def test_a_chat_of_sillytavern_is_read() -> None:
    head = {"user_name": "Ann", "character_name": "Iris", "chat_metadata": {}}
    turns = [
        {"name": "Ann", "is_user": True, "is_system": False, "mes": ASKED},
        {"name": "Iris", "is_user": False, "is_system": False, "mes": TOLD},
        {"name": "Iris", "is_user": False, "is_system": True, "mes": "Saved."},
    ]
    [found] = readings.read(lines(head, *turns))
    assert readings.told(found) == ["record", *SAID, "record"]
    assert [one.name for one in readings.messages(found)] == ["Ann", "Iris"]


def test_two_texts_in_a_list_are_a_question_and_its_answer() -> None:
    pairs = [[ASKED, TOLD], [ASKED, None]]
    for data in (pairs, {"history": pairs}, {"a": {"chat_history": pairs}}):
        [found] = readings.read(data)
        assert readings.told(found) == [*SAID, f"user: {ASKED}"]
        assert (found.title, found.warnings) == (ASKED, [])
    assert [readings.told(one) for one in readings.read([pairs[:1]] * 2)] == [SAID] * 2
    long = [[ASKED, TOLD + " And so on." * 9_000], [ASKED, TOLD]]
    assert len(readings.messages(readings.read(long)[0])) == 4


def test_what_was_said_before_a_row_stands_before_it() -> None:
    row = {**ROW, "history": [[ASKED, TOLD]], "context": "Tides"}
    for one in readings.read([row, row]):
        assert readings.told(one) == [*SAID, *SAID, "context"]
    with_both = {**ROW, "history": [[ASKED, TOLD]], "chat": [[ASKED, TOLD]]}
    assert len(readings.read(with_both)) == 2


def test_a_log_of_text_generation_webui_is_read_once() -> None:
    internal = [["<|BEGIN-VISIBLE-CHAT|>", TOLD], [ASKED, TOLD]]
    [found] = readings.read({"internal": internal, "visible": [["", TOLD]]})
    assert readings.told(found) == [SAID[1], *SAID, "visible"]


@pytest.mark.parametrize(
    "data",
    [
        {"rows": [["Night ferry", "The old pier"]]},
        [["1", "2"], ["3", "4"]],
        [["a b", "c d", "e f"]],
        [["Where to?", {"at": "pier"}]],
        [{"sender": "ann", "content": "Hi."}, {"sender": "bo", "content": "Ho."}],
        [{"type": "user", "name": "Ann"}, {"type": "bot", "name": "Bo"}],
        [{"sender": "user", "text": "Hi."}] * 3,
        [ROW, {"n": 1}, {"n": 2}],
        {"faq": [ROW]},
        [{"input": {"n": 1}, "output": {"n": 2}}],
        [{"input": "src/main.ts", "output": "dist/main.js"}],
        [{"user": "ann", "model": "m-1"}],
    ],
)
def test_what_only_looks_like_it_is_refused_as_unknown(data: Any) -> None:
    with pytest.raises(Invalid) as refused:
        readings.read(data)
    assert refused.value.code == "format_unknown"


def test_in_a_large_file_they_are_found_by_their_places(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(source, "CHUNK", 64)
    for data, count in (({"a": [1] * 40, "chat": SENT}, 1), ([ROW] * 3, 3)):
        assert len(readings.read(data)) == count
