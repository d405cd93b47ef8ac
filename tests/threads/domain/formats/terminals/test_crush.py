"""Crush's database: sessions, summaries, sub-agents."""

import base64
import json
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.databases import database, logged
from tests.threads.support.folders import folder
from tests.threads.support.readings import (
    compactions,
    events,
    messages,
    parts,
    read,
    told,
)
from threads.domain.formats.terminals import crush
from threads.domain.message import Role
from threads.domain.part import (
    File,
    Image,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from threads.domain.transcript import Parent, Relation

TABLES = """
CREATE TABLE IF NOT EXISTS sessions (
    id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT, created_at INTEGER,
    summary_message_id TEXT
);
CREATE TABLE IF NOT EXISTS messages (
    id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts TEXT, model TEXT,
    created_at INTEGER, is_summary_message INTEGER
);
"""
PNG = base64.b64encode(b"PNG").decode()


def part(type_: str, **data: Any) -> dict[str, Any]:
    return {"type": type_, "data": data}


def message(
    id_: str, role: str, *given: Any, session: str = "s-1", summary: int = 0
) -> tuple[Any, ...]:
    return id_, session, role, json.dumps(given), "m-1", 1772445600000, summary


SESSION = ("s-1", None, "Lamps", 1772445600, None)


def test_a_session_is_its_messages() -> None:
    answer = [
        part("reasoning", thinking="Hm.", signature="seal"),
        part("reasoning", thinking="", thought_signature="all"),
        part("reasoning", thinking=""),
        part("text", text="So:"),
        part("text", text=""),
        part("tool_call", id="c1", name="look", input='{"lamp": 1}'),
        part("finish", reason="tool_use"),
    ]
    result = part(
        "tool_result",
        tool_call_id="c1",
        name="look",
        content="No.",
        is_error=True,
        data=PNG,
        mime_type="image/png",
    )
    asked = [
        part("text", text="Look."),
        part("image_url", url="https://lamps.test/1.png"),
        part("image_url", url=f"data:image/png;base64,{PNG}"),
        part("binary", Path="/a/note.pdf", MIMEType="application/pdf", Data=PNG),
        part("shell_command", command="ls", output="a"),
        part("odd", a=1),
    ]
    data = database(
        TABLES,
        {
            "sessions": [
                SESSION,
                ("m2$$c1", "s-1", "Sub", 1772445601, None),
                ("e", None, "", 1, None),
            ],
            "messages": [
                message("m1", "user", *asked),
                message("m2", "assistant", *answer),
                message("m3", "tool", result),
                message("m4", "assistant"),
                message("m5", "robot", part("text", text="Beep.")),
                ("m6", "s-1", "user", "{", None, 1772445600000, 0),
                message("m7", "user", part("text", text="Go."), session="m2$$c1"),
            ],
        },
    )

    found, sub = read(data)

    assert (found.format, found.title, found.external_id) == ("crush", "Lamps", "s-1")
    assert found.model == "m-1"
    assert parts(found) == [
        (
            Text("Look."),
            Image("image/*", url="https://lamps.test/1.png"),
            Image("image/png", data=b"PNG"),
            File("application/pdf", "note.pdf", data=b"PNG"),
            Text("$ ls\na"),
            Opaque("odd", part("odd", a=1)),
        ),
        (
            Thinking("Hm.", "seal"),
            Thinking("", data="all"),
            Text("So:"),
            ToolCall("c1", "look", {"lamp": 1}),
        ),
        (
            ToolResult(
                "c1", (Text("No."), Image("image/png", data=b"PNG")), "look", True
            ),
        ),
    ]
    assert messages(found)[0].records == ("row:messages/1",)
    assert events(found) == ["assistant", "robot", "unreadable"]
    assert len(found.warnings) == 1
    parent = Parent(external_id="s-1", relation=Relation.SUBAGENT, call_id="c1")
    assert sub.parent == parent


def test_a_summary_is_a_users_message_in_place_of_all_before_it() -> None:
    def text(words: str) -> dict[str, Any]:
        return part("text", text=words)

    data = database(
        TABLES,
        {
            "sessions": [("s-1", None, "Lamps", 1, "m4")],
            "messages": [
                message("m0", "assistant", text("First."), summary=1),
                message("m1", "user", text("Look.")),
                message("m2", "assistant", text("Counted."), summary=1),
                message("m3", "user", text("More.")),
                message("m4", "assistant", text("All.")),
            ],
        },
    )

    [found] = read(data)

    assert told(compactions(found)) == ["(0, 1) is Counted.", "(0, 1, 2) is All."]
    assert compactions(found)[0].messages[0].role is Role.USER


def test_a_log_beside_the_database_is_read_with_it() -> None:
    rows = [message("m1", "user", part("text", text="Look."))]
    session = f"{TABLES} INSERT INTO sessions VALUES ('s-1', NULL, 'Lamps', 1, NULL);"
    held = logged(session, "messages", rows)
    files = {f"a/crush.db{end}": data for end, data in held.items()}
    other = logged("CREATE TABLE a (b);", "a", [(1,)])
    files |= {f"b/other.db{end}": data for end, data in other.items()}

    [found] = crush.FORMAT.gather(folder({**files, "c/gone.db-wal": b""}))  # type: ignore[misc]

    assert found.members == {"a/crush.db", "a/crush.db-wal"}
    assert [one.member for one in found.transcripts] == ["a/crush.db"]
    assert told(found.transcripts[0]) == ["user: Look."]


def test_another_database_is_refused_by_name() -> None:
    with pytest.raises(Invalid, match="not a Crush database"):
        read(database("CREATE TABLE a (b);", {}), "crush")


def test_a_table_that_is_missing_a_column_is_a_warning() -> None:
    broken = TABLES.replace("session_id TEXT, role", "role")
    rows = [("m1", "user", json.dumps([part("text", text="Hi.")]), "m", 1, 0)]
    with pytest.raises(Invalid, match="a Crush database"):
        read(database(broken, {"sessions": [SESSION], "messages": rows}))
