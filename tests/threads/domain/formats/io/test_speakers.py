"""Who speaks in records of programs' own: messages and pairs, by the names in the tables."""

from typing import Any

import pytest

from threads.domain.formats.io import speakers
from threads.domain.formats.kit import spoken

QUESTION = "Where does the night ferry land?"
ANSWER = "At the old pier."


@pytest.mark.parametrize(
    ("record", "role"),
    [
        ({"role": "human", "content": ANSWER}, "user"),
        ({"role": "ai", "content": [{"type": "text", "text": ANSWER}]}, "assistant"),
        ({"role": "Model", "text": ANSWER}, "assistant"),
        ({"sender": "Customer", "message": ANSWER}, "user"),
        ({"speaker": "agent", "msg": ANSWER}, "assistant"),
        ({"sender": "hotel_bot", "text": ANSWER}, "assistant"),
        ({"from": "AI Assistant", "body": ANSWER}, "assistant"),
        ({"type": "HumanMessage", "content": ANSWER}, "user"),
        ({"type": "assistant_message", "text": ANSWER}, "assistant"),
        ({"sender": "system", "text": ANSWER}, "system"),
        ({"role": "ai", "content": "", "tool_calls": [{}]}, "assistant"),
        ({"name": "Ann", "is_user": True, "mes": ANSWER}, "user"),
        ({"name": "Iris", "is_user": False, "mes": ANSWER}, "assistant"),
        ({"isBot": True, "text": ANSWER}, "assistant"),
        ({"role": "user", "text": ANSWER}, "user"),
        ({"type": "system", "text": ANSWER}, None),
        ({"type": "model", "value": "m-1"}, None),
        ({"sender": "support", "text": ANSWER}, "assistant"),
        ({"is_user": False, "is_system": True, "mes": ANSWER}, None),
        ({"role": "ai", "content": " "}, None),
        ({"role": "admin", "content": ANSWER}, None),
        ({"type": "user", "name": "Ann"}, None),
        ({"role": 7, "text": ANSWER}, None),
    ],
)
def test_a_message_is_told_by_who_its_speaker_is_called(
    record: dict[str, Any], role: str | None
) -> None:
    found = speakers.message_in(record)
    assert (found and found["role"]) == role


def test_a_message_keeps_its_id_its_name_and_when_it_was_said() -> None:
    record = {"id": "x", "name": "Iris", "is_bot": True, "mes": ANSWER, "swipes": []}
    assert speakers.message_in({**record, "send_date": "2026-01-01"}) == {
        "timestamp": "2026-01-01",
        "id": "x",
        "name": "Iris",
        "role": "assistant",
        "content": ANSWER,
    }


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("user", "bot"),
        ("User", "Assistant"),
        ("human", "ai"),
        ("user", "gemini"),
        ("user", "hotel_bot"),
        ("user_input", "bot_response"),
        ("userMessage", "botResponse"),
        ("user_query", "chatbot_response"),
        ("customer_message", "agent_reply"),
        ("query", "bot"),
        ("user", "response"),
    ],
)
def test_a_pair_that_names_who_speaks_is_two_turns(asked: str, answered: str) -> None:
    record = {"n": 7, asked: QUESTION, answered: ANSWER, "time": "2026-01-01"}
    assert speakers.pair_in(record) == (asked, answered, False)
    first, second = spoken.said_in(record)
    assert (first["role"], first["content"]) == ("user", QUESTION)
    assert (second["role"], second["timestamp"]) == ("assistant", "2026-01-01")


@pytest.mark.parametrize("names", speakers.ROWS)
def test_a_pair_that_names_nobody_is_a_row_unless_it_has_a_time(
    names: tuple[str, str],
) -> None:
    record = {**dict(zip(names, (QUESTION, ANSWER), strict=True)), "score": 1}
    assert spoken.row_in(record) == (*names, True)
    assert not spoken.said_in(record)
    assert not spoken.row_in({**record, "timestamp": 1})
    assert len(spoken.said_in({**record, "timestamp": 1})) == 2


def test_of_several_members_the_surest_is_the_one_that_is_said() -> None:
    record = {"user": "ann", "bot": "helper", "query": QUESTION, "response": ANSWER}
    assert speakers.pair_in(record) == ("query", "response", True)
    record |= {"ai_response": "By sea.", "user_response": "No.", "model_input": "[]"}
    assert speakers.pair_in(record) == ("query", "ai_response", False)


@pytest.mark.parametrize(
    "record",
    [
        {"user": "ann", "model": "m-1"},
        {"customer": "Ann Lee", "agent": "Bo"},
        {"question": QUESTION, "user_response": ANSWER},
        {"question": QUESTION, "answer": 4},
        {"question": QUESTION, "answer": " "},
        {"question": QUESTION, "reply": ANSWER},
        {"input": "src/main.ts", "output": "dist/main.js"},
        {"input": "1 2", "output": "3"},
        {"input": {"n": 1}, "output": {"n": 2}},
        {"is_bot": True, "user": "ann"},
        {"user": "ann", "bot": {"n": 1}},
    ],
)
def test_what_is_no_pair_is_not_taken_for_one(record: dict[str, Any]) -> None:
    assert speakers.pair_in(record) is None
    assert not spoken.said_in(record)


def test_of_a_named_pair_with_one_side_the_other_is_said() -> None:
    assert [
        one["content"] for one in speakers.pair_messages({"user": "Hi.", "bot": ""})
    ] == ["Hi."]
    assert not speakers.pair_messages({"question": QUESTION, "answer": ""})
    assert not speakers.pair_messages({"user": QUESTION})


def test_members_tell_whether_a_record_may_speak() -> None:
    assert speakers.may_speak(["n", "type"])
    assert speakers.may_speak(["is_user", 7])
    assert speakers.may_speak(["question", "answer"])
    assert not speakers.may_speak(["question", "options", 1])


def test_a_stranger_is_one_who_says_something() -> None:
    assert (
        speakers.unknown_speaker_in({"sender": "Narrator", "text": "Rain."})
        == "Narrator"
    )
    assert not speakers.unknown_speaker_in({"sender": "Narrator", "text": ""})
    assert not speakers.unknown_speaker_in({"text": "Rain."})
