"""opencode: the same session from its export, its database and its tree of files."""

import io
import json
import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.folders import folder
from tests.threads.readings import told
from tests.threads.transcripts import lines
from threads.domain import formats
from threads.domain.formats import opencode, opencode_database, opencode_folder
from threads.domain.formats.folder import Gathered
from threads.domain.formats.opencode_turns import CLEARED
from threads.domain.message import Message, Usage
from threads.domain.part import (
    File,
    Image,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from threads.domain.transcript import Compaction, Event, Parent, Relation, Transcript

PNG = "data:image/png;base64,UE5H"
TOKENS = {"input": 5, "output": 4, "reasoning": 3, "cache": {"read": 2, "write": 1}}
Stored = list[tuple[dict[str, Any], list[dict[str, Any]]]]


def info(role: str, id_: str, at: float = 0, **members: Any) -> dict[str, Any]:
    return {
        "id": f"msg_{id_}",
        "sessionID": "ses_1",
        "role": role,
        "time": {"created": at},
    } | members


def text(words: str, **members: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **members}


def tool(id_: str, status: str = "completed", **state: Any) -> dict[str, Any]:
    state = {"status": status, "input": {"at": id_}, **state}
    return {"type": "tool", "callID": id_, "tool": "look", "state": state}


def export(messages: Stored, **session: Any) -> dict[str, Any]:
    return {
        "info": {"id": "ses_1", "title": "A lamp", **session},
        "messages": [{"info": about, "parts": parts} for about, parts in messages],
    }


def read(
    *messages: tuple[dict[str, Any], list[dict[str, Any]]], **session: Any
) -> list[Any]:
    return list(read_one(export(list(messages), **session)).items)


def read_one(data: Any) -> Transcript:
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    [found] = formats.read(io.BytesIO(raw))
    assert found.format == "opencode"
    return found


def parts_of(*parts: dict[str, Any], role: str = "assistant") -> tuple[Part, ...]:
    [message] = read((info(role, "1"), list(parts)))
    found: tuple[Part, ...] = message.parts
    return found


def test_a_turn_is_the_assistant_s_message_and_the_tool_s_behind_it() -> None:
    parts = [
        {"type": "step-start"},
        {"type": "reasoning", "text": "Hm.", "time": {"start": 1772359200000}},
        text("Looking."),
        tool("1", output="One.", attachments=[{"mime": "image/png", "url": PNG}, {}]),
        tool("2", "error", error="No."),
        tool("3", "error", error="Stop.", metadata={"output": "So far."}),
        tool("4", "running"),
        {"type": "step-finish", "time": {"start": 1772359200000}},
        {"type": "patch", "hash": "h"},
    ]
    answer = info("assistant", "2", 1772359200000, modelID="m", tokens=TOKENS)
    found = read_one(export([(info("user", "1"), [text("Hi")]), (answer, parts)]))
    [asked, start, said, tools, finish, patch] = found.items

    assert (found.title, found.external_id, found.model) == ("A lamp", "ses_1", "m")
    assert isinstance(asked, Message) and asked.source_id == "msg_1"
    assert isinstance(said, Message) and isinstance(tools, Message)
    assert [
        event.type for event in (start, finish, patch) if isinstance(event, Event)
    ] == [
        "step-start",
        "step-finish",
        "patch",
    ]
    assert said.parts == (
        Thinking("Hm."),
        Text("Looking."),
        *(ToolCall(id_, "look", {"at": id_}) for id_ in "1234"),
    )
    assert said.usage == Usage(input_tokens=8, output_tokens=4, cached_tokens=2)
    assert tools.parts == (
        ToolResult("1", (Text("One."), Image("image/png", data=b"PNG")), "look"),
        ToolResult("2", (Text("No."),), "look", True),
        ToolResult("3", (Text("So far."),), "look", True),
    )
    assert (tools.role, tools.usage, tools.model) == ("tool", None, None)


def test_reasoning_is_counted_where_the_total_says_so() -> None:
    [message] = read(
        (info("assistant", "1", tokens={**TOKENS, "total": 15}), [text("Hi")])
    )

    assert message.usage == Usage(input_tokens=8, output_tokens=7, cached_tokens=2)


def test_reasoning_keeps_its_provider_s_seal() -> None:
    def reasoning(words: str, **metadata: Any) -> dict[str, Any]:
        return {"type": "reasoning", "text": words, "metadata": metadata}

    assert parts_of(
        reasoning("One.", anthropic={"signature": "s"}),
        reasoning("Two.", google={"thoughtSignature": "t"}),
        reasoning("", anthropic={"redactedData": "r"}),
        reasoning("Four.", openai={"reasoningEncryptedContent": "e"}),
    ) == (
        Thinking("One.", "s"),
        Thinking("Two.", "t"),
        Thinking("", data="r"),
        Thinking("Four."),
        Thinking("", data="e"),
    )


def test_a_user_s_parts() -> None:
    items = read(
        (
            info("user", "1"),
            [
                text("Look."),
                text("The file reads …", synthetic=True),
                text("Not for the model.", ignored=True),
                {"type": "file", "mime": "text/plain", "url": "file:///a.txt"},
                {"type": "file", "mime": "image/png", "url": PNG},
                {
                    "type": "file",
                    "mime": "application/pdf",
                    "url": "file:///a",
                    "filename": "a",
                },
                {"type": "file", "mime": ["image/png"]},
                {
                    "type": "subtask",
                    "prompt": "Dig.",
                    "agent": "explore",
                    "id": "prt_1",
                },
                {"type": "agent", "name": "explore"},
            ],
        )
    )

    assert items[0].parts == (
        Text("Look."),
        Text("The file reads …"),
        Image("image/png", data=b"PNG"),
        File("application/pdf", "a", url="file:///a"),
        Opaque("subtask", {"type": "subtask", "prompt": "Dig.", "agent": "explore"}),
    )
    assert told(items[1:]) == ["text", "file", "file", "agent"]


def test_a_turn_without_content_is_an_event() -> None:
    failed = info("assistant", "2", error={"name": "APIError"})
    cut = info("assistant", "3", error={"name": "MessageAbortedError"})
    items = read(
        (info("user", "1"), [text("Hi")]),
        (failed, [{"type": "step-start"}]),
        (cut, [text("Hal")]),
        (info("assistant", "4"), []),
        (info("robot", "5"), []),
    )

    assert told(items) == [
        "user: Hi",
        "step-start",
        "assistant/error",
        "assistant: Hal",
        "assistant/empty",
        "robot",
    ]
    assert items[3].partial


ASKED_SHORTER = (info("user", "3", 3), [{"type": "compaction", "auto": True}])
SUMMARY = info("assistant", "4", 4, summary=True, finish="stop", parentID="msg_3")
SAID: Stored = [
    (info("user", "1", 1), [text("One")]),
    (info("assistant", "2", 2), [text("Two"), tool("1", output="x")]),
]


def test_a_compaction_hides_all_before_it() -> None:
    items = read(
        *SAID,
        ASKED_SHORTER,
        (SUMMARY, [text("So far.")]),
        (info("user", "5"), [text("Go")]),
    )

    assert told(items) == [
        "user: One",
        "assistant: Two",
        "tool: ",
        "compaction",
        "user/compaction",
        "(0, 1, 2) is So far.",
        "user: Go",
    ]


def test_a_compaction_may_keep_a_tail() -> None:
    part = {"type": "compaction", "tail_start_id": "msg_2"}
    items = read(*SAID, (info("user", "3"), [part]), (SUMMARY, [text("So far.")]))

    assert told(items)[-1] == "(0,) is So far."


def test_a_compaction_that_failed_or_hides_nothing_is_none() -> None:
    failed = {**SUMMARY, "error": {"name": "APIError"}}
    kept = read(*SAID, ASKED_SHORTER, (failed, [text("So")]))
    first = read(
        ASKED_SHORTER,
        (SUMMARY, [text("Nothing yet.")]),
        (info("user", "5"), [text("Hi")]),
    )

    assert not any(isinstance(item, Compaction) for item in kept)
    assert told(first)[-2:] == ["assistant: Nothing yet.", "user: Hi"]


def test_outputs_that_were_cleared_are_a_compaction_of_when_it_was() -> None:
    cleared = tool("1", output="long", time={"compacted": 5})
    late = tool("3", output="late", time={"compacted": 9})
    items = read(
        (info("assistant", "1", 1), [cleared, tool("2", output="kept")]),
        (info("user", "2", 4), [text("Then")]),
        (info("assistant", "3", 6), [late]),
    )
    first, last = (item for item in items if isinstance(item, Compaction))

    assert [type(item).__name__ for item in items] == [
        "Message",
        "Message",
        "Message",
        "Compaction",
        "Message",
        "Message",
        "Compaction",
    ]
    assert (first.replaces, last.replaces) == ((1,), (4,))
    assert [
        part.content for part in first.messages[0].parts if isinstance(part, ToolResult)
    ] == [
        (Text(CLEARED),),
        (Text("kept"),),
    ]


def test_outputs_that_a_compaction_hid_already_are_cleared_unseen() -> None:
    cleared = tool("1", output="long", time={"compacted": 9})
    said = (info("assistant", "2", 2), [cleared])
    items = read(said, ASKED_SHORTER, (SUMMARY, [text("So far.")]))

    assert sum(isinstance(item, Compaction) for item in items) == 1


@pytest.mark.parametrize(
    ("revert", "last"),
    [
        ({"messageID": "msg_2"}, "reverted/assistant"),
        ({"messageID": "msg_2", "partID": "p"}, "tool: "),
    ],
)
def test_what_was_undone_is_an_event(revert: Any, last: str) -> None:
    items = read(*SAID, (info("user", "3"), [text("Three")]), revert=revert)

    assert told(items)[-2:] == [last, "reverted/user"]


@pytest.mark.parametrize(
    ("model", "provider", "strategy"),
    [
        ("claude-x", "anthropic", "anthropic"),
        ("gemini-x", "zen", "gemini"),
        ("claude-x", "google", "gemini"),
        ("m", "zen", "openai"),
        ("m", "google", "gemini"),
    ],
)
def test_the_strategy_is_the_provider_s(
    model: str, provider: str, strategy: str
) -> None:
    turn = (info("assistant", "1", modelID=model), [text("Hi")])

    assert read_one(export([turn], model={"providerID": provider})).strategy == strategy


def test_a_title_that_nobody_gave_is_the_first_words() -> None:
    assert (
        read_one(export(SAID, title="New session - 2026-01-01T00:00:00Z")).title
        == "One"
    )


def test_exports_come_one_a_line_too_and_a_sub_agent_s_names_its_parent() -> None:
    raw = lines(export(SAID), export(SAID, id="ses_2", parentID="ses_1"), export([]))
    first, second = formats.read(io.BytesIO(raw))

    assert first.parent is None
    assert second.parent == Parent(external_id="ses_1", relation=Relation.SUBAGENT)


def test_what_is_no_message_in_an_export_is_an_event() -> None:
    raw = (
        json.dumps(export(SAID))
        .encode()
        .replace(b'"messages": [', b'"messages": [{oops}, 3, ')
    )
    [found] = formats.read(io.BytesIO(raw), "opencode")

    assert told(list(found.items))[:3] == ["unreadable", "unreadable", "user: One"]
    assert [warning.code for warning in found.warnings] == ["json_invalid"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (json.dumps(export([])).encode(), "holds no messages"),
        (json.dumps({"info": {"id": "ses_1"}}).encode(), "holds no messages"),
        (b'{"info": {"id": "ses_1"}, "messages": [{oops', "ends before it is complete"),
    ],
)
def test_an_export_without_messages_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(Invalid, match=words):
        formats.read(io.BytesIO(data))


# The database

SCHEMA = """
CREATE TABLE `session` (id text PRIMARY KEY, parent_id text, title text NOT NULL, model text,
    revert text, time_created integer);
CREATE TABLE `message` (id text PRIMARY KEY, session_id text, time_created integer, data text);
CREATE TABLE `part` (id text PRIMARY KEY, message_id text, session_id text, data text);
"""
CALLED: Stored = [
    (info("user", "1", 1), [text("One")]),
    (
        info("assistant", "2", 2, modelID="m"),
        [tool("1", metadata={"sessionId": "ses_2"}, output="x")],
    ),
]
CHILD: Stored = [(info("user", "9", 3), [text("Dig.")])]


def fill(path: Path, *, journal: str = "DELETE") -> sqlite3.Connection:
    """A database of two sessions, of which one is the other's sub-agent."""
    database = sqlite3.connect(path)
    database.execute(f"PRAGMA journal_mode = {journal}")
    database.executescript(SCHEMA)
    for id_, parent, stored in (("ses_1", None, CALLED), ("ses_2", "ses_1", CHILD)):
        model = json.dumps({"providerID": "google"})
        database.execute(
            "INSERT INTO session VALUES (?, ?, ?, ?, ?, 1)",
            [id_, parent, "A lamp", model, "{"],
        )
        for about, parts in stored:
            data = {k: v for k, v in about.items() if k not in ("id", "sessionID")}
            row = [about["id"], id_, about["time"]["created"], json.dumps(data)]
            database.execute("INSERT INTO message VALUES (?, ?, ?, ?)", row)
            for number, part in enumerate(parts):
                key = f"prt_{about['id']}_{number}"
                database.execute(
                    "INSERT INTO part VALUES (?, ?, ?, ?)",
                    [key, about["id"], id_, json.dumps(part)],
                )
    database.commit()
    return database


def by_path_or_copy(path: Path, *, is_copied: bool) -> BinaryIO:
    return io.BytesIO(path.read_bytes()) if is_copied else path.open("rb")


@pytest.mark.parametrize("is_copied", [False, True])
def test_a_database_holds_sessions_and_their_sub_agents(
    tmp_path: Path, is_copied: bool
) -> None:
    fill(tmp_path / "o.db").close()
    with by_path_or_copy(tmp_path / "o.db", is_copied=is_copied) as file:
        first, second = formats.read(file)
        exported = read(*CALLED)
        items = list(first.items)
        assert isinstance(first.items, opencode_database.Rows)
        assert first.items.call_of("nobody") == ""

    assert (first.format, first.strategy, first.title) == (
        "opencode",
        "gemini",
        "A lamp",
    )
    assert [item.parts for item in items if isinstance(item, Message)] == [
        item.parts for item in exported
    ]
    assert items[1].records == ("row:message/2", "row:part/2")
    assert second.external_id == "ses_2"
    assert second.parent == Parent(
        external_id="ses_1", relation=Relation.SUBAGENT, call_id="1"
    )


def test_a_row_that_can_t_be_read_is_an_event_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(fill(tmp_path / "o.db")) as database:
        database.execute("UPDATE part SET data = '{' WHERE message_id = 'msg_1'")
        database.execute("UPDATE message SET data = 7 WHERE id = 'msg_9'")
        database.commit()
    with (tmp_path / "o.db").open("rb") as file:
        [found] = formats.read(file)
        assert told(list(found.items))[:2] == ["part", "user/empty"]
        assert [warning.message.split(":")[0] for warning in found.warnings] == [
            "At part[1]"
        ]
        monkeypatch.setattr(opencode_database, "MAX_ROW", 10)
        list(found.items)
        assert "longer than" in found.warnings[0].message


def test_a_database_of_another_s_or_a_broken_one_is_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as database:
        database.executescript("CREATE TABLE session (a); CREATE VIEW part AS SELECT 1")
    other = (tmp_path / "a.db").read_bytes()
    with pytest.raises(Invalid) as refusal:
        formats.read(io.BytesIO(other), "opencode")
    with pytest.raises(Invalid) as broken:
        formats.read(io.BytesIO(opencode.SQLITE + b"\0" * 100), "opencode")
    fill(tmp_path / "o.db").close()
    raw = (
        (tmp_path / "o.db")
        .read_bytes()
        .replace(b"title text NOT", b"title \xa6\xc1 ( NO")
    )
    with pytest.raises(Invalid, match="can't be read"):
        formats.read(io.BytesIO(raw), "opencode")
    with pytest.raises(Invalid) as by_name:
        formats.read(io.BytesIO(other), name="opencode.db")

    assert refusal.value.code == by_name.value.code == "format_unsupported"
    assert broken.value.code == "database_broken"


def test_a_database_that_breaks_off_tells_so(tmp_path: Path) -> None:
    fill(tmp_path / "o.db").close()
    with (tmp_path / "o.db").open("rb") as file:
        first, _ = formats.read(file)
        (tmp_path / "o.db").write_bytes(b"gone")
        assert told(list(first.items)) == []

    assert [warning.code for warning in first.warnings] == ["database_broken"]


# Folders


def gather(files: Mapping[str, Any]) -> list[Gathered]:
    assert opencode.FORMAT.gather is not None
    return opencode.FORMAT.gather(folder(files))


def test_a_database_is_read_with_its_log(tmp_path: Path) -> None:
    database = fill(tmp_path / "o.db", journal="WAL")
    for name in ("o.db", "o.db-wal"):
        shutil.copy(tmp_path / name, tmp_path / f"copy-{name}")
    database.close()
    files = {
        name: (tmp_path / f"copy-{name}").read_bytes() for name in ("o.db", "o.db-wal")
    }
    [gathered] = gather(
        {**files, "o.db-shm": b"", "alone.db": b"", "x.db": b"x", "x.db-wal": b""}
    )

    assert gathered.members == {"o.db", "o.db-wal", "o.db-shm"}
    assert told(list(gathered.transcripts[0].items)) == [
        "user: One",
        "assistant: ",
        "tool: ",
    ]
    assert gathered.transcripts[0].member == "o.db"


def test_a_log_that_can_t_be_taken_in_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid) as refusal:
        opencode_database.open_database(
            io.BytesIO(b"no database" * 99), io.BytesIO(b"")
        )

    assert refusal.value.code == "database_broken"


def tree(id_: str, stored: Stored, **session: Any) -> dict[str, Any]:
    files: dict[str, Any] = {
        f"storage/session/p/{id_}.json": {"title": "A lamp", **session}
    }
    for about, parts in stored:
        files[f"storage/message/{id_}/{about['id']}.json"] = about
        for number, part in enumerate(parts):
            files[f"storage/part/{about['id']}/prt_{number}.json"] = part
    return files


def test_a_tree_of_files_holds_sessions_and_their_sub_agents() -> None:
    files = {
        **tree("ses_1", CALLED),
        **tree("ses_2", CHILD, parentID="ses_1"),
        "storage/project/p.json": {},
        "storage/migration": b"2",
        "note.txt": b"Hi",
    }
    [gathered] = gather(files)
    first, second = gathered.transcripts
    items = list(first.items)

    assert gathered.members == files.keys() - {"note.txt"}
    assert (first.external_id, first.title, first.model) == ("ses_1", "A lamp", "m")
    assert [item.parts for item in items if isinstance(item, Message)] == [
        item.parts for item in read(*CALLED)
    ]
    size = len(json.dumps(CALLED[0][0]))
    assert isinstance(items[0], Message)
    assert items[0].records[0] == f"storage/message/ses_1/msg_1.json#bytes:0-{size}"
    assert second.parent == Parent(
        external_id="ses_1", relation=Relation.SUBAGENT, call_id="1"
    )


def test_an_older_tree_and_one_without_its_session_s_file_are_read_too() -> None:
    old = {
        "session/message/ses_1/msg_1.json": info("user", "1"),
        "session/part/ses_1/msg_1/prt_1.json": text("Hi"),
        "session/part/ses_1/msg_1/prt_2.json": b"{",
        "session/message/ses_2/msg_2.json": b"[]",
    }
    [gathered] = gather(old)
    [found] = gathered.transcripts

    assert told(list(found.items)) == ["user: Hi", "part"]
    assert (found.title, found.external_id) == ("Hi", "ses_1")
    assert found.member == "session/message/ses_1/msg_1.json"
    assert [warning.code for warning in found.warnings] == ["json_invalid"]


def test_a_file_of_a_tree_that_is_too_large_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(opencode_folder, "MAX_PIECE", 150)
    long = [(info("user", "1"), [text("x" * 200), text("Hi")])]
    [gathered] = gather(tree("ses_1", long))

    assert [w.code for w in gathered.transcripts[0].warnings] == ["element_too_long"]
