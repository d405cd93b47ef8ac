"""Goose's database, and what a compaction of Goose's hides."""

import json
from typing import Any

from tests.threads.support.databases import database
from tests.threads.support.editor_specimens import GOOSE_CHAT, GOOSE_SESSION
from tests.threads.support.readings import (
    compactions,
    events,
    messages,
    parts,
    read,
    texts,
)
from threads.domain.message import Usage
from threads.domain.part import Text, ToolCall, ToolResult
from threads.domain.transcript import Parent, Relation

TABLES = """
CREATE TABLE sessions (
    id TEXT PRIMARY KEY, name TEXT, description TEXT, working_dir TEXT NOT NULL,
    created_at TIMESTAMP, model_config_json TEXT
);
CREATE TABLE messages (
    id INTEGER PRIMARY KEY, message_id TEXT, session_id TEXT, role TEXT, content_json TEXT,
    created_timestamp INTEGER, metadata_json TEXT
);
"""
SESSION = ("20260302_1", "Lamps", "", "/home/x", "2026-03-02", '{"model_name": "m-1"}')
HIDDEN = {"userVisible": True, "agentVisible": False}
SUMMARY = {"userVisible": False, "agentVisible": True}
GONE = {"userVisible": False, "agentVisible": False}


def row(
    number: int,
    role: str,
    content: Any,
    metadata: Any = None,
    session: str = SESSION[0],
) -> tuple[Any, ...]:
    given = content if isinstance(content, str) else json.dumps(content)
    told = None if metadata is None else json.dumps(metadata)
    return number, f"msg_{number}", session, role, given, 1772445600 + number, told


def words(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text}]


def test_sessions_are_read_with_their_messages() -> None:
    rows = [row(n, one["role"], one["content"]) for n, one in enumerate(GOOSE_CHAT, 1)]
    other = ("20260302_2", "", "Rooms", "/home/x", "2026-03-03", None)
    rows.append(row(9, "user", words("Which room?"), session=other[0]))
    empty = ("20260302_3", "", "", "/home/x", "2026-03-04", None)
    given = {"sessions": [SESSION, other, empty], "messages": rows}

    found, second = read(database(TABLES, given))

    assert (found.format, found.title, found.external_id, found.model) == (
        "goose",
        "Lamps",
        "20260302_1",
        "m-1",
    )
    assert parts(found) == [
        (Text("Look."),),
        (ToolCall("c1", "look", {"lamp": 1}),),
        (ToolResult("c1", (Text("It is dark."),)),),
    ]
    assert messages(found)[0].source_id == "msg_1"
    assert messages(found)[0].records == ("row:messages/1",)
    assert (second.title, texts(second)) == ("Rooms", ["Which room?"])


def test_what_cannot_be_read_is_an_event_with_a_warning() -> None:
    rows = [
        row(1, "user", words("Look.")),
        row(2, "user", "[{"),
        row(3, "user", {"no": "list"}),
    ]
    [found] = read(database(TABLES, {"sessions": [SESSION], "messages": rows}))
    assert texts(found) == ["Look."]
    assert events(found) == ["unreadable", "unreadable"]
    assert len(found.warnings) == 2


COMPACTED = [
    ("user", "One", HIDDEN),
    ("assistant", "Two", HIDDEN),
    ("user", "They counted to two.", SUMMARY),
    ("assistant", "I go on.", SUMMARY),
    ("user", "Three", None),
]


def test_a_compaction_hides_messages_behind_what_the_model_alone_sees() -> None:
    rows = [
        row(n, role, words(text), seen)
        for n, (role, text, seen) in enumerate(COMPACTED, 1)
    ]
    in_database = read(database(TABLES, {"sessions": [SESSION], "messages": rows}))
    chat = [
        {"role": role, "content": words(text), **({"metadata": seen} if seen else {})}
        for role, text, seen in COMPACTED
    ]
    exported = read({**GOOSE_SESSION, "conversation": chat})
    for [found] in (in_database, exported):
        assert texts(found) == ["One", "Two", "Three"]
        [compaction] = compactions(found)
        assert compaction.replaces == (0, 1)
        assert [one.text for one in compaction.messages] == [
            "They counted to two.",
            "I go on.",
        ]


def test_a_second_compaction_hides_the_summary_of_the_first() -> None:
    rows = [
        row(1, "user", words("One"), HIDDEN),
        row(2, "user", words("Counted to one."), GONE),
        row(3, "user", words("Two"), HIDDEN),
        row(4, "user", words("Counted to two."), SUMMARY),
    ]
    [found] = read(database(TABLES, {"sessions": [SESSION], "messages": rows}))
    assert texts(found) == ["One", "Two"]
    [compaction] = compactions(found)
    assert compaction.replaces == (0, 1)
    assert "summary" in events(found)


def test_what_only_the_user_sees_is_hidden_though_nothing_stands_in_its_place() -> None:
    shown = {"userVisible": True, "agentVisible": False}
    rows = [row(1, "user", words("One")), row(2, "user", words("/prompts"), shown)]
    [found] = read(database(TABLES, {"sessions": [SESSION], "messages": rows}))
    assert texts(found) == ["One", "/prompts"]
    [compaction] = compactions(found)
    assert (compaction.replaces, compaction.messages) == ((1,), ())
    assert compaction.record == "row:messages/2"


def test_the_rows_tell_models_tokens_and_parents() -> None:
    tables = TABLES.replace("model_config_json", "parent_session_id TEXT, m")
    told = {"inference": {"requestedModel": "m-2"}, "usage": {"outputTokens": 4}}
    rows = [row(1, "assistant", words("Yes."), told)]
    given = (*SESSION[:5], "20260302_0", None)
    [found] = read(database(tables, {"sessions": [given], "messages": rows}))
    [answer] = messages(found)
    assert (answer.model, answer.usage) == ("m-2", Usage(output_tokens=4))
    assert found.parent == Parent(external_id="20260302_0", relation=Relation.SUBAGENT)


def test_what_only_the_model_sees_is_a_message_where_nothing_was_hidden() -> None:
    rows = [row(1, "user", words("A note."), SUMMARY), row(2, "user", words("One"))]
    [found] = read(database(TABLES, {"sessions": [SESSION], "messages": rows}))
    assert texts(found) == ["A note.", "One"]
    assert not compactions(found)
