"""Sessions of opencode 2: its export, and its tables beside those of version 1."""

import base64
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.threads.support.readings import events, messages, told
from threads.domain import formats
from threads.domain.formats.opencode.typed_messages import CHECKPOINT
from threads.domain.message import Role, Usage
from threads.domain.part import (
    File,
    Image,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from threads.domain.transcript import Compaction, Parent, Relation, Transcript

from .sessions import PNG, TOKENS, fill, read_one

Said = dict[str, Any]
CLAUDE = {"id": "claude-opus", "providerID": "anthropic", "variant": "default"}
PNG_DATA = PNG.partition(",")[2]


def said(type_: str, id_: str = "1", **members: Any) -> Said:
    message = {"id": f"msg_{id_}", "type": type_, "time": {"created": int(id_)}}
    return message | members


def answer(id_: str, *content: Said, **members: Any) -> Said:
    about = {"agent": "build", "model": CLAUDE, "tokens": TOKENS}
    return said("assistant", id_, content=list(content), **about | members)


def call(id_: str, status: str = "completed", **state: Any) -> Said:
    given = {"status": status, "input": {"at": id_}} | state
    return {"type": "tool", "id": id_, "name": "look", "state": given}


def words(*texts: str) -> list[Said]:
    return [{"type": "text", "text": one} for one in texts]


def export(*found: Any, **session: Any) -> dict[str, Any]:
    about = {"id": "ses_2", "title": "A lamp", "model": CLAUDE} | session
    return {"info": about, "messages": list(found)}


def read(*found: Any, **session: Any) -> Transcript:
    return read_one(export(*found, **session))


def encoded(said_: str) -> str:
    return base64.b64encode(said_.encode()).decode()


def test_an_answer_is_its_contents_and_then_the_results_of_its_calls() -> None:
    thought = {"type": "reasoning", "text": "Hm", "native": {"signature": "s"}}
    found = read(
        said("user", text="Look"),
        answer(
            "2",
            thought,
            {"type": "text", "text": "So"},
            call("a", content=words("It glows")),
            {"type": "text", "text": ""},
        ),
    )
    asked, spoken, result = messages(found.items)

    assert (found.external_id, found.title, found.strategy) == (
        "ses_2",
        "A lamp",
        "anthropic",
    )
    assert (asked.role, asked.parts) == (Role.USER, (Text("Look"),))
    assert spoken.parts == (
        Thinking("Hm", "s", signer="anthropic"),
        Text("So"),
        ToolCall("a", "look", {"at": "a"}),
    )
    assert (spoken.model, spoken.source_id) == ("claude-opus", "msg_2")
    assert spoken.usage == Usage(input_tokens=8, output_tokens=7, cached_tokens=2)
    assert (result.role, result.source_id) == (Role.TOOL, "msg_2/results")
    assert result.parts == (ToolResult("a", (Text("It glows"),), "look"),)
    assert spoken.records == result.records != asked.records


def test_a_thought_is_signed_by_the_provider_whose_data_it_has() -> None:
    sealed = {"itemId": "rs", "reasoningEncryptedContent": "x"}
    found = read(
        said("user", text="Hi"),
        answer(
            "2",
            {"type": "reasoning", "text": "One", "state": sealed},
            {"type": "reasoning", "text": "Two", "state": {"thoughtSignature": "t"}},
            {"type": "reasoning", "text": "Three"},
        ),
    )

    assert messages(found.items)[1].parts == (
        Thinking("One"),
        Thinking("", data="x", signer="openai"),
        Thinking("Two", "t", signer="gemini"),
        Thinking("Three"),
    )


def test_calls_that_run_have_no_result_and_failed_ones_say_why() -> None:
    file = {"type": "file", "uri": PNG, "mime": "image/png", "name": "lamp.png"}
    found = read(
        said("user", text="Hi"),
        answer(
            "2",
            call("a", "streaming", input='{"at": 1}'),
            call("b", "running"),
            call(
                "c", "error", error={"type": "x", "message": "Gone"}, content=words("1")
            ),
            call("d", content=[file, {"type": "file", "uri": ""}]),
            {"type": "sketch", "lines": 3},
        ),
    )
    _, spoken, results = messages(found.items)

    assert spoken.parts[0] == ToolCall("a", "look", {"at": 1})
    assert spoken.parts[-1] == Opaque("sketch", {"type": "sketch", "lines": 3})
    assert results.parts == (
        ToolResult("c", (Text("1"), Text("Gone")), "look", True),
        ToolResult("d", (Image("image/png", data=b"PNG"),), "look"),
    )


def test_what_the_model_reads_of_a_user_s_message_is_its_text_with_its_files() -> None:
    uri = {"type": "uri", "uri": "file:///lamp.md"}
    files = [
        {"mime": "text/plain", "data": encoded("Oil"), "name": "a", "source": uri},
        {"mime": "text/plain", "data": "", "description": "New", "source": uri},
        {"mime": "application/x-directory", "data": encoded("b"), "source": {}},
        {"mime": "image/png", "data": PNG_DATA},
        {"mime": "application/pdf", "uri": "https://lamp/a.pdf", "name": "a.pdf"},
        {"mime": "image/png"},
    ]
    skills = [{"name": "light", "text": "Be bright."}, {"name": "unread"}]
    found = read(said("user", text="Look", files=files, skills=skills))

    assert messages(found.items)[0].parts == (
        Text("Be bright."),
        Text("Look"),
        Text("Attached file: a\n\nOil"),
        Text("Attached file: file:///lamp.md\nDescription: New"),
        Text("Attached directory: inline attachment\n\nb"),
        Image("image/png", data=b"PNG"),
        File("application/pdf", "a.pdf", url="https://lamp/a.pdf"),
    )


def test_what_opencode_says_for_itself_has_the_role_in_which_the_model_reads_it() -> (
    None
):
    found = read(
        said("system", text="Be a lamp."),
        said("synthetic", "2", text="The task is done."),
        said("skill", "3", name="light", text="Be bright."),
        said("shell", "4", command="ls", output={"output": "wick"}),
        said("location-switched", "5", location={"directory": "/lamp"}),
    )

    assert [(str(one.role), one.text) for one in messages(found.items)] == [
        ("system", "Be a lamp."),
        ("user", "The task is done."),
        ("user", "Be bright."),
        (
            "user",
            "The following shell command was executed by the user:\n\n"
            "Command:\nls\n\nOutput:\nwick",
        ),
        ("user", "The working directory has been changed to /lamp."),
    ]


def test_what_is_not_sent_is_an_event_and_a_broken_answer_is_partial() -> None:
    found = read(
        said("user", text="Hi"),
        said("agent-switched", "2", agent="plan"),
        said("shell", "3", command="top", metadata={"background": True}),
        said("compaction", "4", status="failed", error={"message": "No"}),
        said("compaction", "5", status="completed", providerContext={"items": [1]}),
        answer("6", error={"type": "x", "message": "No"}),
        answer("7"),
        7,
        {"id": "msg_8"},
        answer("9", *words("So f"), error={"type": "x", "message": "No"}),
    )
    items = list(found.items)

    assert events(items) == [
        "agent-switched",
        "shell",
        "compaction",
        "compaction",
        "assistant/error",
        "assistant/empty",
        "unreadable",
        "record",
    ]
    assert [one.partial for one in messages(items)] == [False, True]


def test_a_compaction_stands_for_all_before_it() -> None:
    summary = {"status": "completed", "summary": "Lit.", "recent": "[User]: Hi"}
    first = read(said("compaction", **summary), said("user", "2", text="On"))
    items = list(
        read(
            said("user", text="Hi"),
            answer("2", *words("Ho")),
            said("compaction", "3", **summary),
            said("user", "4", text="On"),
            said("compaction", "5", **summary),
        ).items
    )
    shortened = [one for one in items if isinstance(one, Compaction)]
    checkpoint = CHECKPOINT.format(summary="Lit.", recent="[User]: Hi")

    assert told(list(first.items)) == [f"user: {checkpoint}", "user: On"]
    assert [one.replaces for one in shortened] == [(0, 1), (0, 1, 2)]
    assert [(str(one.role), one.text) for one in shortened[0].messages] == [
        ("user", checkpoint)
    ]


def test_what_a_revert_undoes_is_an_event() -> None:
    found = read(
        said("user", text="Hi"),
        said("user", "2", text="No"),
        answer("3", *words("Ho")),
        revert={"messageID": "msg_2"},
    )

    assert told(list(found.items)) == [
        "user: Hi",
        "reverted/user",
        "reverted/assistant",
    ]


def test_an_export_of_a_fork_names_what_it_was_forked_from() -> None:
    fork = {"sessionID": "ses_1", "boundary": {"messageID": "msg_1"}}
    found = read(said("user", text="Hi"), fork=fork)

    assert found.parent == Parent(external_id="ses_1", relation=Relation.BRANCH)


SCHEMA_2 = """
CREATE TABLE `session_v2` (id text PRIMARY KEY, parent_id text, fork_session_id text,
    title text, model text, revert text, time_created integer, time_updated integer);
CREATE TABLE `session_message` (id text PRIMARY KEY, session_id text NOT NULL,
    type text NOT NULL, seq integer NOT NULL, time_created integer, data text NOT NULL);
"""
Row = tuple[str, str | None, list[Said]]
BEGAN = call("a", metadata={"sessionID": "ses_5"}, content=words("Dug"))
SESSIONS: list[Row] = [
    ("ses_4", None, [said("user", text="Dig"), answer("2", BEGAN)]),
    ("ses_5", "ses_4", [said("user", "3", text="Dig.")]),
]


def fill_2(database: sqlite3.Connection, rows: list[Row], *, changed: int = 0) -> None:
    """Add the tables of version 2 with these sessions; messages are stored in any order."""
    database.executescript(SCHEMA_2)
    for id_, parent, found in rows:
        about = [id_, parent, None, None, json.dumps(CLAUDE), None, 1, changed]
        database.execute(
            "INSERT INTO session_v2 VALUES (?, ?, ?, ?, ?, ?, ?, ?)", about
        )
        for seq, one in reversed([*enumerate(found)]):
            data = {k: v for k, v in one.items() if k not in ("id", "type")}
            row = [f"{id_}{one['id']}", id_, one["type"], seq, 1, json.dumps(data)]
            database.execute(
                "INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?)", row
            )
    database.commit()


def test_a_database_of_version_2_alone_holds_sessions_and_their_sub_agents(
    tmp_path: Path,
) -> None:
    with closing(sqlite3.connect(tmp_path / "o.db")) as database:
        fill_2(database, SESSIONS)
    with (tmp_path / "o.db").open("rb") as file:
        first, second = formats.read(file)
        items = list(first.items)

    assert (first.format, first.title, first.strategy) == (
        "opencode",
        "Dig",
        "anthropic",
    )
    assert [str(one.role) for one in messages(items)] == ["user", "assistant", "tool"]
    assert messages(items)[0].records == ("row:session_message/2",)
    assert second.parent == Parent(
        external_id="ses_4", relation=Relation.SUBAGENT, call_id="a"
    )


def test_sessions_of_both_versions_are_read_each_where_it_was_continued(
    tmp_path: Path,
) -> None:
    copied: list[Row] = [
        ("ses_1", None, [said("user", text="One"), said("user", "2", text="More")]),
        ("ses_4", None, []),
    ]
    for changed in (None, 9):
        path = tmp_path / f"{changed}.db"
        with closing(fill(path)) as database:
            database.execute("ALTER TABLE session ADD COLUMN time_updated integer")
            database.execute("UPDATE session SET time_updated = ?", [changed])
            fill_2(database, copied, changed=5)
        with path.open("rb") as file:
            found = {one.external_id: list(one.items) for one in formats.read(file)}
        continued = ["One", "More"] if changed is None else ["One", "", ""]

        assert [one.text for one in messages(found["ses_1"])] == continued
        assert found.keys() == {"ses_1", "ses_2"}


def test_a_sub_agent_without_a_call_in_its_parent_is_a_sub_agent(
    tmp_path: Path,
) -> None:
    rows: list[Row] = [
        ("ses_4", None, [answer("2", *words("About ses_5"))]),
        ("ses_5", "ses_4", [said("user", "3", text="Dig.")]),
    ]
    with closing(sqlite3.connect(tmp_path / "o.db")) as database:
        fill_2(database, rows)
    with (tmp_path / "o.db").open("rb") as file:
        _, second = formats.read(file)

    assert second.parent == Parent(external_id="ses_4", relation=Relation.SUBAGENT)


def test_a_database_of_version_2_that_breaks_off_tells_so(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "o.db")) as database:
        fill_2(database, SESSIONS)
    with (tmp_path / "o.db").open("rb") as file:
        first, _ = formats.read(file)
        (tmp_path / "o.db").write_bytes(b"gone")
        assert told(list(first.items)) == []

    assert [warning.code for warning in first.warnings] == ["database_broken"]
