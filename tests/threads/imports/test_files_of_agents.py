"""What other programs keep, all the way in: databases, archives with pictures, families."""

import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from contextstudio.accounts.models import Project, User
from contextstudio.accounts.selectors import caller_of_user
from threads import imports
from threads.domain import formats
from threads.domain import message as domain
from threads.domain.part import Image, Text
from threads.imports.upload import keep_upload
from threads.models import Blob, Message, Session
from threads.store import blobs, records

TABLES = """
CREATE TABLE session (id text PRIMARY KEY, parent_id text, title text, time_created integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, data text);
INSERT INTO session VALUES ('ses_1', NULL, 'A lamp', 1), ('ses_2', 'ses_1', 'The wire', 2);
"""
CALL = {
    "type": "tool",
    "tool": "task",
    "callID": "call-1",
    "state": {
        "status": "completed",
        "output": "Cut.",
        "metadata": {"sessionId": "ses_2"},
    },
}


@pytest.fixture
def take(owner: User, project: Project) -> Any:
    def import_(data: bytes, name: str) -> list[Session]:
        upload = keep_upload(io.BytesIO(data), name=name)
        imports.import_upload(caller_of_user(owner), project, upload)
        return list(Session.objects.order_by("created_at", "pk"))

    return import_


def opencode_database(path: Path) -> bytes:
    said = [
        ("ses_1", "msg_1", "user", {"type": "text", "text": "See to it."}),
        ("ses_1", "msg_2", "assistant", CALL),
        ("ses_2", "msg_3", "user", {"type": "text", "text": "Find the wire."}),
    ]
    with closing(sqlite3.connect(path)) as database:
        database.executescript(TABLES)
        for number, (session, id_, role, part) in enumerate(said):
            row = [id_, session, number, json.dumps({"role": role})]
            database.execute("INSERT INTO message VALUES (?, ?, ?, ?)", row)
            row = [f"prt_{number}", id_, session, json.dumps(part)]
            database.execute("INSERT INTO part VALUES (?, ?, ?, ?)", row)
        database.commit()
    return path.read_bytes()


def test_a_database_of_opencode_becomes_its_sessions(take: Any, tmp_path: Path) -> None:
    sessions = {
        s.title: s for s in take(opencode_database(tmp_path / "o"), "opencode.db")
    }
    lamp, wire = sessions["A lamp"], sessions["The wire"]
    shown = [json.loads(record.text) for record in records.load_records(lamp, 1)]

    assert (lamp.message_count, wire.message_count) == (3, 1)
    assert wire.parent_id == lamp.pk
    assert [row["id"] for row in shown] == ["msg_2", "prt_1"]
    assert shown[1]["data"]["callID"] == "call-1"


def test_an_export_with_its_pictures_comes_in_again(take: Any) -> None:
    found = domain.Message(
        role=domain.Role.USER, parts=(Text("Look."), Image("image/png", data=b"PNG"))
    )
    [session] = take(
        b"".join(formats.write("atif_zip", [found], formats.Heading(title="A lamp"))),
        "a.zip",
    )

    assert (session.title, session.format) == ("A lamp", "atif")
    assert blobs.read(Blob.objects.get().sha256) == b"PNG"
    assert Message.objects.get().source_id is not None
