"""opencode's folders: a database with its log, a tree of files."""

import io
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.folders import folder
from tests.threads.support.readings import told
from threads.domain.formats import opencode
from threads.domain.formats.io import source
from threads.domain.formats.io.folder import Gathered
from threads.domain.formats.opencode import database as opencode_database
from threads.domain.message import Message
from threads.domain.transcript import Parent, Relation

from .sessions import CALLED, CHILD, Stored, fill, info, read, text


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
        opencode_database.transcripts(io.BytesIO(b"no database" * 99), io.BytesIO(b""))

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
    monkeypatch.setattr(source, "MAX_PIECE", 150)
    long = [(info("user", "1"), [text("x" * 200), text("Hi")])]
    [gathered] = gather(tree("ses_1", long))

    assert [w.code for w in gathered.transcripts[0].warnings] == ["element_too_long"]
