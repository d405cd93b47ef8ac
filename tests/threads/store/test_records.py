"""Each original points at what it was read from."""

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
from threads.imports.upload import keep_upload
from threads.models import Message, Session, Source
from threads.store import blobs, records

CHAT = {
    "a/b~c": [{"role": "user", "content": "Hello"}],
    "messages": [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hi"},
    ],
}


@pytest.fixture
def session(owner: User, project: Project) -> Session:
    stream = io.BytesIO(json.dumps(CHAT).encode())
    upload = keep_upload(stream, name="chat.json")
    imports.import_upload(caller_of_user(owner), project, upload)
    return Session.objects.get()


def point(session: Session, *locators: str, source: Source | None = None) -> None:
    """Let the first original point elsewhere."""
    rows = Message.objects.filter(session=session, index=0)
    rows.update(records=list(locators))
    if source is not None:
        rows.update(source=source)


def texts(session: Session) -> list[str]:
    return [record.text for record in records.load_records(session, 0)]


def test_an_original_is_found_in_its_source(session: Session) -> None:
    (record,) = records.load_records(session, 1)
    assert json.loads(record.text) == CHAT["messages"][1]


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("/a~1b~0c/0/role", "user"),
        ("/messages/7", None),
        ("/messages/x", None),
        ("/nothing/at/all", None),
        ("/messages/0/role/0", None),
        ("", CHAT),
    ],
)
def test_a_pointer_is_read_as_rfc_6901_says(
    session: Session, pointer: str, value: Any
) -> None:
    point(session, f"json:{pointer}")
    assert [json.loads(text) for text in texts(session)] == [value]


def test_a_stretch_of_bytes_is_shown_as_it_stands(session: Session) -> None:
    point(session, "bytes:1-8")
    assert texts(session) == [json.dumps(CHAT)[1:8]]


def test_a_long_record_is_shown_as_far_as_a_page_can(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "MAX_SHOWN", 10)
    point(session, "bytes:0-30")
    (text,) = texts(session)
    assert text.startswith(json.dumps(CHAT)[:10] + "\n")
    assert "30 bytes in all" in text


def test_a_great_document_is_not_parsed_for_one_value(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "MAX_PARSED_BYTES", 10)
    point(session, "json:/messages/0")
    assert "too large" in texts(session)[0]


def test_where_the_source_is_gone_there_is_no_record(session: Session) -> None:
    source = Source.objects.get()
    blobs.path_of(source.sha256).unlink()
    assert texts(session) == []
    source.delete()
    assert texts(session) == []
    assert records.load_records(session, 99) == []


def test_a_record_in_another_file_of_the_folder_is_found_by_its_name(
    session: Session,
) -> None:
    source = Source.objects.get()
    beside = Source.objects.get()
    beside.pk, beside.name, beside.sha256 = None, "a#b.json", blobs.store(b"elsewhere")
    beside.save()
    point(session, "a#b.json#bytes:0-4", "nowhere.json#bytes:0-4", source=source)
    assert texts(session) == ["else"]
    Source.objects.update(brought_by=None)
    assert texts(session) == []


@pytest.fixture
def database(session: Session, tmp_path: Path) -> Source:
    """A SQLite database as the source of a session's first message."""
    path = tmp_path / "file.db"
    with closing(sqlite3.connect(path)) as made:
        made.execute('CREATE TABLE "odd ""name" (id INTEGER PRIMARY KEY, data BLOB)')
        made.execute("""INSERT INTO "odd ""name" VALUES (7, 'words'), (8, x'00ff')""")
        made.execute("CREATE VIEW seen AS SELECT 1")
        made.commit()
    source = Source.objects.get()
    source.sha256 = blobs.store(path.read_bytes())
    source.save()
    return source


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        ('odd "name/7', '"data": "words"'),
        ('odd "name/8', "x00"),
        ('odd "name/9', "not in the database"),
        ('odd "name/x', "not in the database"),
        ('odd "name/99999999999999999999', "can't be read"),
        ("seen/1", "not in the database"),
    ],
)
def test_a_row_of_a_database_is_shown_as_json(
    session: Session, database: Source, place: str, shown: str
) -> None:
    point(session, f"row:{place}")
    assert shown in texts(session)[0]


def test_what_is_no_database_is_said_to_be_none(session: Session) -> None:
    point(session, "row:messages/1")
    assert "can't be read" in texts(session)[0]


def test_an_event_is_found_in_its_source(session: Session) -> None:
    source = Source.objects.get()
    assert records.load_record(source, "bytes:1-8") == records.SourceRecord(
        "bytes:1-8", json.dumps(CHAT)[1:8]
    )
    assert records.load_record(source, "gone.json#bytes:1-8") is None
