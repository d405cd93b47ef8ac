"""Conversations that no member names: told by what is said in a list."""

import json
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support import readings
from tests.threads.support.transcripts import lines
from threads.domain.formats.io import source
from threads.domain.formats.kit import spoken
from threads.domain.formats.sample import HEAD

ASKED = {"role": "user", "content": "Where does the night ferry land?"}
TOLD = {"role": "assistant", "content": [{"type": "text", "text": "At the old pier."}]}
CALLED = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c", "function": {"name": "look", "arguments": "{}"}}],
}
TICK = {"type": "tick", "data": {"at": 1}}
SAID = ["user: Where does the night ferry land?", "assistant: At the old pier."]


def mixed(*, ticks: int = 9) -> list[dict[str, Any]]:
    rows = [TICK] * ticks
    return [*rows, ASKED, *rows, {"level": "info", "text": "Asked."}, TOLD, *rows]


@pytest.mark.parametrize("held", [mixed(), {"title": "Ferry", "messages": mixed()}])
def test_messages_among_more_records_of_other_kinds_are_a_conversation(
    held: Any,
) -> None:
    [found] = readings.read(held)
    assert found.format == "openai"
    said = [one for one in readings.told(found) if one not in ("tick", "record")]
    assert said == SAID
    assert readings.events(found).count("tick") == 27
    [warning] = found.warnings
    assert warning.code == "other_records"
    assert warning.message.startswith("28 of 30 records are not messages")


def test_the_same_a_record_a_line() -> None:
    [found] = readings.read(lines(*mixed()))
    assert [one for one in readings.told(found) if ":" in one] == SAID
    assert [one.code for one in found.warnings] == ["other_records"]


def test_messages_far_behind_other_records_are_found() -> None:
    for data in (mixed(ticks=1_500), lines(*mixed(ticks=1_500))):
        [found] = readings.read(data)
        assert len(readings.messages(found)) == 2


def test_a_list_of_messages_with_a_few_others_is_read_without_a_word() -> None:
    [found] = readings.read([{"session": "s", "data": {}}, ASKED, TOLD, CALLED])
    assert len(readings.messages(found)) == 3
    assert not found.warnings


NOT_SAID: list[Any] = [
    [TICK, {"role": "admin", "content": "All of it."}, TICK],
    [TICK, ASKED, TICK, TICK],
    [TICK, TICK, {"role": "assistant", "name": "Ann"}, {"role": "user", "name": "Bo"}],
    [TICK, TICK, TICK, {"role": "user", "content": " "}, TOLD],
    [TICK, TICK, TICK, {"role": "user", "content": [{"weight": 3}]}, TOLD],
    {"accounts": {"1": {"role": "user"}, "2": {"role": "assistant"}}},
    {"paths": {"/chat": {"post": {"body": {"examples": {"one": [ASKED, TOLD]}}}}}},
    {"id": {"status": "waiting"}},
]


@pytest.mark.parametrize("data", NOT_SAID)
def test_what_is_no_conversation_is_refused_as_unknown(data: Any) -> None:
    with pytest.raises(Invalid) as refused:
        readings.read(data)
    assert refused.value.code == "format_unknown"


def test_a_conversation_that_has_its_own_blocks_is_read_as_their_provider_s() -> None:
    uses = {"role": "assistant", "content": [{"type": "tool_use", "id": "1"}]}
    thinks = {"type": "thinking", "thinking": "The pier.", "signature": "s"}
    [found] = readings.read([TICK] * 9 + [ASKED, {**TOLD, "content": [thinks]}, uses])
    assert found.format == "anthropic"


# By id


TWO: dict[str, Any] = {"conv-1": [ASKED, TOLD], "3f1c9a5e-77": [ASKED, CALLED]}


def test_lists_by_their_ids_are_a_conversation_each() -> None:
    first, second = readings.read(TWO)
    assert readings.told(first) == SAID
    assert (first.external_id, second.external_id) == (None, "3f1c9a5e-77")
    assert first.title == "Where does the night ferry land?"


@pytest.mark.parametrize("holder", ["conversations", "sessions", "chats"])
def test_conversations_by_their_ids_in_a_member(holder: str) -> None:
    held = {
        "none": {"messages": []},
        "3f1c9a5e-77": {"title": "Ferry", "messages": [ASKED, TOLD], "tags": ["sea"]},
        "note": "Kept by hand.",
    }
    [found] = readings.read({"version": 2, holder: held, "active": "3f1c9a5e-77"})
    assert (found.title, found.external_id) == ("Ferry", "3f1c9a5e-77")
    assert readings.told(found) == [*SAID, "tags"]


def test_conversations_in_a_list_of_a_member() -> None:
    chats = [
        {"id": "ses_23a9629d", "messages": [ASKED, TOLD]},
        {"id": 7, "messages": [TOLD, CALLED]},
    ]
    first, second = readings.read({"open": 7, "chats": chats})
    assert (first.external_id, second.external_id) == ("ses_23a9629d", None)
    assert readings.told(first) == [*SAID, "outer/open"]
    assert (second.title, readings.events(second)) == ("7", [])


def test_lists_and_objects_by_their_ids_may_stand_side_by_side() -> None:
    held = {"3f1c9a5e-77": [ASKED, TOLD], "conv-2": {"messages": [TOLD, ASKED]}}
    first, second = readings.read({**held, "note": "Kept by hand."})
    assert readings.told(first) == [*SAID, "outer/note"]
    assert readings.told(second) == SAID[::-1]
    assert (first.external_id, second.external_id) == ("3f1c9a5e-77", None)


def test_the_only_conversation_by_an_id_is_known_by_it() -> None:
    [found] = readings.read({"530465495040917531": [ASKED, TOLD]})
    assert found.external_id == "530465495040917531"


def test_a_list_of_lists_is_a_conversation_each() -> None:
    assert [
        len(readings.messages(one)) for one in readings.read([[ASKED, TOLD]] * 3)
    ] == [
        2,
        2,
        2,
    ]


# By other names


@pytest.mark.parametrize("name", ["history", "chat_history", "dialog"])
def test_messages_in_a_member_of_another_name(name: str) -> None:
    state = {"id": "4bd1-99aa-07", "model": "m-1", "system": "Be brief.", "step": 3}
    [found] = readings.read({**state, name: [ASKED, TOLD], "tools": {"look": {}}})
    assert readings.told(found) == ["system: Be brief.", *SAID, "step", "tools"]
    assert (found.external_id, found.model) == ("4bd1-99aa-07", "m-1")


def test_such_objects_a_line_or_in_a_list_are_a_conversation_each() -> None:
    rows = [{"history": [ASKED, TOLD], "score": 1}, {"history": [TOLD, ASKED]}]
    for data in (rows, lines(*rows)):
        first, second = readings.read(data)
        assert readings.told(first) == [*SAID, "score"]
        assert readings.told(second) == SAID[::-1]


def test_a_line_of_no_conversation_is_named() -> None:
    [found] = readings.read(lines({"history": [ASKED, TOLD]}, {"history": []}))
    assert [one.code for one in found.warnings] == ["no_messages"]


def test_of_a_format_that_the_first_bytes_leave_open_the_rest_decides() -> None:
    examples = [ASKED, TOLD]
    state = {"examples": examples, "note": "n" * HEAD, "schema_version": "ATIF-v1.8"}
    data = json.dumps({**state, "steps": [{"source": "user", "message": "Hi"}]})
    [found] = readings.read(data.encode())
    assert found.format == "atif"


def test_no_more_of_a_list_is_read_than_tells() -> None:
    assert spoken.is_conversation([ASKED, ASKED, TICK])
    assert not spoken.is_conversation([ASKED, TICK])
    assert spoken.is_conversation(iter([TICK, TICK, TICK, ASKED, TOLD]))


def test_a_conversation_is_sought_no_deeper_than_is_said() -> None:
    deep = {"a": {"b": [ASKED, TOLD]}}
    assert spoken.is_held(deep, 2)
    assert not spoken.is_held(deep, 1)
    assert not spoken.is_held({"a": {"b": 1}}, 2)


def test_in_a_large_file_conversations_are_found_by_their_places(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(source, "CHUNK", 64)
    held = {
        "rows": [{"n": n} for n in range(20)],
        "chats": [{"id": 1, "turns": [ASKED, TOLD]}],
    }
    for data in (TWO, held, {"a": [TICK] * 9, "history": mixed()}):
        found = readings.read(data)
        assert len(readings.messages(found[0])) == 2
        assert len(found) == (2 if data is TWO else 1)
